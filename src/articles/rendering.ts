/** Stored renderings: both texts, and their places for links and images, which are resolved on reading. */
import type { Origin } from '../context.ts';
import { clockTimestamp } from '../db/clock.ts';
import type { Database } from '../db/database.ts';
import { CHANGED, retryingChanged } from '../db/retrying-changed.ts';
import { inTransaction } from '../db/transaction.ts';
import type { Rendered } from '../document/render/document.ts';
import { RENDERER } from '../document/render/shared.ts';
import { recordEvents } from '../events/record.ts';
import type { ArticleId } from '../ids.ts';
import { doTask } from '../threads/pool.ts';
import { updatedEvents } from './events.ts';
import { storeLinks } from './links/store.ts';
import { articleColumns } from './queries.ts';

/** A rendered body as columns. */
export const renderingColumns = ({ html, markdown, places }: Rendered) => ({
  content_html: html,
  content_markdown: markdown,
  content_places: places === null ? null : JSON.stringify(places),
  rendered_by: RENDERER,
});

/** Rolls a transaction back: the article has an older renderer's rendering. */
export class OutdatedRendering extends Error {
  readonly articleId: ArticleId;

  constructor(articleId: ArticleId) {
    super('The article has to be rendered before this transaction.');
    this.articleId = articleId;
  }
}

/**
 * Runs work whose transaction publishes or saves an article (contract.md R3). If an older renderer has rendered it, the
 * article is rendered again outside the transaction, so that no lock waits for that, and the work is repeated.
 * @param work has no effect outside its transaction; throws {@link OutdatedRendering}, or returns CHANGED to be repeated
 * @throws {ServiceError} SERVICE_UNAVAILABLE as {@link retryingChanged}
 */
export const withCurrentRendering = <Result>(
  db: Database,
  origin: Origin,
  work: () => Promise<Result | typeof CHANGED>,
): Promise<Result> =>
  retryingChanged(async () => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OutdatedRendering)) throw error;
      await renderAgain(db, origin, error.articleId);
      return CHANGED;
    }
  });

/** Stores the current renderer's rendering, unless the article was saved meanwhile. The version stays. */
async function renderAgain(db: Database, origin: Origin, articleId: ArticleId): Promise<void> {
  const row = await db
    .selectFrom('articles')
    .select(articleColumns)
    .where('id', '=', articleId)
    .executeTakeFirst();
  if (row === undefined) return;
  const rendered = await doTask('render', row.document);
  await inTransaction(db, async (tx) => {
    const stored = await tx
      .updateTable('articles')
      .set({ ...renderingColumns(rendered), updated_at: clockTimestamp })
      .where('id', '=', articleId)
      .where('version', '=', row.version)
      .returning(articleColumns)
      .executeTakeFirst();
    if (stored === undefined) return;
    await storeLinks(tx, origin, articleId, null, rendered.places);
    const { html, markdown } = rendered;
    if (html === row.content_html && markdown === row.content_markdown) return;
    await recordEvents(tx, origin, updatedEvents(stored, ['content']));
  });
}
