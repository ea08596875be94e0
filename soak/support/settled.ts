import type { Database } from '../../src/db/database.ts';
import type { WorkspaceId } from '../../src/ids.ts';

/** What is off with the translations of a load, and with the credits they cost, once nothing is open; empty when all is well. */
export async function findUnsettled(
  db: Database,
  workspaceId: WorkspaceId,
  { accepted }: { readonly accepted: ReadonlySet<string> },
): Promise<string[]> {
  const problems: string[] = [];
  const jobs = await db
    .selectFrom('jobs')
    .select(['id', 'article_id', 'status', 'consumed_credits', 'error_message'])
    .where('workspace_id', '=', workspaceId)
    .execute();
  const jobsOf = Map.groupBy(jobs, ({ article_id }) => String(article_id));
  for (const id of accepted) {
    const ofArticle = jobsOf.get(id) ?? [];
    if (ofArticle.length !== 1) problems.push(`accepted translation ${id}: ${ofArticle.length} jobs`);
  }
  for (const { id, status, error_message } of jobs) {
    if (status !== 'COMPLETED') problems.push(`job ${id}: ${status}, ${error_message}`);
  }
  const entries = await db
    .selectFrom('ledger_entries')
    .leftJoin('holds', 'holds.id', 'ledger_entries.hold_id')
    .select(['ledger_entries.amount', 'holds.run_id'])
    .where('ledger_entries.workspace_id', '=', workspaceId)
    .execute();
  const charges = Map.groupBy(entries, ({ run_id }) => run_id);
  for (const { id, consumed_credits: consumed } of jobs) {
    const charged = (charges.get(id) ?? []).map(({ amount }) => -amount);
    if (charged.length !== 1 || charged[0] !== consumed) {
      problems.push(`job ${id} consumed ${consumed} and was charged ${charged.join(' and ') || 'nothing'}`);
    }
  }
  const { balance, reserved } = await db
    .selectFrom('wallets')
    .select(['balance', 'reserved'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  const sum = entries.reduce((total, { amount }) => total + amount, 0);
  if (balance !== sum) problems.push(`the balance is ${balance}, its entries make ${sum}`);
  if (reserved !== 0) problems.push(`${reserved} credits are still held`);
  return problems;
}
