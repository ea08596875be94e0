/** Preloaded into a process: writes a line for each module that it loads of OpenTelemetry, `ai` or `sharp`. */
import { registerHooks } from 'node:module';

const NOTED = /@opentelemetry\/(?<telemetry>[\w-]+)|node_modules\/(?<model>ai|sharp)\//;

registerHooks({
  load(url, context, nextLoad) {
    const { telemetry, model } = NOTED.exec(url)?.groups ?? {};
    const name = telemetry ?? model;
    if (name !== undefined) process.stderr.write(`loaded ${name}\n`);
    return nextLoad(url, context);
  },
});
