/** Run as a process of its own: looks the Temporal CLI up by the options given as JSON, telling what it tells. */
import { z } from 'zod';
import { findTemporalCli } from '../../src/local/temporal-cli.ts';

const optionsSchema = z.object({
  env: z.record(z.string(), z.string()),
  release: z.object({
    version: z.string(),
    server: z.string(),
    downloads: z.string(),
    executables: z.record(z.string(), z.object({ sha256: z.string(), wheelPlatform: z.string() })),
  }),
});

const options = optionsSchema.parse(JSON.parse(process.argv[2] ?? ''));
await findTemporalCli({ ...options, onProgress: (message) => console.log(message) });
