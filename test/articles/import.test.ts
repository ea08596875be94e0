import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ImportArticleInput, type ImportContext, importArticle } from '../../src/articles/import.ts';
import { createLocalBlobStore } from '../../src/blobs/blob-store.ts';
import { ServiceError } from '../../src/errors.ts';
import { type ArticleId, newId, type ProjectId } from '../../src/ids.ts';
import { storedBytesOf } from '../../src/media/media.ts';
import { createProject } from '../../src/projects/create.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { listenToAll } from '../support/events.ts';
import { useTestMedia } from '../support/images.ts';

const media = useTestMedia();

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

let database: TestDatabase;
let folder: string;
let context: ImportContext;
let projectId: ProjectId;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(path.join(tmpdir(), 'wcs-import-'));
  const { workspaceId } = await createWorkspace(database.db, { name: 'Import', credits: 0 });
  await listenToAll(database.db, workspaceId);
  context = {
    db: database.db,
    actor: { kind: 'operator', workspaceId },
    requestId: 'import-test',
    blobs: createLocalBlobStore(path.join(folder, 'blobs')),
    media,
  };
  projectId = await createProject(context, { name: 'P', languages: ['en', 'es'], primaryLanguage: 'en' });
});

afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

function fileOf(name: string, content: string | Buffer): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const importFile = (file: string, input: Partial<ImportArticleInput> = {}) =>
  importArticle(context, { projectId, language: 'en', file, status: 'DRAFT', keywords: [], ...input });

const articleOf = (id: ArticleId) =>
  database.db.selectFrom('articles').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** How many rows an import could have left, and the bytes it could have counted. */
async function footprint(): Promise<unknown> {
  const { db } = database;
  const tables = ['articles', 'assets', 'events', 'audit_entries'] as const;
  const counts: number[] = [];
  for (const table of tables) counts.push((await db.selectFrom(table).select('id').execute()).length);
  return { counts, bytes: await db.selectFrom('workspaces').select('storage_bytes_used').execute() };
}

async function refusal(work: () => Promise<unknown>): Promise<ServiceError> {
  const before = await footprint();
  const error = await work().then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServiceError);
  expect(await footprint()).toEqual(before);
  return error as ServiceError;
}

// contract.md E2
it('takes over a Markdown article with its local images and tells what it left out', async () => {
  fileOf('secret.png', PNG);
  fileOf('post/images/dot 1.png', PNG);
  fileOf('post/fake.png', 'not an image');
  symlinkSync(path.join(folder, 'secret.png'), path.join(folder, 'post/link.png'));
  const file = fileOf(
    'post/article.md',
    [
      '# The *title*',
      'Two words, then',
      '![A dot](images/dot%201.png "As small as can be")',
      '![Again](images/dot%201.png)',
      '![Remote](https://example.com/remote.png)',
      '![Above](../secret.png)',
      '![Linked](link.png)',
      '![Fake](fake.png)',
      '![Gone](gone.png)',
      '<img src="data:image/png;base64,AA" alt="">',
    ].join('\n\n'),
  );
  const used = await database.db
    .selectFrom('workspaces')
    .select('storage_bytes_used')
    .executeTakeFirstOrThrow();
  const imported = await importFile(file, { status: 'PUBLISHED', keywords: ['one', 'two'] });

  const article = await articleOf(imported.articleId);
  const assets = await database.db
    .selectFrom('assets')
    .select(['id', 'role', 'content_hash', 'media_type', 'byte_size', 'file_name', 'alt_text'])
    .where('article_id', '=', imported.articleId)
    .execute();
  const [asset] = assets;
  expect(assets).toEqual([
    expect.objectContaining({
      role: 'inline',
      media_type: 'image/png',
      byte_size: PNG.length,
      file_name: 'dot 1.png',
      alt_text: 'A dot',
    }),
  ]);
  const stored = await context.blobs.open(asset?.content_hash ?? '');
  expect(await buffer(stored?.read() ?? ReadableStream.from([]))).toEqual(PNG);
  expect(article).toMatchObject({
    title: 'The title',
    slug: 'the-title',
    status: 'PUBLISHED',
    target_keywords: ['one', 'two'],
    translation_group_id: imported.translationGroupId,
    word_count: imported.wordCount,
    published_at: expect.any(Date),
    content_html: expect.stringContaining('<p>Two words, then</p>'),
    content_places: { images: [{ assetId: asset?.id }, { assetId: asset?.id }] },
  });
  expect(article.document.blocks.map(({ id: _, ...block }) => block)).toEqual([
    { type: 'paragraph', text: 'Two words, then' },
    { type: 'image', assetId: asset?.id, altText: 'A dot', caption: 'As small as can be' },
    { type: 'image', assetId: asset?.id, altText: 'Again' },
    { type: 'paragraph', text: '[Remote](https://example.com/remote.png)', format: 'markdown' },
    { type: 'paragraph', text: 'Above' },
    { type: 'paragraph', text: 'Linked' },
    { type: 'paragraph', text: 'Fake' },
    { type: 'paragraph', text: 'Gone' },
  ]);
  expect(imported.warnings).toEqual([
    expect.stringMatching(/\.\.\/secret\.png is outside/),
    expect.stringMatching(/link\.png is outside/),
    expect.stringMatching(/fake\.png cannot be used: The file is not a PNG/),
    expect.stringMatching(/gone\.png does not exist/),
    'An image has an address that is neither a file nor a web address; only the alternative text was imported.',
  ]);
  const now = await database.db
    .selectFrom('workspaces')
    .select('storage_bytes_used')
    .executeTakeFirstOrThrow();
  expect(now.storage_bytes_used - used.storage_bytes_used).toBe(
    storedBytesOf(await media.processUpload(PNG, '')),
  );
  const events = await database.db
    .selectFrom('events')
    .select('body')
    .where('article_id', '=', imported.articleId)
    .execute();
  expect(events.map(({ body }) => JSON.parse(body.toString()))).toEqual([
    { event: 'article.created', data: { articleId: imported.articleId, projectId, title: 'The title' } },
  ]);
});

it('keeps a document as it is, and takes the title from the option, the first heading or the file', async () => {
  const document = {
    version: 1,
    blocks: [
      { id: 'intro', type: 'paragraph', text: 'One two three.' },
      { id: 'h', type: 'heading', level: 1, text: 'A **bold** heading', format: 'markdown' },
      { id: 'pic', type: 'image', assetId: newId(), altText: 'words that do not count' },
    ],
  };
  const file = fileOf('document.json', JSON.stringify(document));
  const imported = await importFile(file);
  expect(imported.wordCount).toBe(6);
  expect(await articleOf(imported.articleId)).toMatchObject({
    title: 'A bold heading',
    document,
    published_at: null,
  });
  const titled = await importFile(file, { title: 'Given', language: 'es' });
  expect(await articleOf(titled.articleId)).toMatchObject({ title: 'Given', primary_language: 'es' });
  const plain = await importFile(fileOf('No heading here.md', 'Text.'));
  expect(await articleOf(plain.articleId)).toMatchObject({
    title: 'No heading here',
    slug: 'no-heading-here',
  });
});

it('accepts an empty document and gives a second article of one title a slug of its own', async () => {
  const empty = await importFile(fileOf('empty.json', '{"version":1,"blocks":[]}'));
  const again = await importFile(fileOf('empty.md', ''));
  expect([empty.wordCount, again.wordCount]).toEqual([0, 0]);
  expect(await articleOf(empty.articleId)).toMatchObject({ title: 'empty', slug: 'empty', word_count: 0 });
  expect(await articleOf(again.articleId)).toMatchObject({
    slug: 'empty-2',
    document: { version: 1, blocks: [] },
  });
});

const subList = (levels: number): unknown => ({
  ordered: false,
  items: ['deep'],
  ...(levels > 1 ? { children: [subList(levels - 1)] } : {}),
});
const link = { text: 'x', articleId: newId() };
const broken: [rule: string, block: Record<string, unknown>, message: RegExp][] = [
  ['an unknown type', { type: 'video' }, /block "bad" at \/blocks\/1\/type: .*'heading'/],
  [
    'a heading level above 6',
    { type: 'heading', level: 7, text: '' },
    /block "bad" at \/blocks\/1\/level: .*6/,
  ],
  ['a paragraph without text', { type: 'paragraph' }, /block "bad" at \/blocks\/1\/text/],
  [
    '21 links',
    { type: 'paragraph', text: 'x', links: Array(21).fill(link) },
    /block "bad" at \/blocks\/1\/links: .*20/,
  ],
  [
    'a link text of 201 characters',
    { type: 'quote', text: 'x', links: [{ ...link, text: 'y'.repeat(201) }] },
    /block "bad" at \/blocks\/1\/links\/0\/text: .*200/,
  ],
  [
    'an unknown format',
    { type: 'paragraph', text: 'x', format: 'html' },
    /block "bad" at \/blocks\/1\/format/,
  ],
  [
    'a script behind a link',
    { type: 'paragraph', text: 'a [word](javascript:alert)', format: 'markdown' },
    /block "bad" at \/blocks\/1\/text: .*http, https, mailto/,
  ],
  ['five list levels', { type: 'list', ...(subList(5) as object) }, /block "bad" at .*: .*4 levels/],
  [
    'children that do not match the items',
    { type: 'list', ordered: true, items: ['a', 'b'], children: [null] },
    /block "bad" at \/blocks\/1\/children: .*2, not 1/,
  ],
  [
    'an image without a uuid',
    { type: 'image', assetId: '1', altText: '' },
    /block "bad" at \/blocks\/1\/assetId/,
  ],
  [
    'a code language of 41 characters',
    { type: 'code', text: '', language: 'x'.repeat(41) },
    /block "bad" at \/blocks\/1\/language: .*40/,
  ],
  ['a table without columns', { type: 'table', header: [], rows: [] }, /block "bad" at \/blocks\/1\/header/],
  [
    'a row with too few cells',
    { type: 'table', header: ['a', 'b'], rows: [['1']] },
    /block "bad" at \/blocks\/1\/rows\/0: .*2, not 1/,
  ],
  [
    'an align of another length',
    { type: 'table', header: ['a', 'b'], rows: [], align: ['left'] },
    /block "bad" at \/blocks\/1\/align: .*2, not 1/,
  ],
  ['a repeated block id', { id: 'good', type: 'divider' }, /block "good" at \/blocks\/1\/id: .*unique/],
  [
    'a block id of 65 characters',
    { id: 'x'.repeat(65), type: 'divider' },
    /block "x{65}" at \/blocks\/1\/id: .*64/,
  ],
  ['no block id', { id: undefined, type: 'divider' }, /block number 2 at \/blocks\/1\/id/],
  ['a NUL character', { type: 'code', text: 'a\0b' }, /block "bad" at \/blocks\/1\/text: .*NUL/],
];

it.each(broken)(
  'refuses a document with %s by naming block and rule, and stores nothing',
  async (_, block, message) => {
    const document = {
      version: 1,
      blocks: [
        { id: 'good', type: 'divider' },
        { id: 'bad', ...block },
      ],
    };
    const error = await refusal(() => importFile(fileOf('broken.json', JSON.stringify(document))));
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', message: expect.stringMatching(message) });
  },
);

it('refuses unreadable files, foreign projects and unknown languages, and stores nothing', async () => {
  const fine = fileOf('fine.md', 'Fine.');
  const cases: [work: () => Promise<unknown>, message: RegExp][] = [
    [() => importFile(fine, { language: 'de' }), /language de is not one of the project's languages: en, es/],
    [() => importFile(fine, { projectId: newId<ProjectId>() }), /No such project/],
    [() => importFile(path.join(folder, 'missing.md')), /missing\.md does not exist/],
    [() => importFile(folder), /is not a file/],
    [() => importFile(fileOf('latin1.md', Buffer.from('caf\xe9', 'latin1'))), /not encoded as UTF-8/],
    [() => importFile(fileOf('half.json', '{"version":1,')), /not valid JSON/],
    [() => importFile(fileOf('array.json', '[]')), /the document: .*object/],
    [() => importFile(fileOf('page.html', '<p>')), /neither a Markdown/],
  ];
  for (const [work, message] of cases) expect((await refusal(work)).message).toMatch(message);
});

it('refuses images beyond the storage quota and leaves nothing behind', async () => {
  const small = await createWorkspace(database.db, { name: 'Small', credits: 0 });
  const actor = { kind: 'operator', workspaceId: small.workspaceId } as const;
  const own = await createProject(
    { ...context, actor },
    { name: 'P', languages: ['en'], primaryLanguage: 'en' },
  );
  await database.db
    .updateTable('workspaces')
    .set({ storage_bytes_limit: PNG.length - 1 })
    .where('id', '=', small.workspaceId)
    .execute();
  fileOf('full/dot.png', PNG);
  const file = fileOf('full/article.md', '![dot](dot.png)');
  const input = { projectId: own, language: 'en', file, status: 'DRAFT', keywords: [] } as const;
  const error = await refusal(() => importArticle({ ...context, actor }, input));
  expect(error.code).toBe('QUOTA_EXCEEDED');
});
