/**
 * Compares the addresses that listed articles show with those last reported. If one changed, the article gets a new
 * updatedAt, and emits article.updated if PUBLISHED. Readers see a new address earlier: it is read with the article
 * (contract.md R3).
 */
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { clockTimestamp } from '../../db/clock.ts';
import type { Database, Tx } from '../../db/database.ts';
import { textStatement } from '../../db/prepared.ts';
import { inTransaction } from '../../db/transaction.ts';
import { parsePlaces } from '../../document/render/places.ts';
import { shownLinks } from '../../document/render/splice.ts';
import { recordEvents } from '../../events/record.ts';
import type { ArticleId, WorkspaceId } from '../../ids.ts';
import { keepDoing, pause } from '../../pause.ts';
import { updatedEvents } from '../events.ts';
import { summaryColumns } from '../queries.ts';
import { listLinkingArticles } from './list.ts';
import { JOIN_LINK_TARGET } from './target-sql.ts';

/** Interval between checks for new notes. */
const POLL_MS = 1_000;
/** Articles per transaction, at most. */
const BATCH = 100;
/** Links per transaction, unless one article has more: an editor waits for no more than that. */
const MAX_LINKS = 2_000;
/** Pause after work, as a share of its time. */
const REST = 1 / 3;

interface Locked {
  readonly id: ArticleId;
  readonly request_id: string | null;
  readonly links: number;
}

/**
 * Parameters: the workspace, the limit. Skips articles that are being edited: they stay on the list.
 */
const lockListed = textStatement<Locked>(
  'lock_articles_to_check',
  `SELECT article.id, checks.request_id,
     (SELECT count(*) FROM article_links WHERE article_id = article.id)::integer AS links
   FROM link_checks AS checks JOIN articles AS article ON article.id = checks.article_id
   WHERE checks.workspace_id = $1
   ORDER BY checks.article_id LIMIT $2
   FOR NO KEY UPDATE OF article SKIP LOCKED`,
);

interface Compared {
  readonly id: ArticleId;
  readonly places: string | null;
  readonly links: readonly {
    readonly target: ArticleId;
    /** The article and address last reported. */
    readonly before: Led;
    readonly now: Led;
  }[];
}
/** The article that a link leads to, and its address; nulls where it leads nowhere. */
type Led = readonly [ArticleId, string] | readonly [null, null];

/** Parameter: articles. Returns those with a changed link address. */
const compareLinks = textStatement<Compared>(
  'compare_article_links',
  `SELECT article.id, article.content_places::text AS places,
     json_agg(json_build_object(
       'target', link.target_id,
       'before', json_build_array(link.leads_to, link.address),
       'now', json_build_array(now.id, now.address))) AS links
   FROM articles AS article
   JOIN article_links AS link ON link.article_id = article.id
   LEFT JOIN LATERAL (SELECT led.* FROM (SELECT link.target_id) AS link ${JOIN_LINK_TARGET}) AS now ON true
   WHERE article.id = ANY ($1::uuid[])
   GROUP BY article.id
   HAVING bool_or((link.leads_to, link.address) IS DISTINCT FROM (now.id, now.address))`,
);

/** True when the body shows another address than was reported. A link that overlaps an earlier one is not shown. */
function isShownElsewhere({ places, links }: Compared): boolean {
  if (places === null) return false;
  const parsed = parsePlaces(places);
  const [before, now] = (['before', 'now'] as const).map((side) => {
    const led = new Map<string, Led>(links.map((link) => [link.target, link[side]]));
    return shownLinks(parsed, (target) => {
      const [id, url] = led.get(target) ?? [null, null];
      return id === null ? null : { id, url };
    });
  });
  return !isDeepStrictEqual(before, now);
}

/** Stores the addresses that a check has seen. */
async function keepAddresses(tx: Tx, { id, links }: Compared): Promise<void> {
  await sql`
    UPDATE article_links SET leads_to = seen.leads_to, address = seen.address
    FROM unnest(
      ${links.map(({ target }) => target)}::uuid[],
      ${links.map(({ now }) => now[0])}::uuid[],
      ${links.map(({ now }) => now[1])}::text[]
    ) AS seen (target_id, leads_to, address)
    WHERE article_id = ${id} AND article_links.target_id = seen.target_id`.execute(tx);
}

async function checkLocked(tx: Tx, workspaceId: WorkspaceId, locked: readonly Locked[]): Promise<void> {
  const requests = new Map(locked.map(({ id, request_id }) => [id, request_id ?? '']));
  const compared = await compareLinks(tx, [...requests.keys()]);
  const changed = compared.filter(isShownElsewhere).map(({ id }) => id);
  for (const each of compared) await keepAddresses(tx, each);
  if (changed.length === 0) return;
  // The version stays, so that a save based on an earlier read is accepted (contract.md R5).
  const rows = await tx
    .updateTable('articles')
    .set({ updated_at: clockTimestamp })
    .where('id', 'in', changed)
    .returning(summaryColumns)
    .execute();
  for (const [requestId, some] of Map.groupBy(rows, ({ id }) => requests.get(id) ?? '')) {
    const events = some.flatMap((row) => updatedEvents(row, ['content']));
    await recordEvents(tx, { actor: { workspaceId }, requestId }, events);
  }
}

/** As many of the articles as have {@link MAX_LINKS} links together, one at least. */
function boundLinks(taken: readonly Locked[]): readonly Locked[] {
  let links = 0;
  const end = taken.findIndex((each, index) => {
    links += each.links;
    return index > 0 && links > MAX_LINKS;
  });
  return end === -1 ? taken : taken.slice(0, end);
}

/**
 * Checks some articles of a workspace. Removes an entry before addresses are read: a later change adds another.
 * @returns whether more may be checked at once
 */
const checkSome = (db: Database, workspaceId: WorkspaceId, most: number): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const taken = await lockListed(tx, workspaceId, most);
    const checked = boundLinks(taken);
    const ids = checked.map(({ id }) => id);
    await sql`DELETE FROM link_checks WHERE article_id = ANY (${ids}::uuid[])`.execute(tx);
    if (checked.length > 0) await checkLocked(tx, workspaceId, checked);
    return taken.length === most || checked.length < taken.length;
  });

/** Removes the entries of deleted articles. */
const dropDeleted = (db: Database, workspaceId: WorkspaceId) =>
  db
    .deleteFrom('link_checks')
    .where('workspace_id', '=', workspaceId)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb.selectFrom('articles').select('id').whereRef('articles.id', '=', 'link_checks.article_id'),
        ),
      ),
    )
    .execute();

/**
 * Checks articles of a workspace, fewer at a time when the database refuses many.
 * @returns whether more may be checked at once
 */
async function checkWorkspace(db: Database, workspaceId: WorkspaceId): Promise<boolean> {
  for (let most = BATCH; ; most /= 10) {
    try {
      if (await checkSome(db, workspaceId, most)) return true;
      await dropDeleted(db, workspaceId);
      return false;
    } catch (error) {
      if (most === 1) throw error;
    }
  }
}

/** An idle service asks this alone: to plan the statement that lists articles takes ten times as long. */
const look = textStatement<{ isWork: boolean }>(
  'look_for_link_checks',
  `SELECT EXISTS (SELECT FROM address_changes) OR EXISTS (SELECT FROM link_checks) AS "isWork"`,
);

/** The next workspace with articles to check, without those in `waiting`. */
const nextWorkspace = (db: Database, after: WorkspaceId | null, waiting: ReadonlySet<WorkspaceId>) =>
  db
    .selectFrom('link_checks')
    .select('workspace_id')
    .$if(after !== null, (query) => query.where('workspace_id', '>', after as WorkspaceId))
    .$if(waiting.size > 0, (query) => query.where('workspace_id', 'not in', [...waiting]))
    .orderBy('workspace_id')
    .limit(1)
    .executeTakeFirst();

/**
 * Checks the listed articles, a batch of each workspace in turn, with pauses, until only articles that are being edited are
 * left. Any number of workers may do so concurrently.
 * @param onError is called for each failure; the next round tries again
 */
export async function checkLinks(
  db: Database,
  { signal, onError }: { signal: AbortSignal; onError: (error: unknown, workspaceId?: WorkspaceId) => void },
): Promise<void> {
  const [found] = await look(db);
  if (!found?.isWork) return;
  const done = new Set<WorkspaceId>();
  let listAt = 0;
  for (let after: WorkspaceId | null = null; !signal.aborted; ) {
    const began = performance.now();
    if (began >= listAt) {
      await listLinkingArticles(db).catch(onError);
      listAt = performance.now() + POLL_MS;
    }
    const next: { workspace_id: WorkspaceId } | undefined = await nextWorkspace(db, after, done);
    if (next === undefined && after === null) return;
    after = next?.workspace_id ?? null;
    if (after === null) continue;
    const workspaceId = after;
    const isMore = await checkWorkspace(db, workspaceId).catch((error: unknown) => {
      onError(error, workspaceId);
      return false;
    });
    if (!isMore) done.add(workspaceId);
    await pause((performance.now() - began) * REST, signal);
  }
}

/** Runs {@link checkLinks} in the background. @returns a function that stops it after the current batch */
export function startCheckingLinks(db: Database, logger: Logger): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const onError = (err: unknown, workspaceId?: WorkspaceId) =>
    logger.warn({ err, workspaceId }, 'links not checked yet');
  const running = keepDoing(() => checkLinks(db, { signal, onError }), { everyMs: POLL_MS, signal, onError });
  return () => {
    stopping.abort();
    return running;
  };
}
