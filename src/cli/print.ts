/** Columns assumed where the terminal's width is unknown, such as in a file. */
const USUAL_WIDTH = 160;

/** A command's result: with `--json`, exactly this object. */
export type CommandResult = Readonly<Record<string, unknown>>;

const isList = (value: unknown): value is CommandResult[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null);

/** Tenants write labels and names: in a terminal, control characters could pass for anything. */
const harmless = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function show(value: unknown): string {
  if (value === null) return 'none';
  if (Array.isArray(value)) return harmless(value.join(', '));
  return harmless(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** Name and value of each field that is not a list of objects, nested ones by their path: `roles.owner`. */
function* fields(result: object, path: readonly string[] = []): Generator<[name: string, value: string]> {
  for (const [name, value] of Object.entries(result)) {
    if (isList(value)) continue;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      yield* fields(value, [...path, name]);
    } else yield [[...path, name].join('.'), show(value)];
  }
}

/** The rows as lines with aligned columns. */
function align(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths?.[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** A list of objects as a table or, where that is too wide, one after the other. */
function listed(name: string, items: readonly CommandResult[], width: number): string[] {
  const [first] = items;
  if (first === undefined) return ['', `${name}: none`];
  const columns = Object.keys(first);
  const table = align([columns, ...items.map((item) => columns.map((column) => show(item[column])))]);
  if (table.every((line) => line.length <= width)) return ['', `${name}:`, ...table];
  return items.flatMap((item, index) => [
    '',
    `${name}, ${index + 1} of ${items.length}:`,
    ...align([...fields(item)]),
  ]);
}

/** A command's result for people: names and values, then its lists, as tables where they fit into `width` columns. */
export function describeResult(result: CommandResult, width: number): string {
  const lists = Object.entries(result).flatMap(([name, value]) =>
    isList(value) ? listed(name, value, width) : [],
  );
  return [...align([...fields(result)]), ...lists].join('\n').trimStart();
}

/** Prints a command's result to stdout: one line of JSON, or text to read. */
export function printResult(result: CommandResult, json: boolean): void {
  const { columns = USUAL_WIDTH } = process.stdout;
  process.stdout.write(`${json ? JSON.stringify(result) : describeResult(result, columns)}\n`);
}
