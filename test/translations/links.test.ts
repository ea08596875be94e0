/** Where links lead in an article and its translations, whatever is published, translated or deleted first. */
import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { ArticleId, ProjectId } from '../../src/ids.ts';
import { checkAllLinks, documentOf, type Editing, editing, paragraph } from '../articles/support.ts';
import type { TestWorkspace } from '../support/service.ts';
import { useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const { service, calls } = useTranslations();

type Name = 'a' | 'b';
type Language = 'en' | 'es';
const MOVES = ['publish', 'unpublish', 'translate', 'delete'] as const;
const OTHER = { a: 'b', b: 'a' } as const;

/** Two articles that link to each other, and what is known of each and of its Spanish version. */
interface World {
  readonly workspace: TestWorkspace;
  readonly editor: Editing;
  readonly projectId: ProjectId;
  /** Article ids; a deleted one stays here. */
  readonly ids: Map<`${Name} ${Language}`, string>;
  readonly published: Set<string>;
  readonly deleted: Set<string>;
  readonly slugs: Map<string, string>;
}

async function createWorld(): Promise<World> {
  const workspace = await service.workspace(100);
  const editor = editing(service, workspace);
  const projectId = await service.project(workspace);
  await editor.call('PATCH', `/api/projects/${projectId}`, {
    addressTemplate: 'https://example.com/{language}/{slug}',
  });
  const a = await editor.create(projectId, { title: 'First' });
  const b = await editor.create(projectId, { title: 'Second', documentJson: linkTo(a.id) });
  await editor.patch(a.id, { documentJson: linkTo(b.id) });
  const ids = new Map([['a en', a.id] as const, ['b en', b.id] as const]);
  const slugs = new Map([a, b].map(({ id, slug }) => [id, slug]));
  return { workspace, editor, projectId, ids, published: new Set(), deleted: new Set(), slugs };
}

const linkTo = (articleId: string) =>
  documentOf({ ...paragraph('Plants need water'), links: [{ text: 'Plants need water', articleId }] });

const addressOf = ({ slugs }: World, language: Language, id: string) =>
  `https://example.com/${language}/${slugs.get(id)}`;

/** Where the link of an article leads: contract.md F5 has the rule in words. */
function expected(world: World, name: Name, language: Language): string | null {
  const { ids, published } = world;
  const named = ids.get(`${OTHER[name]} en`) ?? '';
  if (!published.has(named)) return null;
  const sibling = language === 'es' ? ids.get(`${OTHER[name]} es`) : undefined;
  return sibling !== undefined && published.has(sibling)
    ? addressOf(world, 'es', sibling)
    : addressOf(world, 'en', named);
}

async function act(world: World, move: (typeof MOVES)[number], name: Name, language: Language) {
  const { editor, workspace, ids, published, deleted, slugs } = world;
  const id = ids.get(`${name} ${language}`);
  if (id === undefined || deleted.has(id)) return;
  if (move === 'publish' && !published.has(id)) {
    if ((await editor.read(id)).status === 'DRAFT') await editor.submit(id);
    await editor.review(id, 'approved');
    expect((await editor.publish(id)).status).toBe(200);
    published.add(id);
  } else if (move === 'unpublish' && published.has(id)) {
    expect((await editor.unpublish(id)).status).toBe(200);
    published.delete(id);
  } else if (move === 'translate' && language === 'en' && !ids.has(`${name} es`)) {
    const { job, article } = await calls.translateTo(workspace, id);
    expect(job.status).toBe('COMPLETED');
    ids.set(`${name} es`, article.id);
    slugs.set(article.id, article.slug);
    const [block] = article.documentJson.blocks;
    const named = ids.get(`${OTHER[name]} en`);
    expect(block !== undefined && 'links' in block && block.links?.[0]?.articleId).toBe(named);
  } else if (move === 'delete') {
    expect((await editor.remove(id)).status).toBe(200);
    published.delete(id);
    deleted.add(id);
  }
}

/** Where the link of each article leads, which is where it should. */
async function addresses(world: World) {
  const { editor, ids, deleted } = world;
  const seen = new Map<string, string | null>();
  for (const [key, id] of ids) {
    if (deleted.has(id)) continue;
    const [name, language] = key.split(' ') as [Name, Language];
    const { contentHtml } = await editor.read(id);
    const address = /href="([^"]+)"/.exec(contentHtml ?? '')?.[1] ?? null;
    expect(address, `${key} of ${[...ids.keys()]}`).toBe(expected(world, name, language));
    seen.set(id, address);
  }
  return seen;
}

/** What each article shows and sends, and that its document and its tag are what they were. */
async function look(world: World) {
  const seen = new Map<string, { address: string | null; sent: number }>();
  for (const [id, address] of await addresses(world)) {
    const { document, version } = await service.db
      .selectFrom('articles')
      .select(['document', 'version'])
      .where('id', '=', id as ArticleId)
      .executeTakeFirstOrThrow();
    seen.set(id, { address, sent: (await updates(world, id)).length });
    written.set(id, JSON.stringify([document, version]));
  }
  return seen;
}
const written = new Map<string, string>();

/** The service's own worker checks, too. */
const untilChecked = ({ workspace }: World) =>
  eventually(
    async () => {
      await checkAllLinks(service.db);
      const { rows } = await sql`
        SELECT FROM address_changes WHERE workspace_id = ${workspace.id}
        UNION ALL SELECT FROM link_checks WHERE workspace_id = ${workspace.id}`.execute(service.db);
      return rows.length;
    },
    (left) => left === 0,
  );

const updates = async ({ editor }: World, id: string) =>
  (await editor.eventTypes(id)).filter((type) => type === 'article.updated');

async function follow(world: World, steps: readonly (readonly [(typeof MOVES)[number], Name, Language])[]) {
  let before = await look(world);
  for (const [move, name, language] of steps) {
    const documents = new Map(written);
    const moved = world.ids.get(`${name} ${language}`) ?? '';
    await act(world, move, name, language);
    await addresses(world);
    await untilChecked(world);
    const after = await look(world);
    for (const [id, { address, sent }] of after) {
      const was = before.get(id);
      if (was === undefined || id === moved) continue;
      // Another article moved: no write to this document, and one event where it is PUBLISHED and shows something else.
      expect(written.get(id)).toBe(documents.get(id));
      const isDue = world.published.has(id) && was.address !== address;
      expect(sent - was.sent, `${move} ${name} ${language}`).toBe(isDue ? 1 : 0);
    }
    before = after;
  }
}

// contract.md F5 and R9
it('two articles that link to each other, each translated in either order, lead to their siblings', async () => {
  for (const [first, second] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const) {
    const world = await createWorld();
    await follow(world, [
      ['publish', first, 'en'],
      ['translate', first, 'en'],
      ['publish', second, 'en'],
      ['publish', first, 'es'],
      ['translate', second, 'en'],
      ['publish', second, 'es'],
      ['unpublish', first, 'es'],
      ['publish', first, 'es'],
      ['unpublish', first, 'en'],
      ['publish', first, 'en'],
      ['delete', second, 'en'],
      ['delete', first, 'en'],
    ]);
  }
});

it('links are right after any order of publications, translations and deletions', async () => {
  const step = fc.tuple(
    fc.constantFrom('publish', 'publish', 'translate', 'unpublish', 'delete' as const),
    fc.constantFrom<Name>('a', 'b'),
    fc.constantFrom<Language>('en', 'es'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 14 }), async (steps) => {
      await follow(await createWorld(), steps);
    }),
    { numRuns: 4 },
  );
});
