/** Preloaded into a process: writes a line for each module that it loads of OpenTelemetry, `ai` or `sharp`. */
import { registerHooks } from 'node:module';

const NOTED = /(?<=@opentelemetry\/)[\w-]+|(?<=node_modules\/)(?:ai|sharp)(?=\/)/;

registerHooks({
  load(url, context, nextLoad) {
    const [name] = NOTED.exec(url) ?? [];
    if (name !== undefined) process.stderr.write(`loaded ${name}\n`);
    return nextLoad(url, context);
  },
});
