import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '../support/processes.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of src/cli as a process of its own, with nothing of this process's settings. */
export function runCli(
  script: 'admin' | 'migrate',
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const file = fileURLToPath(new URL(`../../src/cli/${script}.ts`, import.meta.url));
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [file, ...args],
      { env: { ...bareEnvironment(), ...environment } },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, stdout, stderr });
      },
    );
  });
}
