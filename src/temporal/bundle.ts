import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

const quiet = () => undefined;
const logger = {
  log: quiet,
  trace: quiet,
  debug: quiet,
  info: quiet,
  warn: (message: string) => process.stderr.write(`${message}\n`),
  error: (message: string) => process.stderr.write(`${message}\n`),
};

const pathOf = (file: string): string => fileURLToPath(new URL(`../../workflows/${file}`, import.meta.url));

/** All workflows as one script; 1 to 3 seconds of work, so production workers get the finished file. */
export const bundleWorkflows = (): Promise<WorkflowBundleWithSourceMap> =>
  bundleWorkflowCode({
    workflowsPath: pathOf('index.ts'),
    workflowInterceptorModules: [pathOf('trace-headers.ts')],
    // The source map, without the sources: with them it is twice the code, and each worker and thread reads both.
    webpackConfigHook: (config) => ({ ...config, devtool: 'inline-nosources-source-map' }),
    logger,
  });
