/** What is stored of a rendered body: both texts, and the places in them of what is read when the article is shown. */
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
import { keepLinks } from './links/keep.ts';
import { articleColumns } from './queries.ts';

/** A rendered body as columns. */
export const renderingColumns = ({ html, markdown, places }: Rendered) => ({
  content_html: html,
  content_markdown: markdown,
  content_places: places === null ? null : JSON.stringify(places),
  rendered_by: RENDERER,
});

/** Rolls a transaction back whose article has the rendering of an older renderer. */
export class OutdatedRendering extends Error {
  readonly articleId: ArticleId;

  constructor(articleId: ArticleId) {
    super('The article has to be rendered before this transaction.');
    this.articleId = articleId;
  }
}

/**
 * Does work whose transaction publishes or saves an article (contract.md R3). One that an older renderer has rendered is
 * rendered anew before the transaction, so that no lock waits for it.
 * @param work has no effect outside its transaction; throws {@link OutdatedRendering}
 * @throws {ServiceError} SERVICE_UNAVAILABLE as {@link retryingChanged}
 */
export const withCurrentRendering = <Result>(
  db: Database,
  origin: Origin,
  work: () => Promise<Result>,
): Promise<Result> =>
  retryingChanged(async () => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OutdatedRendering)) throw error;
      await renderAnew(db, origin, error.articleId);
      return CHANGED;
    }
  });

/** Stores the rendering of today's renderer, unless somebody has saved meanwhile. The version stays. */
async function renderAnew(db: Database, origin: Origin, articleId: ArticleId): Promise<void> {
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
    await keepLinks(tx, origin, articleId, null, rendered.places);
    const { html, markdown } = rendered;
    if (html === row.content_html && markdown === row.content_markdown) return;
    await recordEvents(tx, origin, updatedEvents(stored, ['content']));
  });
}
