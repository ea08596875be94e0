import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ScriptService, ScriptWorkspace } from './service.ts';

/** A client that pulls a workspace's events as they come, whatever is down meanwhile. */
export interface Puller {
  readonly pulled: () => number;
  /** Reads the log to its end, then returns broken promises: events that are missing, doubled or out of order. */
  finish(): Promise<string[]>;
}

interface Page {
  readonly events: readonly { readonly id: string; readonly articleId: string | null }[];
  readonly cursor: string;
  readonly more: boolean;
}

/** Pulls from the beginning of the log, waiting at its end; keeps the cursor of the last response that it has got. */
export function startPuller(
  { db }: Pick<ScriptService, 'db'>,
  { id, key }: Pick<ScriptWorkspace, 'id' | 'key'>,
  serverUrl: string,
): Puller {
  const seen: { readonly id: string; readonly articleId: string | null }[] = [];
  const problems: string[] = [];
  let after: string | undefined;
  let stopped = false;

  async function pull(wait: number): Promise<Page> {
    const query = new URLSearchParams({ limit: '500', wait: String(wait), ...(after && { after }) });
    const response = await fetch(new URL(`/api/workspaces/${id}/events?${query}`, serverUrl), {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(10_000),
    });
    if (response.status === 410) problems.push(`a cursor was lost: ${await response.text()}`);
    if (response.status !== 200) throw new Error(`status ${response.status}`);
    const page = (await response.json()) as Page;
    seen.push(...page.events);
    after = page.cursor;
    return page;
  }

  const running = (async () => {
    while (!stopped) {
      await pull(2).catch(() => sleep(200));
    }
  })();

  return {
    pulled: () => seen.length,
    async finish() {
      stopped = true;
      await running;
      const { rows } = await sql<{ id: string; article_id: string | null; created_at: Date }>`
        SELECT id, article_id, created_at FROM events WHERE workspace_id = ${id}`.execute(db);
      const deadline = performance.now() + 60_000;
      while (seen.length < rows.length && performance.now() < deadline) await pull(1).catch(() => sleep(200));
      const stored = new Map(rows.map((row) => [row.id, row]));
      const ids = new Set(seen.map((event) => event.id));
      const missing = rows.filter((row) => !ids.has(row.id));
      if (missing.length > 0) problems.push(`${missing.length} of ${rows.length} events were never pulled`);
      if (seen.length > ids.size) problems.push(`${seen.length - ids.size} events were pulled twice`);
      const latest = new Map<string, Date>();
      let late = 0;
      for (const { id: eventId, articleId } of seen) {
        const at = stored.get(eventId)?.created_at;
        if (articleId === null || at === undefined) continue;
        const before = latest.get(articleId);
        if (before !== undefined && before > at) late += 1;
        latest.set(articleId, at);
      }
      if (late > 0) problems.push(`${late} events came after later ones of their article`);
      return problems;
    },
  };
}
