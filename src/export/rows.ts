const camel = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A row by its columns' names, in the style of the API: `createdAt`, times in UTC; bytes are texts. */
export const asRow = (row: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      camel(name),
      Buffer.isBuffer(value) ? value.toString() : value,
    ]),
  );
