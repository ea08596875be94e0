/** Columns of a terminal whose width is not known, such as a file. */
const USUAL_WIDTH = 160;

/** What a command answers: with `--json`, exactly this object. */
export type Answer = Readonly<Record<string, unknown>>;

const isList = (value: unknown): value is Answer[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null);

function show(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return value === null ? 'none' : String(value);
}

/** Name and value of each field that is no list of objects, nested ones by their path: `roles.owner`. */
function* fields(answer: object, path: readonly string[] = []): Generator<[name: string, value: string]> {
  for (const [name, value] of Object.entries(answer)) {
    if (isList(value)) continue;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      yield* fields(value, [...path, name]);
    } else yield [[...path, name].join('.'), show(value)];
  }
}

/** The rows as lines whose columns stand below each other. */
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
function listed(name: string, items: readonly Answer[], width: number): string[] {
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

/** A command's answer for people: names and values, then its lists, as tables where `width` columns hold them. */
export function describeAnswer(answer: Answer, width: number): string {
  const lists = Object.entries(answer).flatMap(([name, value]) =>
    isList(value) ? listed(name, value, width) : [],
  );
  return [...align([...fields(answer)]), ...lists].join('\n').trimStart();
}

/** Prints a command's answer to stdout: one line of JSON, or text to read. */
export function printAnswer(answer: Answer, json: boolean): void {
  const { columns = USUAL_WIDTH } = process.stdout;
  process.stdout.write(`${json ? JSON.stringify(answer) : describeAnswer(answer, columns)}\n`);
}
