import path from 'node:path';

/** The path of a file as it was typed: npm runs commands in the project's folder. */
export const fileFrom = (file: string): string =>
  path.resolve((process.env.npm_lifecycle_event === 'admin' ? process.env.INIT_CWD : undefined) ?? '.', file);
