const ENTRY = /^([\w-]{1,64})=([\x21-\x7e]{0,4096})$/;

/**
 * Reads headers as OpenTelemetry writes them in a variable: `name=value`, the value encoded as in URLs.
 * @throws {Error} for anything else, without quoting it: it may hold a key
 */
export function parseHeaderList(entries: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    entries.map((entry) => {
      const [, name, value] = ENTRY.exec(entry) ?? [];
      if (name === undefined || value === undefined) throw new Error(EXPECTED);
      return [name, decoded(value)];
    }),
  );
}

const EXPECTED = 'expected name=value,…, with values encoded as in URLs';

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new Error(EXPECTED);
  }
}
