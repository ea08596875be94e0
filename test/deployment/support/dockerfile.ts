/** One instruction of a Dockerfile: its name in capitals, its `--flag=value`s and the rest, on one line. */
export interface Instruction {
  readonly name: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly rest: string;
}

export interface Stage {
  /** The image it starts from, such as node:24.21.0-bookworm-slim. */
  readonly from: string;
  /** Null for a stage without a name. */
  readonly name: string | null;
  readonly instructions: readonly Instruction[];
}

/** Lines that end in a backslash continue; comment lines are no part of an instruction, even inside one. */
function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let open = '';
  for (const line of text.split('\n').filter((each) => !/^\s*#/.test(each))) {
    const continues = line.endsWith('\\');
    open += continues ? `${line.slice(0, -1)} ` : line;
    if (continues) continue;
    if (open.trim() !== '') lines.push(open.trim());
    open = '';
  }
  return lines;
}

function parseInstruction(line: string): Instruction {
  const [, name = '', tail = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
  const flags: Record<string, string> = {};
  let rest = tail;
  for (;;) {
    const found = /^--([\w-]+)=(\S+)\s+/.exec(rest);
    if (found === null) break;
    flags[found[1] ?? ''] = found[2] ?? '';
    rest = rest.slice(found[0].length);
  }
  return { name: name.toUpperCase(), flags, rest };
}

/** Reads a Dockerfile into its stages, the last of which is the image. */
export function parseDockerfile(text: string): Stage[] {
  const stages: { from: string; name: string | null; instructions: Instruction[] }[] = [];
  for (const instruction of logicalLines(text).map(parseInstruction)) {
    const [, from, name = null] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(instruction.rest) ?? [];
    if (instruction.name === 'FROM' && from !== undefined) stages.push({ from, name, instructions: [] });
    else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

/** The arguments of an instruction's exec form, such as `["node", "server.ts"]`; throws for the shell form. */
export function execForm(text: string): string[] {
  const words: unknown = JSON.parse(text);
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string')) {
    throw new Error(`not in exec form: ${text}`);
  }
  return words;
}

/** `A=1 B="two words"` as pairs. */
export const assignments = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S*))/g)].map(([, name = '', quoted, plain]) => [
      name,
      quoted ?? plain ?? '',
    ]),
  );

/**
 * The top-level entries and paths that a .dockerignore of the form "nothing but these" lets into the build.
 * @throws when it has any other form
 */
export function allowedPaths(text: string): string[] {
  const [first, ...rest] = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const odd = rest.filter((line) => !/^![\w./-]+$/.test(line));
  if (first !== '*' || odd.length > 0) throw new Error(`.dockerignore lets more in than it lists: ${odd}`);
  return rest.map((line) => line.slice(1));
}
