/** Preloaded into a process: writes a line for each module of OpenTelemetry that it loads. */
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, nextLoad) {
    const [, name] = /@opentelemetry\/([\w-]+)/.exec(url) ?? [];
    if (name !== undefined) process.stderr.write(`loaded ${name}\n`);
    return nextLoad(url, context);
  },
});
