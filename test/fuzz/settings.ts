import type { Seed } from './seed.ts';

/** JSON strings are TOML's basic strings. */
const text = (value: string): string => JSON.stringify(value);

/**
 * schemathesis.toml: the key, the number of cases, and for each path parameter real ids, taken nine times
 * of ten; the tenth is made up like everything else.
 */
export const schemathesisSettings = ({
  seed,
  hooks,
  examples,
}: {
  seed: Seed;
  hooks: string;
  examples: number;
}): string => `
hooks = ${text(hooks)}
request-timeout = 30.0

[generation]
max-examples = ${examples}
database = "none"

[auth.openapi.apiKey]
bearer = ${text(seed.key)}

[output.truncation]
max-lines = 60

${Object.entries(seed.ids)
  .map(([name, ids]) => `[dictionaries.${name}]\nvalues = [${ids.map(text).join(', ')}]\n`)
  .join('\n')}
[parameters]
${Object.keys(seed.ids)
  .map((name) => `${text(`path.${name}`)} = { dictionary = ${text(name)}, probability = 0.9 }`)
  .join('\n')}
`;
