import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { newId, type ProjectId } from '../../src/ids.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { readQuestion } from '../../src/suggestions/read-question.ts';
import { MAX_REASON } from '../../src/suggestions/responses.ts';
import { categoryCalls } from '../categories/support.ts';
import { createArticle } from '../support/articles.ts';
import { type Answer, type TestWorkspace, useTestService } from '../support/service.ts';
import { createStandIn, suggesting } from './support.ts';

const service = useTestService();

let calls: ReturnType<typeof suggesting>;
let categories: ReturnType<typeof categoryCalls>;
let workspace: TestWorkspace;
let projectId: ProjectId;
let articleId: string;
const model = createStandIn();

beforeAll(async () => {
  calls = suggesting(service);
  categories = categoryCalls(service);
  await service.startWorker({ suggestions: model });
});
beforeEach(async () => {
  model.reset();
  workspace = await service.workspace(10);
  projectId = await service.project(workspace);
  articleId = (await createArticle(service.db, workspace, projectId)).id;
});

/** Expects an empty 200 that cost nothing, and after how many questions. */
async function expectNothing(answer: Answer, body: Record<string, unknown>, asked: number): Promise<void> {
  expect(answer.body).toEqual({ ...body, credits: 0 });
  expect(answer.status).toBe(200);
  expect(model.asked).toHaveLength(asked);
  expect(await calls.wallet(workspace)).toEqual({ balance: 10, reserved: 0 });
}

const NONE = { existing: [], proposed: [] };

/** Rows of articles that have been read so far, as Postgres counts them. */
async function articlesRead(db: Database): Promise<number> {
  await sql`SELECT pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ count: number }>`
    SELECT seq_tup_read + idx_tup_fetch AS count FROM pg_stat_user_tables WHERE relname = 'articles'`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

describe('suggesting categories for an article', () => {
  // contract.md S2
  it('answers with existing categories in the article’s language that it does not carry, for one credit', async () => {
    const carried = await categories.category(workspace, { en: 'Spring' });
    const fits = await categories.category(workspace, { de: 'Garten', en: 'Garden life' });
    await categories.category(workspace, { de: 'Garden' });
    await categories.category(workspace, { en: 'Motor racing' });
    await categories.assign(workspace, articleId, [carried.id]);
    const answer = await calls.forArticle(workspace, articleId);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      existing: [{ category: { id: fits.id, name: 'Garden life' }, reason: expect.stringMatching(/garden/) }],
      proposed: [],
      credits: 1,
    });
    const [request] = model.asked;
    expect(request?.question).toMatchObject({ carried: ['Spring'], language: 'en' });
    expect(await calls.wallet(workspace)).toEqual({ balance: 9, reserved: 0 });
    expect(await calls.ledger(workspace)).toBe(9);
    expect(await calls.used(workspace)).toBe(1);
    expect(await categories.audit(workspace, 'categories.suggested')).toEqual([
      {
        target_id: articleId,
        actor_id: workspace.keyId,
        details: { operationId: expect.any(String), reservedCredits: 1 },
      },
    ]);
    expect(await categories.list(workspace)).toHaveLength(4);
  });

  it('tells the model of categories without a name in the article’s language by their main one', async () => {
    const carried = await categories.category(workspace, { de: 'Frühling', fr: 'Printemps' });
    await categories.category(workspace, { fr: 'Jardin' });
    await categories.assign(workspace, articleId, [carried.id]);
    await calls.forArticle(workspace, articleId);
    expect(model.asked[0]?.question).toMatchObject({
      candidates: [],
      carried: ['Frühling'],
      elsewhere: ['Jardin'],
    });
  });

  it('takes names in the plain language for one with a region', async () => {
    const british = await service.project(workspace, ['en-GB', 'en']);
    const { id } = await createArticle(service.db, workspace, british, { language: 'en-GB' });
    model.reply = async () => ({
      language: 'en',
      existing: [],
      proposed: [{ name: 'Lawns', reason: 'why' }],
    });
    expect((await calls.forArticle(workspace, id)).body.proposed).toEqual([{ name: 'Lawns', reason: 'why' }]);
    model.reply = async () => ({
      language: 'en-US',
      existing: [],
      proposed: [{ name: 'Yards', reason: 'why' }],
    });
    expect((await calls.forArticle(workspace, id)).body.proposed).toEqual([]);
  });

  it('proposes new names when none fits, and only then', async () => {
    const answer = await calls.forArticle(workspace, articleId);
    expect(answer.body.existing).toEqual([]);
    expect(answer.body.proposed.map(({ name }: { name: string }) => name)).toEqual(['Garden', 'Spring']);
    expect(answer.body.credits).toBe(1);

    const fits = await categories.category(workspace, { en: 'Plants' });
    model.reply = async () => ({
      language: 'en',
      existing: [{ number: 1, reason: 'fits' }],
      proposed: [{ name: 'Another', reason: 'fits too' }],
    });
    expect((await calls.forArticle(workspace, articleId)).body).toEqual({
      existing: [{ category: { id: fits.id, name: 'Plants' }, reason: 'fits' }],
      proposed: [],
      credits: 1,
    });
  });

  // contract.md S1
  it('gives seven suggestions at most, each once, with reasons of 300 characters at most', async () => {
    for (let number = 1; number <= 9; number += 1) await categories.category(workspace, { en: `C${number}` });
    model.reply = async () => ({
      language: 'en',
      existing: [1, 1, 2, 99, 0, 3, 4, 5, 6, 7, 8, 9].map((number) => ({ number, reason: '🌱'.repeat(400) })),
      proposed: [],
    });
    const { existing } = (await calls.forArticle(workspace, articleId)).body;
    expect(existing).toHaveLength(7);
    expect(new Set(existing.map((each: { category: { id: string } }) => each.category.id)).size).toBe(7);
    expect([...existing[0].reason]).toHaveLength(MAX_REASON);
  });

  it('leaves out new names that are too long, empty, doubled, or taken in any case', async () => {
    await categories.category(workspace, { en: 'STRASSE', de: 'Weg' });
    const proposed = (...names: string[]) => ({
      language: 'en',
      existing: [],
      proposed: names.map((name) => ({ name, reason: 'why' })),
    });
    model.reply = async () =>
      proposed('straße', 'weg', ' \u0000 ', 'x'.repeat(81), '  Fine\nname ', 'FINE NAME');
    expect((await calls.forArticle(workspace, articleId)).body).toEqual({
      existing: [],
      proposed: [{ name: 'Fine name', reason: 'why' }],
      credits: 1,
    });
    expect(model.asked).toHaveLength(1);
  });

  it('asks again once when no new name is left', async () => {
    await categories.category(workspace, { en: 'STRASSE' });
    const proposed = (name: string) => ({
      language: 'en',
      existing: [],
      proposed: [{ name, reason: 'why' }],
    });
    model.reply = async ({ rejected }) => proposed(rejected === undefined ? 'Straße' : 'Ways');
    expect((await calls.forArticle(workspace, articleId)).body.proposed).toEqual([
      { name: 'Ways', reason: 'why' },
    ]);
    expect(model.asked[1]?.rejected?.defects).toEqual([
      { problem: 'The workspace already has a category with this name.', given: 'Straße' },
    ]);
  });

  it('asks again once with the reason, then nothing came back: 200, empty, no credits', async () => {
    model.reply = async () => ({ nonsense: true });
    await expectNothing(await calls.forArticle(workspace, articleId), NONE, 2);
    expect(model.asked[1]?.rejected).toEqual({
      response: '{"nonsense":true}',
      defects: expect.arrayContaining([{ code: 'shape', problem: expect.stringContaining('existing') }]),
    });
    // A model was called, so the month keeps the count.
    expect(await calls.used(workspace)).toBe(1);
    expect(await calls.operations(workspace)).toMatchObject([{ status: 'empty', hold: 'released' }]);
  });

  it('an answer that is no JSON, a refusal, or another language counts as nothing after the second time', async () => {
    const unusable = [
      async () => null,
      async () => {
        throw new ProviderError('refused', 'The language model declines to work on this text.');
      },
      async () => ({ language: 'fr', existing: [], proposed: [{ name: 'Jardin', reason: 'oui' }] }),
    ];
    for (const reply of unusable) {
      model.reset();
      model.reply = reply;
      await expectNothing(await calls.forArticle(workspace, articleId), NONE, 2);
    }
  });

  // contract.md S4
  it('an empty answer is an answer: asked once, no credits', async () => {
    model.reply = async () => ({ language: 'en', existing: [], proposed: [] });
    await expectNothing(await calls.forArticle(workspace, articleId), NONE, 1);
  });
});

describe('suggesting categories for a project', () => {
  // contract.md S3
  it('draws on ideas, keywords and titles, repeats no name of the workspace, and costs one credit', async () => {
    await calls.addIdea(workspace, projectId, 'balcony plants', ['herbs', 'GARDEN']);
    await categories.category(workspace, { es: 'Herbs', en: 'Garden' });
    const { categories: suggested, credits } = (await calls.forProject(workspace, projectId)).body;
    expect(suggested.map(({ name }: { name: string }) => name)).toEqual(['Balcony plants', 'Spring']);
    expect(credits).toBe(1);
    expect(model.asked[0]?.question).toMatchObject({ titles: ['A garden in spring'], language: 'en' });
    expect(await calls.wallet(workspace)).toEqual({ balance: 9, reserved: 0 });
  });

  it('looks at the newest articles of a project, however many it has, those in its language first', async () => {
    await sql`
      INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
        translation_group_id, created_at)
      SELECT gen_random_uuid(), ${workspace.id}, ${projectId}, 'Title ' || number, 'slug-' || number, 'DRAFT', '{}',
        CASE WHEN number % 100 = 0 THEN 'en' ELSE 'de' END, gen_random_uuid(), now() - make_interval(secs => number)
      FROM generate_series(1, 10000) AS number`.execute(service.db);
    await sql`ANALYZE articles`.execute(service.db);
    const db = createDatabase({ connectionString: service.config.DATABASE_URL, poolSize: 1 });
    const before = await articlesRead(db);
    const question = await readQuestion(db, {
      kind: 'project_categories',
      workspaceId: workspace.id,
      targetId: projectId,
      languages: [],
      result: null,
    });
    const titles = question?.kind === 'project_categories' ? question.titles : [];
    expect(titles).toHaveLength(200);
    expect(titles.slice(0, 3)).toEqual(['A garden in spring', 'Title 100', 'Title 200']);
    // The 20th in the project's language is the last among the newest 2,000; the others follow.
    expect(titles.slice(18, 22)).toEqual(['Title 1800', 'Title 1900', 'Title 1', 'Title 2']);
    expect((await articlesRead(db)) - before).toBeLessThan(2_500);
    await db.destroy();
  });

  it('an empty project gives nothing, calls no model, and does not count toward the month', async () => {
    const empty = await service.project(workspace);
    await expectNothing(await calls.forProject(workspace, empty), { categories: [] }, 0);
    expect(await calls.used(workspace)).toBe(0);
  });
});

describe('suggesting names of a category', () => {
  // contract.md S5
  it('gives one name a language in the order asked for, for half a credit each, rounded up', async () => {
    const { id } = await categories.category(workspace, { en: 'Gardening' });
    const answer = await calls.names(workspace, id, ['ES', 'pt-br', 'de']);
    expect(answer.body).toEqual({
      names: ['es', 'pt-BR', 'de'].map((language) => ({ language, name: '⟦Ĝåŕðéñîñĝ⟧' })),
      credits: 2,
    });
    expect(await calls.wallet(workspace)).toEqual({ balance: 8, reserved: 0 });
    const [category] = await categories.list(workspace);
    expect(category.translations).toHaveLength(1);
  });

  it('leaves unusable languages out, and still suggests a name that clashes', async () => {
    const { id } = await categories.category(workspace, { en: 'Gardening' });
    await categories.category(workspace, { es: 'Jardín' });
    model.reply = async () => ({
      names: [
        { language: 'fr', name: 'Jardin' },
        { language: 'ES', name: 'jardín' },
        { language: 'de', name: '' },
        { language: 'pt-BR', name: 'x'.repeat(81) },
        { language: 'no tag', name: 'Hage' },
      ],
    });
    expect((await calls.names(workspace, id, ['de', 'es', 'pt-BR'])).body).toEqual({
      names: [{ language: 'es', name: 'jardín' }],
      credits: 1,
    });
    expect(model.asked.map(({ question }) => question)).toMatchObject([
      { targets: ['de', 'es', 'pt-BR'] },
      { targets: ['de', 'pt-BR'] },
    ]);
  });

  it('asks once more for languages that are missing, and charges for those that came', async () => {
    const { id } = await categories.category(workspace, { en: 'Gardening' });
    const languages = ['de', 'es', 'fr', 'it', 'ja', 'ko', 'nl', 'pl', 'pt', 'sv'];
    const named = (tags: readonly string[]) => ({
      names: tags.map((language) => ({ language, name: `In ${language}` })),
    });
    model.reply = async () => named(model.asked.length === 1 ? ['es'] : ['sv', 'de']);
    expect((await calls.names(workspace, id, languages)).body).toEqual({
      ...named(['de', 'es', 'sv']),
      credits: 2,
    });
    expect(model.asked).toHaveLength(2);
    expect(await calls.wallet(workspace)).toEqual({ balance: 8, reserved: 0 });
    expect(await calls.ledger(workspace)).toBe(8);

    // What there is stays when the second question fails.
    model.reset();
    model.reply = async () => {
      if (model.asked.length === 2) throw new ProviderError('retryable', 'Busy.');
      return named(['es']);
    };
    expect((await calls.names(workspace, id, languages)).body).toEqual({ ...named(['es']), credits: 1 });
    expect(await calls.wallet(workspace)).toEqual({ balance: 7, reserved: 0 });
  });

  it('understands a tag without the region that was asked for, where it can mean one language only', async () => {
    const { id } = await categories.category(workspace, { de: 'Garten' });
    model.reply = async () => ({
      names: [
        { language: 'en', name: 'Garden' },
        { language: 'pt', name: 'Jardim' },
        { language: 'zh', name: '花园' },
      ],
    });
    const { body } = await calls.names(workspace, id, ['en-GB', 'pt-BR', 'pt-PT', 'zh-Hant']);
    expect(body.names).toEqual([{ language: 'en-GB', name: 'Garden' }]);
  });

  it('no usable name: 200, no names, no credits', async () => {
    const { id } = await categories.category(workspace, { en: 'Gardening' });
    model.reply = async () => ({ names: [] });
    await expectNothing(await calls.names(workspace, id, ['de']), { names: [] }, 2);
  });

  // contract.md S6
  it('refuses no languages, more than ten, one twice, no tags, and the primary language before anything is reserved', async () => {
    const { id } = await categories.category(workspace, { 'pt-BR': 'Jardim' });
    const refusals: [unknown, string][] = [
      [[], '/languages'],
      [Array.from({ length: 11 }, (_, index) => `a${String.fromCharCode(97 + index)}`), '/languages'],
      [['es', 'de', 'ES'], '/languages/2'],
      [['not a tag'], '/languages/0'],
      [undefined, '/languages'],
      [['es', 'PT-br'], '/languages/1'],
    ];
    for (const [languages, pointer] of refusals) {
      const { status, body } = await calls.names(workspace, id, languages);
      expect([languages, status, body.code, body.errors[0].pointer]).toEqual([
        languages,
        400,
        'INVALID_REQUEST',
        pointer,
      ]);
    }
    expect((await calls.names(workspace, newId(), ['es'])).status).toBe(404);
    expect((await calls.names(workspace, 'nonsense', ['es'])).status).toBe(404);
    expect(await calls.operations(workspace)).toEqual([]);
    expect(await calls.used(workspace)).toBe(0);
  });
});

describe('what a paid request cannot have', () => {
  // contract.md S7
  it('credits: 402 before any model call and before 429, and nothing is left behind', async () => {
    const poor = await service.workspace(1);
    const { id } = await categories.category(poor, { en: 'Gardening' });
    await calls.setLimit(poor, 0);
    const refused = await calls.names(poor, id, ['es', 'de', 'fr']);
    expect([refused.status, refused.body.code]).toEqual([402, 'INSUFFICIENT_CREDITS']);
    const limited = await calls.names(poor, id, ['es', 'de']);
    expect([limited.status, limited.body.code]).toEqual([429, 'QUOTA_EXCEEDED']);
    expect(model.asked).toEqual([]);
    expect(await calls.operations(poor)).toEqual([]);
    expect(await calls.used(poor)).toBe(0);
    expect(await calls.wallet(poor)).toEqual({ balance: 1, reserved: 0 });
    expect(await categories.audit(poor, 'categories.names_suggested')).toEqual([]);
  });

  it('an answer: 503 when the model fails for good, released, and the month keeps only what reached it', async () => {
    model.reply = async () => {
      throw new ProviderError('misconfigured', 'The language model refused the credentials (HTTP 401).');
    };
    const answer = await calls.forArticle(workspace, articleId);
    expect([answer.status, answer.body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(await calls.wallet(workspace)).toEqual({ balance: 10, reserved: 0 });
    expect(await calls.operations(workspace)).toMatchObject([{ status: 'failed', hold: 'released' }]);
    expect(await calls.used(workspace)).toBe(1);
  });

  it('a failure that passes is not seen by the client', async () => {
    let failures = 2;
    model.reply = async () => {
      failures -= 1;
      if (failures >= 0) throw new ProviderError('retryable', 'busy', { retryAfterMs: 20 });
      return { language: 'en', existing: [], proposed: [{ name: 'Plants', reason: 'green' }] };
    };
    expect((await calls.forArticle(workspace, articleId)).body.credits).toBe(1);
    expect(model.asked).toHaveLength(3);
    expect(await calls.used(workspace)).toBe(1);
  });
});
