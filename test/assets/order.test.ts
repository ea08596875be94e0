import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { importArticle } from '../../src/articles/import.ts';
import type { Asset } from '../../src/assets/schemas.ts';
import { blobFolder, createLocalBlobStore } from '../../src/blobs/blob-store.ts';
import { type Editing, editing, PNG } from '../articles/support.ts';
import { useTestMedia } from '../support/images.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { translating } from '../support/translating.ts';

const media = useTestMedia();

let workspace: TestWorkspace;
let editor: Editing;
const folder = mkdtempSync(path.join(tmpdir(), 'wcs-order-'));
const service = useTestService({ DATA_DIR: folder });

beforeAll(async () => {
  workspace = await service.workspace();
  editor = editing(service, workspace);
  await service.startWorker();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

const namesOf = async (articleId: string): Promise<string[]> =>
  (await editor.call('GET', `/api/articles/${articleId}/assets`)).body.assets.map(
    (asset: Asset) => asset.fileName,
  );

it('an import, a duplicate and a translation have the images in the order of the source', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `${String.fromCharCode(108 - index)}.png`);
  for (const name of names) writeFileSync(path.join(folder, name), Buffer.concat([PNG, Buffer.from(name)]));
  const file = path.join(folder, 'article.md');
  writeFileSync(file, names.map((name) => `Before ${name}\n\n![Image](${name})\n`).join('\n'));
  const { articleId } = await importArticle(
    { ...workspace.context, blobs: createLocalBlobStore(blobFolder(folder)), media },
    {
      projectId: await service.project(workspace),
      language: 'en',
      file,
      status: 'DRAFT',
      keywords: [],
    },
  );
  const duplicate = await editor.call('POST', `/api/articles/${articleId}/duplicate`);
  const translation = await editor.call('POST', `/api/articles/${articleId}/translations`, {
    language: 'es',
  });
  await translating(service).untilFinal(workspace, translation.body.job.id);
  for (const id of [articleId, duplicate.body.article.id, translation.body.article.id]) {
    expect(await namesOf(id)).toEqual(names);
  }
});
