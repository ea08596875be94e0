import type { Database } from '../db/database.ts';
import type { WorkspaceId } from '../ids.ts';
import { ProviderError } from '../providers/types.ts';
import { tenants } from '../tenants.ts';
import { beginCall, type EndedCall, endCall, type NewCall, outcomeOf } from './calls.ts';
import type { ArticleWriter } from './writing/writer.ts';

export interface CountingOptions extends Pick<NewCall, 'jobId' | 'part'> {
  readonly workspaceId: WorkspaceId;
  readonly db: Database;
  /** Retries database work while the database is away. */
  readonly persist: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly onCall?: ((call: EndedCall) => void) | undefined;
}

const NO_USAGE = { input: null, output: null };

/** Wraps a writer, so that each of its calls for a part is a row before it is made (contract.md G78). */
export function countCalls(
  writer: ArticleWriter,
  { db, jobId, workspaceId, part, persist, onCall }: CountingOptions,
): ArticleWriter {
  const { model } = writer;
  return {
    ...writer,
    async ask(question) {
      const repairs = question.rejected?.defects.map(({ problem }) => problem) ?? [];
      const id = await persist(() => beginCall(db, { jobId, part, model, repairs }));
      // The next attempt finds out why.
      if (id === null) throw new ProviderError('retryable', 'This part needs no further call.');
      const end = async (call: Omit<EndedCall, 'model'>) => {
        await persist(() => endCall(db, id, call));
        onCall?.({ model, ...call });
        const { input, output } = call.usage ?? NO_USAGE;
        tenants.count(workspaceId, 'tokens', (input ?? 0) + (output ?? 0));
      };
      const response = await writer.ask(question).catch(async (error: unknown) => {
        const outcome = outcomeOf(error);
        if (outcome !== null) await end({ outcome, usage: undefined });
        throw error;
      });
      await end({ outcome: 'answered', usage: response.usage });
      return response;
    },
  };
}
