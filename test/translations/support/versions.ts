import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import type { DocumentJson } from '../../../src/document/format/schema.ts';
import { provenanceOf } from '../../../src/document/refresh/units.ts';
import { reassemble } from '../../../src/document/translation/reassemble.ts';
import { extractSegments } from '../../../src/document/translation/segments.ts';
import type { Snapshot } from '../../../src/document/translation/source.ts';
import type { ArticleId, ProjectId } from '../../../src/ids.ts';
import { pseudoLocalize } from '../../../src/providers/pseudo.ts';
import { createArticle } from '../../support/articles.ts';
import type { TestWorkspace } from '../../support/service.ts';

const DOCUMENT: DocumentJson = {
  version: 1,
  blocks: [{ id: 'one', type: 'paragraph', text: 'The words of a garden.' }],
};

export interface SeededSource {
  readonly id: ArticleId;
  /** By language: `de-x-001` and so on. */
  readonly versions: readonly ArticleId[];
}

/** Sources with versions as translations leave them, without their jobs. */
export async function seedVersions(
  db: Database,
  workspace: Pick<TestWorkspace, 'id'>,
  projectId: ProjectId,
  {
    sources,
    languages,
    document = DOCUMENT,
  }: { readonly sources: number; readonly languages: number; readonly document?: DocumentJson },
): Promise<SeededSource[]> {
  const seeded: SeededSource[] = [];
  for (let number = 0; number < sources; number += 1) {
    const source = await createArticle(db, workspace, projectId, { document });
    const snapshot: Snapshot = {
      title: source.title,
      metaTitle: null,
      metaDescription: null,
      targetKeywords: [],
      secondaryKeywords: [],
      document,
      assets: [],
    };
    const texts = new Map(extractSegments(snapshot).map(({ key, text }) => [key, pseudoLocalize(text)]));
    const made = reassemble(snapshot, texts, new Map());
    const { rows } = await sql<{ id: ArticleId }>`
      WITH version AS (
        INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
          translation_group_id, word_count, is_translation, created_at)
        SELECT gen_random_uuid(), workspace_id, project_id, ${made.title}::text, slug, 'NEEDS_REVIEW',
          ${JSON.stringify(made.document)}::jsonb, 'de-x-' || lpad(n::text, 3, '0'), translation_group_id, word_count, true,
          created_at + make_interval(secs => n / 1000.0)
        FROM articles, generate_series(1, ${languages}::integer) AS n WHERE id = ${source.id}
        RETURNING id, workspace_id, primary_language
      ), known AS (
        INSERT INTO article_provenance (article_id, workspace_id, source_article_id, units)
        SELECT id, workspace_id, ${source.id}::uuid,
          ${JSON.stringify(provenanceOf(snapshot, made, new Map()).provenance)}::jsonb
        FROM version
      )
      SELECT id FROM version ORDER BY primary_language`.execute(db);
    seeded.push({ id: source.id, versions: rows.map(({ id }) => id) });
  }
  return seeded;
}
