import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every request about an article reads its row. */
export const online = true;

/** How versions compare with their sources, by what was compared, and a project's versions along an index of nothing else. */
export async function up(_db: Kysely<unknown>, { alter, createIndex }: OnlineSteps): Promise<void> {
  await alter(sql`
    CREATE TABLE IF NOT EXISTS version_states (
      article_id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      tag text NOT NULL,
      states jsonb NOT NULL,
      CONSTRAINT version_states_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE
    )`);
  await createIndex(
    'articles_versions_idx',
    'ON articles (workspace_id, project_id, created_at DESC, id DESC) WHERE is_translation',
  );
  await createIndex(
    'articles_version_language_idx',
    'ON articles (workspace_id, project_id, primary_language, created_at DESC, id DESC) WHERE is_translation',
  );
}
