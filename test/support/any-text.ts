import fc from 'fast-check';

const SURROGATES = { first: 0xd8_00, count: 0x8_00 };

/** Any characters but halves of pairs. `fc.string` of `binary` lists all of Unicode first, which takes seconds. */
export const anyText = (constraints: fc.ArrayConstraints = {}): fc.Arbitrary<string> =>
  fc
    .array(fc.integer({ min: 0, max: 0x10_ff_ff - SURROGATES.count }), constraints)
    .map((codes) =>
      String.fromCodePoint(
        ...codes.map((code) => (code < SURROGATES.first ? code : code + SURROGATES.count)),
      ),
    );
