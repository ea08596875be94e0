/**
 * The cost of counting the states of 100 versions of a 10,000-word article, against reading the same articles:
 *  1. none of them known, since all articles were just written, against reading and parsing the same 101 articles;
 *  2. all of them known, against the list of the same versions without their states;
 *  3. by a list of 1,000 versions of a project by state, none of them known, 50 a request.
 * The event loop is watched meanwhile: the figure beside the times is the longest that it was held.
 *
 * Environment: BENCH_ROUNDS (5), BENCH_VERSIONS (100), BENCH_WORDS (10000), BENCH_PROJECT_WORDS (1000).
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { sql } from 'kysely';
import { print, setting } from '../../soak/support/report.ts';
import { readVersions } from '../../src/articles/list.ts';
import type { VerbContext } from '../../src/context.ts';
import { inBatches } from '../../src/db/batches.ts';
import type { Database } from '../../src/db/database.ts';
import { provenanceOf } from '../../src/document/refresh/units.ts';
import { reassemble } from '../../src/document/translation/reassemble.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import type { ListPage } from '../../src/http/stream-list.ts';
import type { ArticleId, WorkspaceId } from '../../src/ids.ts';
import { createProject } from '../../src/projects/create.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { closeThreads } from '../../src/threads/pool.ts';
import { readTranslations } from '../../src/translations/list.ts';
import { listProjectTranslations } from '../../src/translations/project/list.ts';
import type { ListedTranslation } from '../../src/translations/schemas.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { createArticle, longDocument } from '../../test/support/articles.ts';
import { seedVersions } from '../../test/translations/support/versions.ts';
import { withBenchDatabase } from '../lib/database.ts';
import { alternate, type Figure, report } from '../lib/suite.ts';

const ROUNDS = setting('BENCH_ROUNDS', 5);
const VERSIONS = setting('BENCH_VERSIONS', 100);
const WORDS = setting('BENCH_WORDS', 10_000);
const PROJECT_WORDS = setting('BENCH_PROJECT_WORDS', 1_000);
/** What is listed until all states of the project are known. */
const PROJECT = { sources: 10, languages: 100 };
const RESOLUTION_MS = 1;
/** Far inside of what is promised to callers: 3 s, and 100 ms for what is known. */
const PROMISED = { fresh: 15, known: 4 } as const;

async function seed(db: Database): Promise<{ context: VerbContext; sourceId: ArticleId }> {
  const { workspaceId } = await createWorkspace(db, { name: 'Bench', credits: 0 });
  const context: VerbContext = { db, actor: { kind: 'operator', workspaceId }, requestId: 'bench' };
  const project = { name: 'States', languages: ['en', 'es'], primaryLanguage: 'en' };
  const projectId = await createProject(context, project);
  const document = longDocument(WORDS);
  const source = await createArticle(db, { id: workspaceId }, projectId, { document });
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
  await sql`
    WITH version AS (
      INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
        translation_group_id, word_count)
      SELECT gen_random_uuid(), workspace_id, project_id, ${made.title}::text, slug, 'NEEDS_REVIEW',
        ${JSON.stringify(made.document)}::jsonb, 'l' || n, translation_group_id, word_count
      FROM articles, generate_series(1, ${VERSIONS}::integer) AS n WHERE id = ${source.id}
      RETURNING id, workspace_id
    )
    INSERT INTO article_provenance (article_id, workspace_id, source_article_id, units)
    SELECT id, workspace_id, ${source.id}::uuid, ${JSON.stringify(provenanceOf(snapshot, made, new Map()).provenance)}::jsonb
    FROM version`.execute(db);
  await sql`VACUUM ANALYZE articles, article_provenance`.execute(db);
  return { context, sourceId: source.id };
}

/** Requests the first page of a project by state until all states are known, then some more. */
async function listProject(db: Database, workspaceId: WorkspaceId) {
  const context = { db, actor: { kind: 'operator', workspaceId }, requestId: 'bench' } as const;
  const project = { name: 'Project', languages: ['en'], primaryLanguage: 'en' };
  const projectId = await createProject(context, project);
  const document = longDocument(PROJECT_WORDS);
  await seedVersions(db, { id: workspaceId }, projectId, { ...PROJECT, document });
  await sql`VACUUM ANALYZE articles, article_provenance`.execute(db);
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const figures = { held: [] as number[], took: [] as number[], known: [] as number[] };
  const catchUp = { add: () => undefined };
  for (let unknown = 1; figures.known.length < ROUNDS; ) {
    const times = unknown === 0 ? figures.known : figures.took;
    delay.reset();
    delay.enable();
    const startedAt = performance.now();
    const page = await listProjectTranslations(
      { ...context, catchUp },
      { projectId, state: 'stale', limit: 100, position: null },
    );
    times.push(performance.now() - startedAt);
    delay.disable();
    figures.held.push(Math.max(0, delay.max / 1e6 - RESOLUTION_MS));
    unknown = page.unknown;
  }
  return figures;
}

async function run(db: Database): Promise<void> {
  const { context, sourceId } = await seed(db);
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const held: number[] = [];
  const took = async (work: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await work();
    return performance.now() - startedAt;
  };
  const readStates = async (): Promise<void> => {
    delay.reset();
    delay.enable();
    const versions: ListedTranslation[] = [];
    for await (const { items } of inBatches<string, ListPage<string>>('', (after) =>
      readTranslations(context, sourceId, after),
    )) {
      versions.push(...items.map((item) => JSON.parse(item)));
    }
    delay.disable();
    held.push(Math.max(0, delay.max / 1e6 - RESOLUTION_MS));
    const known = versions.filter(({ states }) => (states?.current ?? 0) > 5);
    if (known.length !== VERSIONS) throw new Error(`the states of ${known.length} versions`);
  };
  /** Every article gets another row, as after a save. */
  const forget = () => sql`UPDATE articles SET content_version = content_version + 1`.execute(db);
  const read = async (): Promise<void> => {
    const { rows } = await sql<{ document: string; units: string | null }>`
      SELECT document::text, units::text FROM articles
      LEFT JOIN article_provenance ON article_id = id`.execute(db);
    for (const { document, units } of rows) for (const json of [document, units ?? '[]']) JSON.parse(json);
  };
  print(`${VERSIONS} versions of ${WORDS} words`);
  await readStates();
  held.length = 0;
  const fresh = await alternate(ROUNDS, {
    ours: async () => {
      await forget();
      return took(readStates);
    },
    bare: () => took(read),
  });
  const heldFresh = held.splice(0);
  const known = await alternate(ROUNDS, {
    ours: () => took(readStates),
    bare: () =>
      took(() =>
        Array.fromAsync(
          inBatches<string, ListPage<string>>('', (after) => readVersions(context, sourceId, after)),
        ),
      ),
  });
  const ofProject = await listProject(db, context.actor.workspaceId);
  const figures: Figure[] = [
    { name: 'event loop held, states not known, ms', values: heldFresh },
    { name: 'event loop held, states known, ms', values: held },
    { name: 'event loop held, project by state, ms', values: ofProject.held },
    { name: 'a request for a project by state, ms', values: ofProject.took },
    { name: 'the same with all states known, ms', values: ofProject.known },
  ];
  const name = `states of ${VERSIONS} versions of ${WORDS} words`;
  report(
    'states',
    [
      { name: `${name}, not known, ms`, higherIsBetter: false, ...fresh, promised: PROMISED.fresh },
      { name: `${name}, known, ms`, higherIsBetter: false, ...known, promised: PROMISED.known },
    ],
    figures,
  );
}

await withBenchDatabase(run);
await closeThreads();
