import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const EDITORS = 50;
const VERSIONS = 10;
const ROUNDS = 2;

const { service, provider, workspace, calls } = useTranslations({ credits: 1_000, hasSchedules: true });

it('fifty editors who save, publish, unpublish and delete while refreshes run lose no save, meet no refresh, and leave credits and bytes exact', {
  timeout: 120_000,
}, async () => {
  const project = await service.project(workspace);
  const base: DocumentJson = {
    version: 1,
    blocks: Array.from({ length: EDITORS / VERSIONS + 1 }, (_, index) => ({
      id: `p${index}`,
      type: 'paragraph' as const,
      text: `The text of number ${index} here.`,
    })),
  };
  const call = (method: string, path: string, body?: unknown, headers = {}) =>
    service.call(workspace.key, method, `/api/articles/${path}`, body, headers);
  const pairs = await Promise.all(
    Array.from({ length: VERSIONS }, async (_, index) => {
      const body = { title: `Garden ${index}`, documentJson: base };
      const created = await service.call(workspace.key, 'POST', `/api/projects/${project}/articles`, body);
      expect(created.status).toBe(201);
      const sourceId: string = created.body.article.id;
      const { article } = await calls.translateTo(workspace, sourceId);
      return { sourceId, versionId: article.id };
    }),
  );
  provider.behave = () => sleep(20);
  const conflicts: unknown[] = [];
  /** What each editor saved last, by version and block. */
  const saved = new Map<string, string>();

  /** Saves one's own block as an editor does: reads, changes, and again when somebody was faster. */
  const saveOwn = async (versionId: string, block: string, text: string): Promise<void> => {
    for (;;) {
      const read = await call('GET', versionId);
      if (read.status === 404) return;
      const { documentJson } = read.body.article as { documentJson: DocumentJson };
      const blocks = documentJson.blocks.map((each) => (each.id === block ? { ...each, text } : each));
      const headers = { 'If-Match': read.headers.get('etag') ?? '' };
      const response = await call('PATCH', versionId, { documentJson: { version: 1, blocks } }, headers);
      if (response.status === 412) continue;
      if (response.status === 200) saved.set(`${versionId} ${block}`, text);
      else if (response.status !== 404) conflicts.push(response.body);
      return;
    }
  };
  const editing = pairs.flatMap(({ versionId }, version) =>
    Array.from({ length: EDITORS / VERSIONS }, async (_, editor) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await saveOwn(versionId, `p${editor}`, `Editor ${editor}, vuelta ${round}.`);
        if (editor > 0) continue;
        // One of them also moves the version about; a status that another move left is no refresh's doing.
        for (const move of ['submit', 'publish', 'unpublish']) await moveBy(versionId, move);
        if (version === 0 && round === ROUNDS - 1) await call('DELETE', versionId);
      }
    }),
  );
  async function moveBy(versionId: string, move: string): Promise<void> {
    if (move === 'publish') await call('POST', `${versionId}/reviews`, { decision: 'approved' });
    const { status, body } = await call('POST', `${versionId}/${move}`);
    if (status === 409 && body.details.reason !== 'status') conflicts.push(body);
  }
  const refreshing = pairs.map(async ({ sourceId, versionId }) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const blocks = base.blocks.map((each) => ({
        ...each,
        text: `A text changed in round ${round}, ${each.id}.`,
      }));
      await call('PATCH', sourceId, { documentJson: { version: 1, blocks } });
      const request = () => call('POST', `${versionId}/refresh`, { apply: 'untouched' });
      // A crowd on a busy machine may get 503: a client tries again.
      const { status, body } = await eventually(request, (response) => response.status !== 503);
      if (status === 202) await calls.untilFinal(workspace, body.job.id).catch(() => undefined);
      else if (status !== 404) expect(body.details.reason, JSON.stringify(body)).toBe('up_to_date');
    }
  });
  await Promise.all([...editing, ...refreshing]);
  expect(conflicts).toEqual([]);

  await eventually(
    () => service.db.selectFrom('jobs').select('id').where('ended_at', 'is', null).execute(),
    (open) => open.length === 0,
  );
  for (const { versionId } of pairs.slice(1)) {
    const { documentJson } = (await call('GET', versionId)).body.article as { documentJson: DocumentJson };
    for (const block of documentJson.blocks) {
      const own = saved.get(`${versionId} ${block.id}`);
      if (own !== undefined) expect('text' in block && block.text).toBe(own);
    }
  }
  expect((await call('GET', pairs[0]?.versionId ?? '')).status).toBe(404);
  const { rows } = await sql<{
    reserved: number;
    balance: number;
    ledger: number;
    used: number;
    assets: number;
  }>`
    SELECT reserved::integer, balance::integer,
      (SELECT sum(amount)::integer FROM ledger_entries WHERE workspace_id = wallets.workspace_id) AS ledger,
      (SELECT storage_bytes_used::integer FROM workspaces WHERE id = wallets.workspace_id) AS used,
      (SELECT coalesce(sum(byte_size), 0)::integer FROM assets WHERE workspace_id = wallets.workspace_id) AS assets
    FROM wallets WHERE workspace_id = ${workspace.id}`.execute(service.db);
  const [{ reserved, balance, ledger, used, assets } = {}] = rows;
  expect({ reserved, balance, used }).toEqual({ reserved: 0, balance: ledger, used: assets });
});
