import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Category } from '../../src/categories/schemas.ts';
import { createArticle } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { categoryCalls } from './support.ts';

const service = useTestService();

let calls: ReturnType<typeof categoryCalls>;
let workspace: TestWorkspace;
let stranger: TestWorkspace;
beforeAll(async () => {
  calls = categoryCalls(service);
  workspace = await service.workspace();
  stranger = await service.workspace();
});

const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const nameOf = (category: Category, language: string) => {
  const name = category.translations.find((entry) => entry.language === language);
  if (name === undefined) throw new Error(`no name in ${language}`);
  return name;
};

const refusal = (status: number, code: string, ...pointers: string[]) => ({
  status,
  body: expect.objectContaining({
    code,
    ...(pointers.length === 0
      ? {}
      : { errors: pointers.map((pointer) => expect.objectContaining({ pointer })) }),
  }),
});

const namesInTable = async () =>
  (await service.db.selectFrom('category_names').select('id').execute()).length;

describe('a new category', () => {
  // contract.md C1 and C19
  it('has canonical tags, trimmed NFC names sorted by tag, their slugs, and no articleCount', async () => {
    const { status, body } = await service.call(workspace.key, 'POST', calls.pathOf(workspace), {
      primaryLanguage: 'EN',
      translations: [
        { language: 'zh-hans', name: '园艺' },
        { language: 'pt-br', name: '\u00a0 Caf\u0065\u0301 & Jardim ' },
        { language: 'en', name: 'Water  Garden', note: 'ignored' },
        { language: 'en-gb', name: "Gardener's" },
      ],
      color: 'ignored',
    });
    expect(status).toBe(201);
    const { id } = body.category;
    const name = (language: string, text: string, slug: string) => ({
      id: uuid,
      categoryId: id,
      workspaceId: workspace.id,
      language,
      name: text,
      slug,
      createdAt: body.category.createdAt,
      updatedAt: body.category.createdAt,
    });
    expect(body).toEqual({
      category: {
        id: uuid,
        workspaceId: workspace.id,
        primaryLanguage: 'en',
        createdAt: instant,
        updatedAt: body.category.createdAt,
        translations: [
          name('en', 'Water  Garden', 'water-garden'),
          name('en-GB', "Gardener's", 'gardeners'),
          name('pt-BR', 'Café & Jardim', 'cafe-jardim'),
          name('zh-Hans', '园艺', 'category'),
        ],
      },
    });
    const [entry] = await calls.audit(workspace, 'categories.created');
    expect(entry).toMatchObject({ target_id: id, actor_id: workspace.keyId });
  });

  // contract.md C2
  it('takes 1 to 20 names of 1 to 80 characters, counted as characters and after trimming', async () => {
    const own = await service.workspace();
    const languages = Array.from({ length: 20 }, (_, index) => `a${String.fromCharCode(97 + index)}`);
    const names = Object.fromEntries(languages.map((language) => [language, 'x']));
    expect((await calls.create(own, names)).status).toBe(201);
    expect(await calls.create(own, { ...names, zz: 'x' })).toMatchObject(
      refusal(400, 'INVALID_REQUEST', '/translations'),
    );
    expect((await calls.create(own, { en: `  ${'🌱'.repeat(80)}  ` })).status).toBe(201);
    for (const name of ['🌱'.repeat(81), ' \t\u3000 ', '']) {
      expect(await calls.create(own, { en: name })).toMatchObject(
        refusal(400, 'INVALID_REQUEST', '/translations/0/name'),
      );
    }
  });

  // contract.md C3
  it('is refused without a name in its primary language, with two in one language, or with a bad tag', async () => {
    const before = await namesInTable();
    const post = (body: unknown) => service.call(workspace.key, 'POST', calls.pathOf(workspace), body);
    const invalid = (...pointers: string[]) => refusal(400, 'INVALID_REQUEST', ...pointers);
    const fresh = (language: string) => ({ language, name: 'Something new' });
    expect(await post({ primaryLanguage: 'de', translations: [fresh('en')] })).toMatchObject(
      invalid('/translations'),
    );
    expect(await post({ primaryLanguage: 'en', translations: [] })).toMatchObject(invalid('/translations'));
    expect(
      await post({ primaryLanguage: 'en', translations: [fresh('en'), fresh('de'), fresh('EN')] }),
    ).toMatchObject(invalid('/translations/2/language'));
    expect(await post({ primaryLanguage: 'no tag', translations: [fresh('en')] })).toMatchObject(
      invalid('/primaryLanguage'),
    );
    expect(await post({ primaryLanguage: 'en', translations: [fresh('en'), null, 'x'] })).toMatchObject(
      invalid('/translations/1', '/translations/2'),
    );
    expect(await post({})).toMatchObject(invalid('/primaryLanguage', '/translations'));
    expect(await post({ primaryLanguage: 'en', translations: null })).toMatchObject(invalid('/translations'));
    expect(await namesInTable()).toBe(before);
  });

  // contract.md C4
  it('is 409 when its name exists in that language in any case, and free in another language or workspace', async () => {
    const own = await service.workspace();
    await calls.category(own, { en: 'Straße', de: 'Σίσυφος', tr: 'I\u0390' });
    const clash = refusal(409, 'CONFLICT');
    const before = await namesInTable();
    expect(await calls.create(own, { fr: 'Neuf', en: ' STRASSE ' })).toMatchObject(clash);
    expect(await calls.create(own, { de: 'ΣΊΣΥΦΟΣ' })).toMatchObject(clash);
    expect(await calls.create(own, { tr: 'i\u03aa\u0301' })).toMatchObject(clash);
    expect((await calls.create(own, { EN: 'STRASSE' })).body.details).toEqual({ reason: 'name_taken' });
    expect(await namesInTable()).toBe(before);
    // The capital ẞ is a ß; the Turkish ı is not an i, and has no capital of its own.
    expect(await calls.create(own, { en: 'STRAẞE' })).toMatchObject(clash);
    expect((await calls.create(own, { tr: 'Kıl' })).status).toBe(201);
    expect((await calls.create(own, { tr: 'Kil' })).status).toBe(201);
    expect(await calls.create(own, { tr: 'KIL' })).toMatchObject(clash);
    expect(await calls.create(own, { tr: 'kıl' })).toMatchObject(clash);
    expect((await calls.create(own, { fr: 'Straße' })).status).toBe(201);
    expect((await calls.create(stranger, { en: 'Straße' })).status).toBe(201);
  });
});

describe('slugs', () => {
  // contract.md C6
  it('get the shortest free suffix in their workspace and language, and are given back', async () => {
    const own = await service.workspace();
    const slugOf = async (names: Record<string, string>) =>
      nameOf(await calls.category(own, names), 'en').slug;
    const first = await calls.category(own, { en: 'C' });
    expect(nameOf(first, 'en').slug).toBe('c');
    expect(await slugOf({ en: 'C++' })).toBe('c-2');
    expect(await slugOf({ en: 'C#' })).toBe('c-3');
    expect(await slugOf({ en: 'C 2' })).toBe('c-2-2');
    expect(await slugOf({ en: 'Ç', de: 'C' })).toBe('c-4');
    expect(await slugOf({ en: '园艺' })).toBe('category');
    expect(await slugOf({ en: '!!!' })).toBe('category-2');
    await calls.remove(own, first.id);
    expect(await slugOf({ en: 'C!' })).toBe('c');
  });

  it('stay when a rename leaves their form as it is, and change with it otherwise', async () => {
    const own = await service.workspace();
    await calls.category(own, { en: 'News' });
    const category = await calls.category(own, { en: 'News!' });
    const renamed = async (name: string) =>
      nameOf((await calls.rename(own, category.id, { en: name })).body.category, 'en');
    expect(nameOf(category, 'en').slug).toBe('news-2');
    expect(await renamed('NEWS?')).toMatchObject({ name: 'NEWS?', slug: 'news-2' });
    expect(await renamed('News 2')).toMatchObject({ slug: 'news-2' });
    expect(await renamed('Sport')).toMatchObject({ slug: 'sport' });
    expect(await renamed('news.')).toMatchObject({ slug: 'news-2' });
  });
});

describe('a patch', () => {
  // contract.md C7
  it('adds, renames, removes and moves the primary language as one decision', async () => {
    const own = await service.workspace();
    const created = await calls.category(own, { en: 'Garden', de: 'Garten', fr: 'Jardin' });
    const { status, body } = await calls.patch(own, created.id, {
      primaryLanguage: 'ES',
      translations: [
        { language: 'fr', name: 'Jardins' },
        { language: 'es', name: 'Jardín' },
      ],
      removeLanguages: ['EN', 'en', 'it'],
    });
    expect(status).toBe(200);
    const category: Category = body.category;
    expect(category.primaryLanguage).toBe('es');
    expect(category.translations.map(({ language, name }) => [language, name])).toEqual([
      ['de', 'Garten'],
      ['es', 'Jardín'],
      ['fr', 'Jardins'],
    ]);
    expect(category.createdAt).toBe(created.createdAt);
    expect(category.updatedAt > created.updatedAt).toBe(true);
    // A name's own times: kept, set on its rename, set when it was added.
    expect(nameOf(category, 'de')).toEqual(nameOf(created, 'de'));
    expect(nameOf(category, 'fr')).toMatchObject({
      id: nameOf(created, 'fr').id,
      createdAt: created.createdAt,
      updatedAt: category.updatedAt,
    });
    expect(nameOf(category, 'es')).toMatchObject({
      createdAt: category.updatedAt,
      updatedAt: category.updatedAt,
    });
    expect(await calls.list(own)).toEqual([{ ...category, articleCount: 0 }]);

    const moved = await calls.patch(own, created.id, { primaryLanguage: 'de', translations: null });
    expect(moved.body.category).toMatchObject({ primaryLanguage: 'de', translations: category.translations });
    expect(moved.body.category.updatedAt > category.updatedAt).toBe(true);
  });

  // contract.md C11
  it('that changes nothing moves no updatedAt and emits nothing, though the carrier is published', async () => {
    const own = await service.workspace();
    const created = await calls.category(own, { en: 'Garden', de: 'Garten' });
    const article = await createArticle(service.db, own, await service.project(own), {
      status: 'PUBLISHED',
    });
    await calls.assign(own, article.id, [created.id]);
    await calls.forgetEvents(own);
    for (const body of [
      { translations: [{ language: 'EN', name: '  Garden ' }] },
      { removeLanguages: ['fr'], primaryLanguage: 'en' },
      { translations: [], removeLanguages: [] },
    ]) {
      const response = await calls.patch(own, created.id, body);
      expect(response).toMatchObject({ status: 200, body: { category: created } });
    }
    expect(await calls.events(own)).toEqual([]);
    expect(await calls.audit(own, 'categories.updated')).toHaveLength(3);
  });

  // contract.md C8
  it('is refused without a body or field, with a language both named and removed, or without a primary name left', async () => {
    const own = await service.workspace();
    const { id, ...rest } = await calls.category(own, { en: 'Garden', de: 'Garten' });
    const invalid = (...pointers: string[]) => refusal(400, 'INVALID_REQUEST', ...pointers);
    const many = Array.from({ length: 21 }, (_, index) => ({ language: 'en', name: `n${index}` }));
    const cases: [unknown, string[]][] = [
      [undefined, ['']],
      [{}, ['']],
      [{ primaryLanguage: null, translations: null, removeLanguages: null, name: 'x' }, ['']],
      [
        { translations: [{ language: 'EN', name: 'x' }], removeLanguages: ['en'] },
        ['/translations/0/language'],
      ],
      [
        {
          translations: [
            { language: 'fr', name: 'x' },
            { language: 'FR', name: 'y' },
          ],
        },
        ['/translations/1/language'],
      ],
      [{ removeLanguages: ['en'] }, ['/removeLanguages']],
      [
        { removeLanguages: ['en', 'de'], translations: [{ language: 'fr', name: 'x' }] },
        ['/removeLanguages'],
      ],
      [{ primaryLanguage: 'fr' }, ['/primaryLanguage']],
      [{ primaryLanguage: 'de', removeLanguages: ['de'] }, ['/primaryLanguage']],
      [{ translations: many }, ['/translations']],
      [{ removeLanguages: many.map(() => 'fr') }, ['/removeLanguages']],
      [{ translations: [{ language: 'fr', name: ' ' }] }, ['/translations/0/name']],
    ];
    for (const [body, pointers] of cases) {
      expect(await calls.patch(own, id, body), JSON.stringify(body)).toMatchObject(invalid(...pointers));
    }
    expect(await calls.list(own)).toEqual([{ id, ...rest, articleCount: 0 }]);
    expect(await calls.audit(own, 'categories.updated')).toEqual([]);
  });

  // contract.md C9
  it("is 409 for another category's name and leaves nothing; its own name in another case is a rename", async () => {
    const own = await service.workspace();
    await calls.category(own, { en: 'Garden' });
    const other = await calls.category(own, { de: 'Haus', en: 'House' });
    expect(await calls.rename(own, other.id, { de: 'Häuser', en: 'GARDEN' })).toMatchObject(
      refusal(409, 'CONFLICT'),
    );
    expect((await calls.list(own))[1]).toEqual({ ...other, articleCount: 0 });
    const renamed = await calls.rename(own, other.id, { en: 'HOUSE' });
    expect(nameOf(renamed.body.category, 'en')).toMatchObject({ name: 'HOUSE', slug: 'house' });
  });

  it('of an unknown, malformed or foreign category is 404, and so is its deletion', async () => {
    const foreign = await calls.category(stranger, { en: 'Foreign' });
    for (const id of [foreign.id, crypto.randomUUID(), 'nonsense']) {
      expect(await calls.rename(workspace, id, { en: 'x' })).toMatchObject(
        refusal(404, 'RESOURCE_NOT_FOUND'),
      );
      // The result would be refused as well; that it is not there is said first.
      expect((await calls.patch(workspace, id, { primaryLanguage: 'xx' })).status).toBe(404);
      expect((await calls.remove(workspace, id)).status).toBe(404);
    }
    expect(await calls.list(stranger)).toContainEqual({ ...foreign, articleCount: 0 });
  });
});

// contract.md C13
it('lists categories oldest first with the count of articles of every status that carry each', async () => {
  const own = await service.workspace();
  const projectId = await service.project(own);
  const made: Category[] = [];
  for (const name of ['Zebra', 'Apple', 'Mango']) made.push(await calls.category(own, { en: name }));
  const [zebra, apple] = made;
  if (zebra === undefined || apple === undefined) throw new Error('unreachable');
  for (const [status, categories] of [
    ['DRAFT', [zebra.id, apple.id]],
    ['PUBLISHED', [zebra.id]],
    ['PROCESSING', [zebra.id]],
  ] as const) {
    const article = await createArticle(service.db, own, projectId, { status });
    await calls.assign(own, article.id, categories);
  }
  expect(await calls.list(own)).toEqual(
    made.map((category, index) => ({ ...category, articleCount: [3, 1, 0][index] })),
  );
});

// contract.md C20
it('the categories of a workspace have room for 20,000 names in all languages together', async () => {
  const own = await service.workspace();
  const category = await calls.category(own, { en: 'First' });
  const addNames = (count: number, categories: number) =>
    sql`
      WITH made AS (
        INSERT INTO categories (id, workspace_id, primary_language)
        SELECT gen_random_uuid(), ${own.id}, 'en-x-1' FROM generate_series(1, ${categories}::integer) RETURNING id
      ), filled AS (
        SELECT id FROM made UNION ALL SELECT ${category.id}::uuid WHERE ${categories}::integer = 0
      )
      INSERT INTO category_names (id, workspace_id, category_id, language, name, name_key, slug)
      SELECT gen_random_uuid(), ${own.id}, filled.id, 'en-x-' || number, 'n', gen_random_uuid(), gen_random_uuid()
      FROM filled, generate_series(1, ${count}::integer) AS number`.execute(service.db);
  await addNames(199, 100);
  await addNames(98, 0);
  expect(await calls.create(own, { en: 'Second', de: 'Zweite' })).toMatchObject(refusal(409, 'CONFLICT'));
  expect((await calls.create(own, { en: 'Second' })).status).toBe(201);
  const refused = await calls.rename(own, category.id, { de: 'Erste' });
  expect([refused.status, refused.body.details]).toEqual([409, { reason: 'category_limit' }]);
  expect((await calls.rename(own, category.id, { en: 'Renamed' })).status).toBe(200);
  const exchanged = { translations: [{ language: 'de', name: 'Erste' }], removeLanguages: ['en-x-1'] };
  expect((await calls.patch(own, category.id, exchanged)).status).toBe(200);
});

// contract.md C20
it('a category has room for names in 200 languages, and one that has more can still be changed', async () => {
  const own = await service.workspace();
  const category = await calls.category(own, { en: 'First' });
  const addTo = (count: number) =>
    sql`
      INSERT INTO category_names (id, workspace_id, category_id, language, name, name_key, slug)
      SELECT gen_random_uuid(), ${own.id}, ${category.id}, 'de-x-' || gen_random_uuid(), 'n', 'n', 's'
      FROM generate_series(1, ${count}::integer)`.execute(service.db);
  await addTo(198);
  expect((await calls.rename(own, category.id, { de: 'Erste' })).status).toBe(200);
  const refused = await calls.rename(own, category.id, { fr: 'Premier' });
  expect([refused.status, refused.body.details]).toEqual([409, { reason: 'category_limit' }]);
  await addTo(10);
  expect((await calls.rename(own, category.id, { de: 'Anders' })).status).toBe(200);
  const { body } = await calls.patch(own, category.id, { removeLanguages: ['de'] });
  expect(body.category.translations).toHaveLength(209);
});
