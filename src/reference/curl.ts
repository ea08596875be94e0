import type { Call, Parameter } from './document.ts';

/** The shell variable that stands for a path parameter: `workspaceId` → `WORKSPACE_ID`. */
export const shellVariable = (parameter: string): string =>
  parameter.replaceAll(/([A-Z])/g, '_$1').toUpperCase();

/** Any text as one word of a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function exampleOf({ name, schema }: Parameter): string {
  const [example] = Array.isArray(schema.examples) ? schema.examples : [];
  const [choice] = Array.isArray(schema.enum) ? schema.enum : [];
  return String(example ?? choice ?? name);
}

/**
 * A call as a shell command, with variables for API, KEY and each id of the path. Optional parameters are omitted, the
 * body is the documented example.
 */
export function curlCommand({ method, path, operation }: Call): string {
  const { parameters = [], requestBody } = operation;
  const query = parameters
    .filter(({ in: place, required }) => place === 'query' && required === true)
    .map((parameter) => `${parameter.name}=${encodeURIComponent(exampleOf(parameter))}`)
    .join('&');
  const target = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => `$${shellVariable(name)}`);
  const verb = method === 'GET' ? '' : `-X ${method} `;
  const lines = [
    `curl ${verb}"$API${target}${query === '' ? '' : `?${query}`}"`,
    '-H "Authorization: Bearer $KEY"',
  ];
  for (const parameter of parameters) {
    if (parameter.in !== 'header' || parameter.required !== true) continue;
    lines.push(`-H ${quote(`${parameter.name}: ${exampleOf(parameter)}`)}`);
  }
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (type !== undefined) {
    lines.push(`-H ${quote(`Content-Type: ${type}`)}`);
    if (media?.example === undefined)
      lines.push(`--data-binary @image.${type.replace(/^image\/|\+.*$/g, '')}`);
    else lines.push(`-d ${quote(JSON.stringify(media.example, null, 2))}`);
  }
  return lines.join(' \\\n  ');
}
