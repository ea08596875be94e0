import { invalid } from '../errors.ts';

/** Far above what the contract's deepest shape needs, far below what recursion over it could not bear. */
const MAX_DEPTH = 64;

/** Postgres stores no NUL, and a lone surrogate has no UTF-8 form. */
export const hasUnsafeCharacters = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

const child = (pointer: string, key: string): string =>
  `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/**
 * Refuses what JSON can say but the service cannot keep: NUL characters and lone surrogates in strings
 * and names, numbers that overflow a double, nesting without end. Properties named `__proto__` are
 * removed, so that no later copy of the value can reach a prototype.
 * @throws {ServiceError} INVALID_REQUEST naming the field
 */
export function assertSafeJson(root: unknown): void {
  const pending: { value: unknown; pointer: string; depth: number }[] = [
    { value: root, pointer: '', depth: 0 },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, pointer, depth } = next;
    if (typeof value === 'string') {
      if (hasUnsafeCharacters(value)) {
        throw invalid(pointer, 'NUL characters and lone surrogates are not allowed.');
      }
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw invalid(pointer, 'The number is out of range.');
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= MAX_DEPTH) throw invalid('', `The body is nested deeper than ${MAX_DEPTH} levels.`);
      const holder = value as Record<string, unknown>;
      Reflect.deleteProperty(holder, '__proto__');
      for (const [key, inner] of Object.entries(holder)) {
        if (hasUnsafeCharacters(key)) {
          throw invalid(pointer, 'NUL characters and lone surrogates are not allowed in names.');
        }
        pending.push({ value: inner, pointer: child(pointer, key), depth: depth + 1 });
      }
    }
  }
}
