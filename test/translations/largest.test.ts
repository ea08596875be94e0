import { expect, it } from 'vitest';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import type { JobId } from '../../src/ids.ts';
import { planSegments } from '../../src/translations/plan.ts';
import { createArticle } from '../support/articles.ts';
import { useTestService } from '../support/service.ts';

const service = useTestService();

/** Bytes of the largest document. */
const MAX_DOCUMENT = 1_048_576;
/** Values it may be made of. */
const MAX_NODES = 100_000;
/** Where Temporal ends a run. */
const MAX_EVENTS = 51_200;
/** Scheduled, started and completed: of the activity of a batch, and of the workflow task that follows it. */
const EVENTS_A_BATCH = 6;
const OTHER_EVENTS = 100;

/** Items a list may have. */
const MAX_ITEMS = 2_000;

/** Lists of so many items that the document is as large as one may be: no two are alike, and each ends so. */
function largest(ending: string): DocumentJson {
  const count = Math.min(Math.floor((MAX_DOCUMENT - 5_000) / (ending.length + 8)), MAX_NODES - 1_000);
  const item = (number: number): string => `t${(100_000 + number).toString(26)}${ending}`;
  return {
    version: 1,
    blocks: Array.from({ length: Math.ceil(count / MAX_ITEMS) }, (_, index) => ({
      id: `l${index}`,
      type: 'list',
      ordered: false,
      items: Array.from({ length: Math.min(MAX_ITEMS, count - index * MAX_ITEMS) }, (_, place) =>
        item(index * MAX_ITEMS + place),
      ),
    })),
  };
}

it.each([
  ['texts just too long to share a batch', ' a'.repeat(200)],
  ['texts of one word', ''],
  ['texts of a word and a half batch', ' a'.repeat(133)],
])('the run of the largest document stays far below what Temporal ends a run at: %s', async (_, ending) => {
  const workspace = await service.workspace(1_000);
  const document = largest(ending);
  expect(JSON.stringify(document).length).toBeLessThanOrEqual(MAX_DOCUMENT);
  const source = await createArticle(service.db, workspace, await service.project(workspace), { document });
  const created = await service.call(workspace.key, 'POST', `/api/articles/${source.id}/translations`, {
    language: 'es',
  });
  const plan = await planSegments(service.db, created.body.job.id as JobId, { name: 'pseudo' });
  expect((plan?.batches ?? Number.NaN) * EVENTS_A_BATCH + OTHER_EVENTS).toBeLessThan(MAX_EVENTS / 2);
});
