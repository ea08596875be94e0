/** What a command answers: with `--json`, exactly this object. */
export type Answer = Readonly<Record<string, unknown>>;

/** Name and value of each field, nested ones by their path: `roles.owner`. */
function* fields(answer: object, path: readonly string[] = []): Generator<[name: string, value: string]> {
  for (const [name, value] of Object.entries(answer)) {
    if (typeof value === 'object' && value !== null) yield* fields(value, [...path, name]);
    else yield [[...path, name].join('.'), String(value)];
  }
}

/** Prints a command's answer to stdout: one line of JSON, or a table of names and values to read. */
export function printAnswer(answer: Answer, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(answer)}\n`);
    return;
  }
  const lines = [...fields(answer)];
  const width = Math.max(...lines.map(([name]) => name.length));
  for (const [name, value] of lines) process.stdout.write(`${name.padEnd(width)}  ${value}\n`);
}
