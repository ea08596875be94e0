import { expect, test } from 'vitest';
import { nameKey } from '../../src/name-key.ts';

test('every character has the key of its lower and its upper case, and a key is its own key', () => {
  const wrong: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    const key = nameKey(character);
    // ı is a letter of its own, though its upper case is the I of i.
    const cases = character === 'ı' ? [] : [character.toLowerCase(), character.toUpperCase()];
    const others = [key, ...cases].filter((form) => form !== character);
    if (others.some((form) => nameKey(form) !== key)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test.each([
  ['GROẞ', 'groß', 'GROSS', 'gross'],
  ['ΟΔΥΣΣΕΥΣ Α', 'οδυσσευς α', 'οδυσσευσ α'],
  ['İzmir', 'i̇zmir'],
  ['ﬁn', 'FIN', 'fin'],
])('%s and its other spellings are one name', (first, ...others) => {
  for (const other of others) expect(nameKey(other)).toBe(nameKey(first));
});

test('kıl and kil are two names', () => {
  expect(nameKey('kıl')).not.toBe(nameKey('kil'));
  expect(nameKey('Kıl')).toBe(nameKey('kıl'));
  expect(nameKey('KIL')).toBe(nameKey('kil'));
});
