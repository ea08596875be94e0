import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Article } from '../../src/articles/schemas.ts';
import type { Block, DocumentJson } from '../../src/document/format/schema.ts';
import type { ArticleId, JobId, ProjectId } from '../../src/ids.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { remember } from '../../src/translations/memory/remember.ts';
import { pruneMemory } from '../../src/translations/prune.ts';
import { createArticle, longDocument, SHORT_DOCUMENT } from '../support/articles.ts';
import { useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const { service, provider, workspace, calls } = useTranslations({ credits: 100 });

/** Texts that the engine was asked for, and what the test has it do about them. */
let asked: string[] = [];
let answering: (texts: readonly string[]) => Promise<void> = async () => undefined;
const translate = provider.translate;
provider.translate = async (request) => {
  const texts = request.segments.map(({ text }) => text);
  asked.push(...texts);
  await answering(texts);
  return translate(request);
};

let projectId: ProjectId;
beforeEach(async () => {
  asked = [];
  answering = async () => undefined;
  projectId = await service.project(workspace);
});

const article = (document: DocumentJson = SHORT_DOCUMENT) =>
  createArticle(service.db, workspace, projectId, { document });
/** Translates a new article that says this, and tells what an engine was asked for. */
async function translateNew(document?: DocumentJson) {
  const source = await article(document);
  asked = [];
  const done = await calls.translateTo(workspace, source.id);
  expect(done.job.status, done.job.errorMessage ?? '').toBe('COMPLETED');
  return { ...done, source, asked };
}
const textOf = (version: Article, id: string) =>
  version.documentJson.blocks.find((block: Block) => block.id === id) as { text: string };
const patch = (id: string, body: unknown) =>
  service.call(workspace.key, 'PATCH', `/api/articles/${id}`, body);
const approve = (id: string) =>
  service.call(workspace.key, 'POST', `/api/articles/${id}/reviews`, { decision: 'approved' });
/** Puts the words of a person into a block of a version and has it approved. */
async function correct(version: Article, id: string, text: string): Promise<void> {
  const blocks = version.documentJson.blocks.map((block: Block) =>
    block.id === id ? { ...block, text } : block,
  );
  expect((await patch(version.id, { documentJson: { version: 1, blocks } })).status).toBe(200);
  const approved = await approve(version.id);
  expect(approved.status, JSON.stringify(approved.body)).toBeLessThan(300);
}
const layersOf = async (jobId: string) => {
  const rows = await service.db
    .selectFrom('translation_segments')
    .select('from_memory')
    .where('job_id', '=', jobId as JobId)
    .execute();
  return new Set(rows.map(({ from_memory }) => from_memory));
};
const entriesOf = (articleId: string) =>
  service.db
    .selectFrom('translation_memory')
    .selectAll()
    .where('article_id', '=', articleId as ArticleId)
    .orderBy('text_key')
    .execute();

describe('what was translated before', () => {
  // contract.md V30
  it('is not asked for again: the same article a second time needs no engine, and costs the same', async () => {
    const first = await translateNew();
    expect(first.asked.length).toBeGreaterThan(0);
    const second = await translateNew();
    expect([second.asked, await layersOf(second.job.id)]).toEqual([[], new Set(['machine'])]);
    expect(second.article.documentJson).toEqual(first.article.documentJson);
    expect([second.job.consumedCredits, second.job.progress]).toEqual([first.job.consumedCredits, 100]);
  });

  it('is found in its place: only what is new of an article is asked for', async () => {
    await translateNew();
    const [heading, paragraph] = SHORT_DOCUMENT.blocks;
    const added: Block = { id: 'n', type: 'paragraph', text: 'Then rest.' };
    const blocks = [paragraph, added, heading].flatMap((block) => block ?? []);
    const { article: version, ...second } = await translateNew({ version: 1, blocks });
    expect(second.asked).toEqual(['Then rest.']);
    expect(textOf(version, 'p').text).toContain('**');
  });

  it('is found by what it is: the words of a heading are no paragraph', async () => {
    await translateNew({ version: 1, blocks: [{ id: 'h', type: 'heading', level: 2, text: 'Rest' }] });
    const { asked: again } = await translateNew({
      version: 1,
      blocks: [{ id: 'p', type: 'paragraph', text: 'Rest' }],
    });
    expect(again).toEqual(['Rest']);
  });

  // contract.md V30
  it('is never found by another workspace', async () => {
    await translateNew();
    const stranger = await service.workspace(10);
    const source = await createArticle(service.db, stranger, await service.project(stranger));
    asked = [];
    await calls.translateTo(stranger, source.id);
    expect(asked).toHaveLength(3);
  });

  // contract.md V30
  it('is asked for again under another style, by another edition of the engine, and where a term has changed', async () => {
    await translateNew();
    const style = `/api/projects/${projectId}/translation-styles/es`;
    await service.call(workspace.key, 'PUT', style, { formality: 'informal' });
    expect((await translateNew()).asked).toHaveLength(3);
    await service.call(workspace.key, 'POST', `/api/workspaces/${workspace.id}/glossary`, {
      sourceLanguage: 'en',
      targetLanguage: 'es',
      source: 'young',
      target: 'tierno',
    });
    expect([...new Set((await translateNew()).asked)]).toEqual([expect.stringContaining('young')]);
    await service.stopWorkers();
    await service.startWorker({ provider: { ...provider, edition: 'another' } });
    expect((await translateNew()).asked).toContain('A garden in spring');
    await service.stopWorkers();
    await service.startWorker({ provider });
  });

  it('is remembered also by the run that finds its job settled by a lost worker', async () => {
    const { job, article: version } = await translateNew();
    const entries = await entriesOf(version.id);
    await service.db
      .deleteFrom('translation_memory')
      .where('article_id', '=', version.id as ArticleId)
      .execute();
    await remember(service.db, job.id as JobId);
    await remember(service.db, job.id as JobId);
    const keys = ({ text_key, target_text }: (typeof entries)[number]) => [text_key, target_text];
    expect((await entriesOf(version.id)).map(keys)).toEqual(entries.map(keys));
  });
});

describe('a run that ends without a result', () => {
  const LAST = 'The one that fails.';
  const document: DocumentJson = {
    version: 1,
    blocks: [
      ...longDocument(390).blocks,
      ...longDocument(390).blocks.map((block) => ({
        ...block,
        id: `q${block.id}`,
        text: `q ${(block as { text: string }).text}`,
      })),
      { id: 'last', type: 'paragraph', text: `${'and so on '.repeat(100)}${LAST}` } as Block,
    ],
  };
  /** Waits until all other texts are there, then refuses the last one. */
  const failAtLast = async (texts: readonly string[]): Promise<void> => {
    if (!texts.some((text) => text.includes(LAST))) return;
    await eventually(
      async () => {
        const { rows } = await sql<{ left: number }>`
          SELECT count(*)::integer AS left FROM translation_segments JOIN jobs ON jobs.id = job_id
          WHERE jobs.workspace_id = ${workspace.id} AND ended_at IS NULL AND target_text IS NULL`.execute(
          service.db,
        );
        return rows[0]?.left;
      },
      (left) => left === texts.length,
    );
    throw new ProviderError('fatal', 'Not this one.');
  };

  // contract.md V31
  it('serves the next one over the same source: only what failed is asked for again', async () => {
    const source = await article(document);
    answering = failAtLast;
    expect((await calls.translateTo(workspace, source.id)).job.status).toBe('FAILED');
    answering = async () => undefined;
    asked = [];
    const { job } = await calls.translateTo(workspace, source.id);
    expect([job.status, asked.map((text) => text.slice(-LAST.length))]).toEqual(['COMPLETED', [LAST]]);
    expect(job.consumedCredits).toBe(job.reservedCredits);
  });

  // contract.md V31
  it('serves the next one also when one was cancelled in between before it was planned', async () => {
    const source = await article(document);
    answering = failAtLast;
    expect((await calls.translateTo(workspace, source.id)).job.status).toBe('FAILED');
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    answering = () => held;
    const { job } = (await calls.request(workspace, source.id)).body;
    await eventually(
      () => calls.readJob(workspace, job.id),
      ({ status }) => status === 'TRANSLATING',
    );
    await calls.cancel(workspace, job.id);
    await service.db.deleteFrom('translation_segments').where('job_id', '=', job.id).execute();
    await service.db
      .updateTable('translations')
      .set({ batch_count: null })
      .where('job_id', '=', job.id)
      .execute();
    release();
    answering = async () => undefined;
    asked = [];
    expect((await calls.translateTo(workspace, source.id)).job.status).toBe('COMPLETED');
    expect(asked.map((text) => text.slice(-LAST.length))).toEqual([LAST]);
  });

  // contract.md V31
  it('serves nothing that people had approved: their texts go with their version', async () => {
    const first = await translateNew();
    const words = 'Las plantas **jóvenes** se riegan por la mañana.';
    await correct(first.article, 'p', words);
    const last = document.blocks.at(-1) as Block;
    const source = await article({ version: 1, blocks: [...SHORT_DOCUMENT.blocks, last] });
    answering = failAtLast;
    const failed = await calls.translateTo(workspace, source.id);
    expect([failed.job.status, await layersOf(failed.job.id)]).toEqual(['FAILED', new Set(['people', null])]);
    answering = async () => undefined;
    expect((await service.call(workspace.key, 'DELETE', `/api/articles/${first.article.id}`)).status).toBe(
      200,
    );
    const { article: version } = await calls.translateTo(workspace, source.id);
    expect(textOf(version, 'p').text).not.toBe(words);
  });

  // contract.md V31
  it('serves no other source, and is not remembered', async () => {
    const source = await article(document);
    answering = failAtLast;
    const failed = await calls.translateTo(workspace, source.id);
    answering = async () => undefined;
    expect(await entriesOf(failed.article.id)).toEqual([]);
    expect((await translateNew(document)).asked.length).toBeGreaterThan(10);
  });
});

describe('what people have approved', () => {
  // contract.md V32
  it('passes what an engine made, with the tags where a person has put them, while it stays approved', async () => {
    const first = await translateNew();
    await correct(first.article, 'p', 'Las plantas **jóvenes** se riegan por la mañana.');
    const second = await translateNew();
    expect([second.asked, await layersOf(second.job.id)]).toEqual([[], new Set(['people'])]);
    expect(textOf(second.article, 'p').text).toBe('Las plantas **jóvenes** se riegan por la mañana.');
    await service.db
      .updateTable('articles')
      .set({ status: 'CHANGES_REQUESTED' })
      .where('id', '=', first.article.id as ArticleId)
      .execute();
    const third = await translateNew();
    expect([third.asked, await layersOf(third.job.id)]).toEqual([[], new Set(['machine'])]);
  });

  // contract.md T51
  it('is learned for the present source once that is marked, also of a version that was read before', async () => {
    const { article: version, source } = await translateNew();
    await correct(version, 'h', 'El jardín');
    await translateNew();
    const changed = {
      version: 1 as const,
      blocks: SHORT_DOCUMENT.blocks.map((block) =>
        block.id === 'h' ? ({ ...block, text: 'A garden in June' } as Block) : block,
      ),
    };
    await calls.save(workspace, source.id, changed);
    expect(textOf((await translateNew(changed)).article, 'h').text).not.toBe('El jardín');
    const of = `/api/articles/${version.id}`;
    const { headers } = await service.call(workspace.key, 'GET', `${of}/translation-state`);
    const marked = await service.call(
      workspace.key,
      'POST',
      `${of}/mark-current`,
      { units: ['block:h'] },
      { 'if-match': headers.get('etag') ?? '' },
    );
    expect(marked.body).toEqual({ marked: 1 });
    const next = await translateNew(changed);
    expect([next.asked, textOf(next.article, 'h').text]).toEqual([[], 'El jardín']);
  });

  it('is read anew when it has changed, also after a worker was lost over it', async () => {
    const first = await translateNew();
    await correct(first.article, 'h', 'El jardín');
    await translateNew();
    await service.db
      .updateTable('remembered_versions')
      .set({ claimed_at: new Date(Date.now() - 61_000), read_of: null })
      .where('article_id', '=', first.article.id as ArticleId)
      .execute();
    const published = await service.call(workspace.key, 'POST', `/api/articles/${first.article.id}/publish`);
    expect(published.status).toBe(200);
    const { article: now } = published.body;
    const blocks = now.documentJson.blocks.map((block: Block) =>
      block.id === 'h' ? { ...block, text: 'Un jardín en primavera' } : block,
    );
    expect((await patch(first.article.id, { documentJson: { version: 1, blocks } })).status).toBe(200);
    expect(textOf((await translateNew()).article, 'h').text).toBe('Un jardín en primavera');
  });

  // contract.md V32
  it('does not serve as it was while another run reads how it has changed', async () => {
    const first = await translateNew();
    await correct(first.article, 'h', 'El jardín');
    expect(textOf((await translateNew()).article, 'h').text).toBe('El jardín');
    await service.db
      .updateTable('remembered_versions')
      .set({ claimed_at: new Date(), read_of: null })
      .where('article_id', '=', first.article.id as ArticleId)
      .execute();
    expect(await layersOf((await translateNew()).job.id)).toEqual(new Set(['machine']));
  });

  it('is passed over while it is being deleted: no translation waits or fails for it', async () => {
    const first = await translateNew();
    await correct(first.article, 'h', 'El jardín');
    const { promise: translated, resolve } = Promise.withResolvers<void>();
    const deleting = service.db.transaction().execute(async (tx) => {
      await tx
        .deleteFrom('articles')
        .where('id', '=', first.article.id as ArticleId)
        .execute();
      await translated;
    });
    expect(await layersOf((await translateNew()).job.id)).toEqual(new Set(['machine']));
    resolve();
    await deleting;
  });

  it('teaches nothing when it cannot be read, and keeps no one from translating', async () => {
    const first = await translateNew();
    await correct(first.article, 'h', 'El jardín');
    await sql`UPDATE article_provenance SET units = '[{"key":"title","texts":null}]'`.execute(service.db);
    expect(await layersOf((await translateNew()).job.id)).toEqual(new Set(['machine']));
  });

  // contract.md V34
  it('goes with its article, and so does what an engine made for it alone', async () => {
    const first = await translateNew();
    const second = await translateNew();
    await correct(first.article, 'h', 'El jardín');
    await translateNew();
    const remove = (id: string) => service.call(workspace.key, 'DELETE', `/api/articles/${id}`);
    expect((await remove(first.article.id)).status).toBe(200);
    const fourth = await translateNew();
    expect([fourth.asked, textOf(fourth.article, 'h').text]).toEqual([[], expect.not.stringContaining('El')]);
    for (const id of [second.article.id, fourth.article.id]) expect((await remove(id)).status).toBe(200);
    expect(await entriesOf(first.article.id)).toEqual([]);
  });
});

describe('a refresh', () => {
  // contract.md V33
  it('takes changed texts from the memory at the price of any other, and goes past it for units that are named', async () => {
    const added: Block = { id: 'n', type: 'paragraph', text: 'Then rest.' };
    await translateNew({ version: 1, blocks: [...SHORT_DOCUMENT.blocks, added] });
    const { source, article: version } = await translateNew();
    await calls.save(workspace, source.id, { version: 1, blocks: [...SHORT_DOCUMENT.blocks, added] });
    asked = [];
    const plain = await calls.refresh(workspace, version.id);
    const done = await calls.untilFinal(workspace, plain.id);
    expect([done.status, asked, done.consumedCredits]).toEqual(['COMPLETED', [], 1]);
    const named = await calls.refresh(workspace, version.id, { units: ['block:n', 'block:p'] });
    expect((await calls.untilFinal(workspace, named.id)).status).toBe('COMPLETED');
    expect(asked).toHaveLength(2);
    expect(await entriesOf(version.id)).toHaveLength(4);
  });
});

describe('entries', () => {
  const age = (days: number) =>
    service.db
      .updateTable('translation_memory')
      .set({ used_at: new Date(Date.now() - days * 86_400_000) })
      .where('workspace_id', '=', workspace.id)
      .execute();
  const prune = () => pruneMemory(service.db, 180 * 86_400_000);

  // contract.md V34
  it('go when no translation has used them for so long, and stay while they are used', async () => {
    const { article: version } = await translateNew();
    await age(179);
    await prune();
    expect(await entriesOf(version.id)).toHaveLength(3);
    // Used, so that they stay; the new article has entries of its own.
    await translateNew();
    await prune();
    await age(181);
    const { article: last } = await translateNew();
    await prune();
    expect(await entriesOf(last.id)).toHaveLength(3);
    await age(181);
    await prune();
    expect([await entriesOf(version.id), await entriesOf(last.id)]).toEqual([[], []]);
  });
});
