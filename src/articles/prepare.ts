/** Bodies that are rendered before the transaction that stores them. */
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { VerbContext } from '../context.ts';
import type { Database, Tx } from '../db/database.ts';
import type { References } from '../document/threads/tasks.ts';
import { ServiceError } from '../errors.ts';
import type { ArticleId } from '../ids.ts';
import type { CheckedBody } from './document-field.ts';
import { type Renderable, type Rendering, readReferences, renderBody } from './render.ts';

/** Renderings that may be made in vain because images or addresses changed meanwhile. */
export const MAX_ATTEMPTS = 5;

/** 503 after that: what the body shows changed between its rendering and the lock, each time. */
export const restless = (): ServiceError =>
  new ServiceError('SERVICE_UNAVAILABLE', 'The article keeps changing. Try again shortly.');

/** A body rendered before the transaction, so that no lock and no connection waits for it. */
export interface PreparedBody {
  readonly document: string;
  readonly references: References;
  readonly rendering: Rendering;
}

/** Null when there is no such article. */
export async function prepareBody(
  db: Database,
  { actor }: VerbContext,
  id: ArticleId,
  body?: CheckedBody,
): Promise<PreparedBody | null> {
  const stored = await db
    .selectFrom('articles')
    .select(['project_id', sql<string>`document::text`.as('document')])
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (stored === undefined) return null;
  const document = body?.stored.json ?? stored.document;
  const references = await readReferences(db, { id, project_id: stored.project_id, document });
  return { document, references, rendering: await renderBody(document, references, body?.texts) };
}

/** True when the locked article shows what it did when the body was rendered. */
export const isCurrent = async (
  tx: Tx,
  article: Renderable,
  { document, references }: PreparedBody,
): Promise<boolean> => isDeepStrictEqual(await readReferences(tx, { ...article, document }), references);
