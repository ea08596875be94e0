import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import { styleOf } from '../../src/guidance/styles/styles.ts';
import type { ProjectId } from '../../src/ids.ts';
import { createRole } from '../../src/roles/create.ts';
import { emptyDeleted } from '../support/emptying.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';

const service = useTestService();
let workspace: TestWorkspace;
let projectId: ProjectId;
beforeEach(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace, ['en', 'es', 'pt-BR']);
});

const call = (method: string, path = '', body?: unknown, key = workspace.key) =>
  service.call(key, method, `/api/projects/${projectId}/translation-styles${path}`, body);
const style = { formality: 'informal', instructions: 'Short sentences.\nNo exclamation marks.' };

// contract.md V13
it('a style is set as a whole, listed by language, and deleted, with entries of the log that do not quote it', async () => {
  expect((await call('PUT', '/pt-br', style)).body.style).toEqual({
    ...style,
    language: 'pt-BR',
    updatedAt: expect.any(String),
  });
  await call('PUT', '/es', style);
  const replaced = await call('PUT', '/es', { formality: 'formal' });
  expect(replaced.body.style).toMatchObject({ language: 'es', formality: 'formal', instructions: null });
  const { styles } = (await call('GET')).body;
  expect(styles.map(({ language }: { language: string }) => language)).toEqual(['es', 'pt-BR']);
  expect(await styleOf(service.db, projectId, 'pt-BR')).toEqual(style);
  expect(await styleOf(service.db, projectId, 'en')).toBeNull();
  expect((await call('DELETE', '/es')).body).toEqual({ ok: true });
  expect((await call('DELETE', '/es')).status).toBe(404);
  const { body } = await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/audit`);
  const entries = body.entries.filter(({ action }: { action: string }) =>
    action.startsWith('translation_styles.'),
  );
  expect(entries.map(({ details }: { details: unknown }) => details)).toEqual([
    { language: 'es' },
    { language: 'es', formality: 'formal', hasInstructions: false },
    { language: 'es', formality: 'informal', hasInstructions: true },
    { language: 'pt-BR', formality: 'informal', hasInstructions: true },
  ]);
});

it('is refused without content, beyond 2,000 characters, and for a language that the project does not have', async () => {
  const refusals = [
    await call('PUT', '/es', {}),
    await call('PUT', '/es', { formality: 'rude' }),
    await call('PUT', '/es', { instructions: 'x'.repeat(2_001) }),
    await call('PUT', '/de', style),
    await call('PUT', '/no_language', style),
  ];
  expect(refusals.map(({ status }) => status)).toEqual([400, 400, 400, 404, 404]);
  expect((await call('PUT', '/es', { instructions: 'x'.repeat(2_000) })).status).toBe(200);
});

// contract.md V13
it('a project has room for 200, with those of languages that it no longer has, however many are set at once', async () => {
  await sql`
    INSERT INTO translation_styles (workspace_id, project_id, language, formality)
    SELECT ${workspace.id}, ${projectId}, 'de-x-' || n, 'formal' FROM generate_series(1, 199) AS n`.execute(
    service.db,
  );
  const answers = await Promise.all(['/es', '/en', '/pt-BR'].map((path) => call('PUT', path, style)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
    code: 'CONFLICT',
    details: { reason: 'styles_full' },
  });
  const { styles } = (await call('GET')).body;
  expect(styles).toHaveLength(200);
  // One that is there can still be replaced.
  const there = answers.find(({ status }) => status === 200)?.body.style.language;
  expect((await call('PUT', `/${there}`, { formality: 'formal' })).status).toBe(200);
});

// contract.md V14
it('needs translations.configure, and stays while its language is taken from the project', async () => {
  const role = await createRole(workspace.context, { name: 'Reader', permissions: ['articles.read'] });
  const { key } = await createApiKey(workspace.context, { label: 'r', roleId: role.id });
  for (const method of ['PUT', 'DELETE']) {
    const refused = await call(method, '/es', method === 'PUT' ? style : undefined, key);
    expect([refused.status, refused.body.details]).toEqual([
      403,
      { permissions: ['translations.configure'] },
    ]);
  }
  await call('PUT', '/es', style);
  await service.call(workspace.key, 'PATCH', `/api/projects/${projectId}`, { languages: ['en'] });
  expect((await call('GET', '', undefined, key)).body.styles).toHaveLength(1);
  expect((await call('DELETE', '/es')).status).toBe(200);
});

it('goes with its project', async () => {
  await call('PUT', '/es', style);
  expect((await service.call(workspace.key, 'DELETE', `/api/projects/${projectId}`)).status).toBe(200);
  await emptyDeleted(service.db);
  expect(await styleOf(service.db, projectId, 'es')).toBeNull();
});
