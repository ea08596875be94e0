import { Command } from 'commander';
import { z } from 'zod';
import { MEASURES, type Measure, type TenantAmount } from '../../tenants.ts';
import { parseOptions } from '../options.ts';
import { type CommandResult, printResult } from '../print.ts';

const DEADLINE_MS = 5_000;
/** Processes of one command. */
const MAX_PROCESSES = 100;
/** Workspaces of each table. */
const LISTED = 20;

const argumentsSchema = z.object({
  urls: z
    .array(z.url({ protocol: /^https?$/, error: 'Expected the URL of a metrics port.' }))
    .max(MAX_PROCESSES),
});

const amountSchema = z.object({ workspaceId: z.string(), amount: z.number(), error: z.number() });
const topSchema = z.object({
  seconds: z.number(),
  by: z.record(z.enum(MEASURES), z.array(amountSchema).max(LISTED)),
});
type Top = z.infer<typeof topSchema>;

/** @throws Error that names the process */
async function readTop(url: string): Promise<Top> {
  try {
    const response = await fetch(new URL('/top', url), { signal: AbortSignal.timeout(DEADLINE_MS) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return topSchema.parse(await response.json());
  } catch (error) {
    throw new Error(`${url} does not show what it works for. Is it the metrics port of a server or worker?`, {
      cause: error,
    });
  }
}

/** The sums over processes, the largest first. */
function sumOf(tops: readonly Top[], measure: Measure): TenantAmount[] {
  const sums = new Map<string, TenantAmount>();
  for (const { workspaceId, amount, error } of tops.flatMap(({ by }) => by[measure])) {
    const sum = sums.get(workspaceId) ?? { workspaceId, amount: 0, error: 0 };
    sums.set(workspaceId, { workspaceId, amount: sum.amount + amount, error: sum.error + error });
  }
  return [...sums.values()].sort((one, other) => other.amount - one.amount).slice(0, LISTED);
}

/** `top`. It reads no database: what it shows is in the memory of the processes that it is given. */
export const topCommand = (): Command =>
  new Command('top')
    .description(
      'the workspaces that made the load of the last five minutes, summed over the processes given',
    )
    .argument('<url...>', 'metrics ports of servers and workers, such as http://127.0.0.1:9464')
    .action(async (given: readonly string[], _: unknown, command: Command) => {
      const { urls } = parseOptions(argumentsSchema, { urls: given });
      const tops = await Promise.all(urls.map(readTop));
      const result: CommandResult = {
        processes: urls.length,
        seconds: Math.max(...tops.map(({ seconds }) => seconds)),
        ...Object.fromEntries(MEASURES.map((measure) => [measure, sumOf(tops, measure)])),
      };
      printResult(result, command.optsWithGlobals().json === true);
    });
