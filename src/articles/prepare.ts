/** Bodies that are rendered before the transaction that stores them. */
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Origin } from '../context.ts';
import type { Database, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { ServiceError } from '../errors.ts';
import type { ArticleId } from '../ids.ts';
import type { CheckedBody } from './document-field.ts';
import {
  type References,
  type Renderable,
  type Renderer,
  type Rendering,
  readReferences,
  referencesOf,
  renderBody,
  renderSmallBody,
  toRendering,
} from './render.ts';

const MAX_ATTEMPTS = 5;

/** What an attempt answers when the article is another one by now than when its transaction was prepared. */
export const CHANGED = Symbol('changed');

/**
 * Repeats work that is prepared before its transaction, so that no lock waits for it, and wasted when the article has
 * changed in between.
 * @throws {ServiceError} SERVICE_UNAVAILABLE when it had changed each time
 */
export async function retryingChanged<Result>(
  attempt: () => Promise<Result | typeof CHANGED>,
): Promise<Result> {
  for (let left = MAX_ATTEMPTS; left > 0; left -= 1) {
    const result = await attempt();
    if (result !== CHANGED) return result;
  }
  throw new ServiceError('SERVICE_UNAVAILABLE', 'The article keeps changing. Try again shortly.');
}

/** What a body is rendered from. */
interface Source {
  readonly id: ArticleId;
  /** documentJson as text. */
  readonly document: string;
  readonly references: References;
}

/** A body rendered before the transaction, so that no lock and no connection waits for it. */
export interface PreparedBody extends Source {
  readonly rendering: Rendering;
}

/** Renders the article's body, or `body` as its next one. @returns an empty list when the article does not exist */
export async function prepareBody(
  db: Database,
  { actor }: Pick<Origin, 'actor'>,
  id: ArticleId,
  body?: CheckedBody,
): Promise<PreparedBody[]> {
  const stored = await db
    .selectFrom('articles')
    .select(['project_id', sql<string>`document::text`.as('document')])
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (stored === undefined) return [];
  const document = body?.stored.json ?? stored.document;
  const references = await readReferences(db, { id, project_id: stored.project_id, document });
  const rendering =
    body === undefined
      ? await renderBody(document, references)
      : toRendering(body.stored.rendered, references);
  return [{ id, document, references, rendering }];
}

/** True when the body shows the same with both. */
function showsSame(document: string, before: References, now: References): boolean {
  const { articleIds, assetIds } = referencesOf(document);
  return (
    articleIds.every((id) => before.links.get(id) === now.links.get(id)) &&
    assetIds.every((id) => isDeepStrictEqual(before.images.get(id), now.images.get(id)))
  );
}

/** Rolls a transaction back whose large bodies have to be rendered first. */
class Unrendered extends Error {
  readonly sources: readonly Source[];

  constructor(sources: readonly Source[]) {
    super('Large bodies have to be rendered before this transaction.');
    this.sources = sources;
  }
}

const rendererOf = (prepared: ReadonlyMap<ArticleId, PreparedBody>): Renderer =>
  (async (tx: Tx, articles: readonly Renderable[]) => {
    const rendered: { article: Renderable; rendering: Rendering }[] = [];
    const missing: Source[] = [];
    for (const article of articles) {
      const { id, document } = article;
      const references = await readReferences(tx, article);
      const known = prepared.get(id);
      const rendering =
        known?.document === document && showsSame(document, known.references, references)
          ? known.rendering
          : renderSmallBody(document, references);
      if (rendering === null) missing.push({ id, document, references });
      else rendered.push({ article, rendering });
    }
    if (missing.length > 0) throw new Unrendered(missing);
    return rendered;
  }) as Renderer;

/**
 * Runs `work` in one transaction whose renderer never waits for a thread, since others wait for its locks. Small bodies
 * are rendered in place. For a large one that is not among the prepared ones, or shows something else by now, the
 * transaction is rolled back, the body rendered with what it would have shown, and the transaction tried again.
 * @param work has no effect outside the transaction
 * @throws {ServiceError} SERVICE_UNAVAILABLE when what a body shows changed again each time
 */
export async function withRenderings<Result>(
  db: Database,
  work: (tx: Tx, render: Renderer) => Promise<Result>,
  prepared: readonly PreparedBody[] = [],
): Promise<Result> {
  const ready = new Map(prepared.map((body) => [body.id, body]));
  const render = rendererOf(ready);
  return retryingChanged(async () => {
    try {
      return await inTransaction(db, (tx) => work(tx, render));
    } catch (error) {
      if (!(error instanceof Unrendered)) throw error;
      for (const source of error.sources) {
        const rendering = await renderBody(source.document, source.references);
        ready.set(source.id, { ...source, rendering });
      }
      return CHANGED;
    }
  });
}
