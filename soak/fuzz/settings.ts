import type { Seed } from './seed.ts';

/** JSON strings are TOML's basic strings. */
const text = (value: string): string => JSON.stringify(value);

/** Statuses that are fine for a request that fits its schema. */
const ACCEPTED = ['2xx', '401', '403', '404', '409', '429'];

/** Further statuses where the service validates more than the schema says. */
const REFUSALS = ['400', '402', '412'];

const accepting = (...more: string[]): string =>
  `positive_data_acceptance = { expected-statuses = [${[...ACCEPTED, ...more].map(text).join(', ')}] }`;

/**
 * schemathesis.toml: the key, the number of cases, and for each path parameter real ids, taken nine times
 * of ten; the tenth is made up like everything else. NUL characters, which are refused anywhere in a body
 * without its schema saying so, are tried in the fuzzing phase alone.
 */
export const schemathesisSettings = ({
  seed,
  hooks,
  examples,
  judged,
}: {
  seed: Seed;
  /** Ids of the operations that judge more than their schema says. */
  judged: readonly string[];
  hooks: string;
  examples: number;
}): string => `
hooks = ${text(hooks)}
request-timeout = 75.0

[generation]
max-examples = ${examples}
database = "none"
allow-x00 = false

[checks]
# What a suggestion may take: 60 s for a model, and some for the rest.
max_response_time = 65.0
${accepting()}

[phases.fuzzing]
generation = { allow-x00 = true, max-examples = ${examples} }
checks = { ${accepting(...REFUSALS)} }

${judged
  .map((id) => `[[operations]]\ninclude-operation-id = ${text(id)}\nchecks = { ${accepting(...REFUSALS)} }\n`)
  .join('\n')}
[auth.openapi.apiKey]
bearer = ${text(seed.key)}

[output.truncation]
max-lines = 60

${Object.entries(seed.values)
  .map(([, values], index) => `[dictionaries.d${index}]\nvalues = [${values.map(text).join(', ')}]\n`)
  .join('\n')}
[parameters]
${Object.keys(seed.values)
  .map((name, index) => `${text(name)} = { dictionary = "d${index}", probability = 0.9 }`)
  .join('\n')}
`;
