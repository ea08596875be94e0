import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../src/db/transaction.ts';
import { mapTexts } from '../../src/document/format/walk.ts';
import type { ArticleId, AssetId, ProjectId } from '../../src/ids.ts';
import type { TestWorkspace } from '../support/service.ts';
import { useTranslations } from '../support/translating.ts';
import { untilWaiting } from '../translations/support/locks.ts';
import { documentOf, type Editing, editing, PNG, paragraph } from './support.ts';

const { service, workspace, calls } = useTranslations();
let projectId: ProjectId;
let editor: Editing;
let by: TestWorkspace;

beforeAll(async () => {
  by = await service.workspace();
  projectId = await service.project(by);
  editor = editing(service, by);
});

const tagOf = async (id: string) => (await editor.read(id)).contentTag;
const review = (id: string, decision: string, ifMatch?: string) =>
  editor.call(
    'POST',
    `/api/articles/${id}/reviews`,
    { decision },
    ifMatch === undefined ? {} : { 'if-match': ifMatch },
  );
const submitted = async () => {
  const { id } = await editor.create(projectId);
  expect((await editor.submit(id)).status).toBe(200);
  return id;
};
const upload = async (method: 'POST' | 'PUT', path: string): Promise<AssetId> => {
  const response = await editor.upload(method, path, PNG);
  expect(response.status).toBe(201);
  return response.body.asset.id;
};

describe('the tag of the content', () => {
  // contract.md R18
  it('changes with whatever a reviewer reads, and with nothing else', async () => {
    const { id } = await editor.create(projectId);
    const of = `/api/articles/${id}`;
    let tag = await tagOf(id);
    expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/);
    const changes = async (what: string, change: () => Promise<unknown>, wanted = true) => {
      await change();
      const now = await tagOf(id);
      expect([what, now !== tag]).toEqual([what, wanted]);
      tag = now;
    };
    const stays = (what: string, change: () => Promise<unknown>) => changes(what, change, false);

    await changes('title', () => editor.patch(id, { title: 'Another garden' }));
    await changes('document', () => editor.patch(id, { documentJson: documentOf(paragraph('Water them.')) }));
    await changes('meta title', () => editor.patch(id, { metaTitle: 'Meta' }));
    await changes('meta description', () => editor.patch(id, { metaDescription: 'Meta' }));
    await changes('keywords', () => editor.patch(id, { targetKeywords: ['garden'] }));
    await changes('secondary keywords', () => editor.patch(id, { secondaryKeywords: ['beds'] }));
    await changes('a cover', () => upload('PUT', `${of}/hero`));
    let image = '' as AssetId;
    await stays('an image that is not shown', async () => {
      image = await upload('POST', `${of}/assets`);
    });
    await stays('its alternative text', () =>
      editor.call('PATCH', `${of}/assets/${image}`, { altText: 'A bed' }),
    );
    const block = { id: 'i', type: 'image', assetId: image, altText: '' };
    await changes('the image in the body', () => editor.patch(id, { documentJson: documentOf(block) }));
    await changes('the alternative text that it shows', () =>
      editor.call('PATCH', `${of}/assets/${image}`, { altText: 'Beds' }),
    );
    await stays('a save that changes nothing', () => editor.patch(id, { documentJson: documentOf(block) }));
    await stays('a slug', () => editor.patch(id, { slug: 'beds' }));
    await stays('categories', () => editor.call('PUT', `${of}/categories`, { categoryIds: [] }));
    await stays('a move', () => editor.submit(id));
    await stays('a review', () => editor.review(id, 'approved'));
    await stays('a publication', () => editor.publish(id));
    await changes('an image that is gone', () => editor.call('DELETE', `${of}/assets/${image}`));
  });
});

describe('a review', () => {
  // contract.md R19
  it('of the content that was read is kept with its tag; of another content it is 412, and nothing is decided', async () => {
    const id = await submitted();
    const read = await tagOf(id);
    await editor.patch(id, { title: 'Another garden' });
    const before = await editor.read(id);
    const refused = await review(id, 'approved', read);
    expect([refused.status, refused.body.code]).toEqual([412, 'PRECONDITION_FAILED']);
    expect(await editor.read(id)).toEqual(before);
    expect((await editor.call('GET', `/api/articles/${id}/reviews`)).body.reviews).toEqual([]);

    const approved = await review(id, 'approved', before.contentTag);
    expect(approved.status).toBe(201);
    expect(approved.body.review).toMatchObject({ decision: 'approved', contentTag: before.contentTag });
    expect(approved.body.article).toMatchObject({ status: 'APPROVED', contentTag: before.contentTag });
    const [listed] = (await editor.call('GET', `/api/articles/${id}/reviews`)).body.reviews;
    expect(listed).toEqual(approved.body.review);
  });

  // contract.md R19
  it('reads If-Match as a list of tags, of which a weak one never matches', async () => {
    const id = await submitted();
    const tag = await tagOf(id);
    const { headers } = await editor.call('GET', `/api/articles/${id}`);
    for (const [ifMatch, status] of [
      [`W/${tag}`, 412],
      ['"other"', 412],
      [headers.get('etag') ?? '', 412],
      ['content-1', 400],
      ['', 400],
      ['"a', 400],
    ] as const) {
      expect([ifMatch, (await review(id, 'changes_requested', ifMatch)).status]).toEqual([ifMatch, status]);
    }
    const any = await review(id, 'changes_requested', '*');
    expect([any.status, any.body.review.contentTag]).toEqual([201, null]);
    await editor.submit(id);
    const one = await review(id, 'changes_requested', `"other", W/${tag}, ${tag}`);
    expect([one.status, one.body.review.contentTag]).toEqual([201, tag]);
    const status = await review(id, 'approved', tag);
    expect([status.status, status.body.details.reason]).toEqual([409, 'status']);
  });

  // contract.md R19
  it('that waits for a save which is being written is about what that leaves', async () => {
    const id = await submitted();
    const tag = await tagOf(id);
    const waiting = await inTransaction(service.db, async (tx) => {
      await tx
        .updateTable('articles')
        .set((eb) => ({ title: 'Written meanwhile', content_version: eb('content_version', '+', 1) }))
        .where('id', '=', id as ArticleId)
        .execute();
      const answer = review(id, 'approved', tag);
      await untilWaiting(service.db, 1);
      return { answer };
    });
    expect((await waiting.answer).status).toBe(412);
    expect((await editor.read(id)).status).toBe('NEEDS_REVIEW');
  });

  // contract.md R20
  it('without If-Match decides about the article as it is, also after a refresh that was applied while it waited', async () => {
    const { source, article: version, job } = await calls.translate(workspace, 100);
    await calls.untilFinal(workspace, job.id);
    const { contentTag: read } = await calls.readArticle(workspace, version.id);
    const path = `/api/articles/${version.id}/reviews`;
    await calls.save(
      workspace,
      source.id,
      mapTexts(source.document, ({ text }) => ({ text: `${text} more` })),
    );
    const { id } = await calls.refresh(workspace, version.id);
    expect((await calls.untilFinal(workspace, id)).status).toBe('COMPLETED');
    const refreshed = await calls.readArticle(workspace, version.id);
    expect([refreshed.status, refreshed.contentTag === read]).toEqual(['NEEDS_REVIEW', false]);
    const body = { decision: 'approved' };
    expect((await service.call(workspace.key, 'POST', path, body, { 'if-match': read })).status).toBe(412);
    const answer = await service.call(workspace.key, 'POST', path, body);
    expect([answer.status, answer.body.review.contentTag]).toEqual([201, null]);
  });
});
