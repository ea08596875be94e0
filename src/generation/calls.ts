/** The calls of writers: rows that bound what a part costs and show what it did cost. */
import { type Selectable, sql } from 'kysely';
import type { Database, Queryable } from '../db/database.ts';
import type { PartKind, Tables } from '../db/tables.ts';
import type { JobId, WorkspaceId } from '../ids.ts';
import { lockOpenJob } from '../jobs/run-state.ts';
import type { TokenUsage } from '../providers/chat-model.ts';
import { ProviderError } from '../providers/types.ts';
import { MAX_ANSWERED, MAX_UNANSWERED } from './call-limits.ts';

/**
 * `answered`: with a response, also one that declines; `unanswered`: the request was written and no whole response came;
 * `rejected`: neither, the model did not take it.
 */
export type CallOutcome = 'answered' | 'unanswered' | 'rejected';

/** A call about to be made. */
export interface NewCall {
  readonly jobId: JobId;
  readonly part: number;
  readonly model: string;
  /** What it asks to correct, for the job's report. */
  readonly repairs: readonly string[];
}

/** A call that has ended. */
export interface EndedCall {
  readonly model: string;
  readonly outcome: CallOutcome;
  readonly usage: TokenUsage | undefined;
}

/**
 * Stores a call before it is made (contract.md G78). Until it ends it counts as unanswered, and the part as requested: if the
 * job ends unpaid from now on, it counts.
 * @returns its id; null when the job has ended, the part is written, or may have no further call
 */
export async function beginCall(
  db: Database,
  { jobId, part, model, repairs }: NewCall,
): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    WITH job AS (${lockOpenJob(jobId)}), requested AS (
      UPDATE generation_parts
      SET asked = true, unanswered = unanswered + 1, repairs = repairs || ${[...repairs]}::text[]
      FROM job WHERE generation_parts.job_id = job.id AND part = ${part} AND content IS NULL
        AND calls < ${MAX_ANSWERED} AND unanswered < ${MAX_UNANSWERED}
      RETURNING generation_parts.job_id, part
    )
    INSERT INTO generation_calls (workspace_id, job_id, part, model)
    SELECT workspace_id, job_id, part, ${model} FROM requested JOIN generations USING (job_id)
    RETURNING id`.execute(db);
  return rows[0]?.id ?? null;
}

/** Notes how a call ended, once. A part that is not written is not being requested any more. */
export async function endCall(
  db: Database,
  id: string,
  { outcome, usage }: Pick<EndedCall, 'outcome' | 'usage'>,
): Promise<void> {
  await sql`
    WITH ended AS (
      UPDATE generation_calls SET outcome = ${outcome}, ended_at = clock_timestamp(),
        input_tokens = ${usage?.input ?? null}, cached_tokens = ${usage?.cached ?? null},
        output_tokens = ${usage?.output ?? null}, reasoning_tokens = ${usage?.reasoning ?? null}
      WHERE id = ${id} AND outcome IS NULL
      RETURNING job_id, part
    )
    UPDATE generation_parts AS written SET asked = asked AND content IS NOT NULL,
      calls = calls + ${outcome === 'answered' ? 1 : 0}, unanswered = unanswered - ${outcome === 'unanswered' ? 0 : 1}
    FROM ended WHERE written.job_id = ended.job_id AND written.part = ended.part`.execute(db);
}

/** How a call ended that failed; null when this process gave it up, so that nobody knows. */
export function outcomeOf(error: unknown): CallOutcome | null {
  if (!(error instanceof ProviderError)) return null;
  if (error.kind === 'refused') return 'answered';
  return error.unanswered ? 'unanswered' : 'rejected';
}

/** A call as the report shows it, for a part or an image. */
export type CallRow = Omit<
  Selectable<Tables['generation_calls']>,
  'id' | 'workspace_id' | 'job_id' | 'outcome'
> & {
  readonly kind: PartKind | 'image';
  readonly outcome: Exclude<CallOutcome, 'rejected'> | null;
};

/** A job's calls in their order, without those that the model did not take. */
export async function readCalls(db: Queryable, jobId: JobId): Promise<CallRow[]> {
  const rows = await db
    .selectFrom('generation_calls as call')
    .leftJoin('generation_parts as part', (join) =>
      join.onRef('part.job_id', '=', 'call.job_id').onRef('part.part', '=', 'call.part'),
    )
    .select(['call.part', 'image', 'kind', 'model', 'outcome', 'created_at', 'ended_at'])
    .select(['input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens'])
    .where('call.job_id', '=', jobId)
    .orderBy('call.id')
    .execute();
  return rows.flatMap(({ outcome, kind, ...row }) =>
    outcome === 'rejected' ? [] : [{ ...row, outcome, kind: kind ?? 'image' }],
  );
}

/** What the calls of a workspace used, by model. */
export interface ModelUsage {
  readonly workspaceId: WorkspaceId;
  readonly workspace: string;
  readonly model: string;
  readonly answered: number;
  readonly unanswered: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/**
 * The usage of workspaces since a time, by model, most tokens first (contract.md G80). Calls that are not answered yet count
 * as unanswered.
 * @param workspaceId null for all
 */
export async function readUsage(
  db: Queryable,
  { since, workspaceId, limit }: { since: Date; workspaceId: WorkspaceId | null; limit: number },
): Promise<ModelUsage[]> {
  const { rows } = await sql<ModelUsage>`
    SELECT workspaces.id AS "workspaceId", workspaces.name AS workspace, model,
      count(*) FILTER (WHERE outcome = 'answered')::double precision AS answered,
      count(*) FILTER (WHERE outcome IS DISTINCT FROM 'answered')::double precision AS unanswered,
      coalesce(sum(input_tokens), 0)::double precision AS "inputTokens",
      coalesce(sum(cached_tokens), 0)::double precision AS "cachedTokens",
      coalesce(sum(output_tokens), 0)::double precision AS "outputTokens",
      coalesce(sum(reasoning_tokens), 0)::double precision AS "reasoningTokens"
    FROM generation_calls AS call JOIN workspaces ON workspaces.id = call.workspace_id
    WHERE call.created_at >= ${since} AND outcome IS DISTINCT FROM 'rejected'
      AND (${workspaceId}::uuid IS NULL OR call.workspace_id = ${workspaceId}::uuid)
    GROUP BY workspaces.id, model
    ORDER BY coalesce(sum(input_tokens), 0) + coalesce(sum(output_tokens), 0) DESC, workspaces.id, model
    LIMIT ${limit}`.execute(db);
  return rows;
}
