import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import { voiceFor } from '../../src/guidance/brand-voices/queries.ts';
import { BUILT_IN_TEMPLATES } from '../../src/guidance/content-templates/built-in.ts';
import { templateFor } from '../../src/guidance/content-templates/queries.ts';
import type { ProjectId } from '../../src/ids.ts';
import { deleteWorkspace } from '../../src/workspaces/delete.ts';
import { emptyDeleted } from '../support/emptying.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';

const service = useTestService();

let workspace: TestWorkspace;
let projectId: ProjectId;
beforeEach(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
});

/** The two areas, which are alike but for the field that holds the text. */
const VOICES = { path: 'brand-voices', one: 'brandVoice', many: 'brandVoices', field: 'instructions' };
const TEMPLATES = {
  path: 'content-templates',
  one: 'contentTemplate',
  many: 'contentTemplates',
  field: 'text',
};
const AREAS = [
  { ...VOICES, most: 4_000, limit: 'brand_voice_limit' },
  { ...TEMPLATES, most: 8_000, limit: 'content_template_limit' },
];

const call = (method: string, suffix: string, body?: unknown, { id, key } = workspace) =>
  service.call(key, method, `/api/workspaces/${id}/${suffix}`, body);
const patchProject = (body: unknown, id = projectId) =>
  service.call(workspace.key, 'PATCH', `/api/projects/${id}`, body);
const newVoice = async (name: string, more: Record<string, unknown> = {}, owner = workspace) =>
  (await call('POST', 'brand-voices', { name, instructions: `As ${name}.`, ...more }, owner)).body.brandVoice;
const newTemplate = async (name: string, owner = workspace) =>
  (await call('POST', 'content-templates', { name, text: `Like ${name}.` }, owner)).body.contentTemplate;
const reasonOf = ({ status, body }: { status: number; body: { details?: { reason?: string } } }) => [
  status,
  body.details?.reason,
];
const auditOf = async (id: string) =>
  (
    await service.db
      .selectFrom('audit_entries')
      .select(['action', 'details'])
      .where('target_id', '=', id)
      .orderBy('id')
      .execute()
  ).map(({ action, details }) => [action, details]);

// contract.md G50
it('a voice is created, read, listed by name without its instructions, changed and deleted, each in the audit', async () => {
  const created = await call('POST', 'brand-voices', { name: ' Warm ', instructions: ' Kind.\nPlain. ' });
  const voice = created.body.brandVoice;
  expect([created.status, voice]).toEqual([
    201,
    {
      id: expect.any(String),
      name: 'Warm',
      instructions: 'Kind.\nPlain.',
      isDefault: false,
      createdAt: expect.any(String),
      updatedAt: voice.createdAt,
    },
  ]);
  const path = `brand-voices/${voice.id}`;
  await newVoice('Cool');
  const { instructions: _, ...summary } = voice;
  expect((await call('GET', 'brand-voices')).body.brandVoices).toEqual([
    expect.objectContaining({ name: 'Cool' }),
    summary,
  ]);
  expect((await call('PATCH', path, {})).body.brandVoice).toEqual(voice);
  const changed = (await call('PATCH', path, { name: 'WARM', instructions: 'Kinder.' })).body.brandVoice;
  expect(changed).toMatchObject({ name: 'WARM', instructions: 'Kinder.' });
  expect((await call('GET', path)).body.brandVoice).toEqual(changed);
  expect((await call('DELETE', path)).body).toEqual({ ok: true });
  expect((await call('GET', path)).status).toBe(404);
  expect(await auditOf(voice.id)).toEqual([
    ['brand_voices.created', { name: 'Warm', isDefault: false }],
    ['brand_voices.updated', { name: 'WARM', isDefault: false, changed: ['name', 'instructions'] }],
    ['brand_voices.deleted', { name: 'WARM' }],
  ]);
});

// contract.md G54
it('the built-in templates come first, with ids of their own, and can be read but neither edited nor deleted', async () => {
  const own = await newTemplate('Aardvark');
  const { contentTemplates } = (await call('GET', 'content-templates')).body;
  expect(contentTemplates.map((listed: Record<string, unknown>) => [listed.id, listed.builtIn])).toEqual([
    ['2bbfb561-c253-4170-a8ef-6a944e311ccb', true],
    ['170f417c-909d-4b82-a4de-e01cec8a494d', true],
    ['41680c30-7416-47b4-bd8b-c90f3412bca0', true],
    ['2f861fc3-3fcb-498b-84bd-4820feaabb3f', true],
    ['32dc77ee-a0bd-45c7-99b2-7d74d7b84b63', true],
    [own.id, false],
  ]);
  for (const { id, name, text } of BUILT_IN_TEMPLATES) {
    const path = `content-templates/${id}`;
    expect((await call('GET', path)).body.contentTemplate).toEqual({
      id,
      name,
      text,
      builtIn: true,
      createdAt: null,
      updatedAt: null,
    });
    for (const refused of [await call('PATCH', path, { text: 'Mine.' }), await call('DELETE', path)]) {
      expect(reasonOf(refused)).toEqual([409, 'built_in_template']);
    }
    const taken = [
      await call('POST', 'content-templates', { name: name.toUpperCase(), text: 'Mine.' }),
      await call('PATCH', `content-templates/${own.id}`, { name }),
    ];
    expect(taken.map(reasonOf)).toEqual(Array(2).fill([409, 'name_taken']));
  }
  const changed = await call('PATCH', `content-templates/${own.id}`, { text: 'Shorter.' });
  expect(changed.body.contentTemplate).toMatchObject({ name: 'Aardvark', text: 'Shorter.', builtIn: false });
  expect((await call('DELETE', `content-templates/${own.id}`)).body).toEqual({ ok: true });
  expect(await auditOf(own.id)).toEqual([
    ['content_templates.created', { name: 'Aardvark' }],
    ['content_templates.updated', { name: 'Aardvark', changed: ['text'] }],
    ['content_templates.deleted', { name: 'Aardvark' }],
  ]);
});

it('names and texts have their bounds, and a name is free once in a workspace, in any case', async () => {
  const stranger = await service.workspace();
  for (const { path, one, field, most } of AREAS) {
    const create = (name: unknown, text: unknown, owner = workspace) =>
      call('POST', path, { name, [field]: text }, owner);
    const longest = await create('n'.repeat(120), '🌱'.repeat(most));
    expect(longest.status).toBe(201);
    const { id } = longest.body[one];
    const bad = [
      [await create('', 'x'), '/name'],
      [await create('n'.repeat(121), 'x'), '/name'],
      [await create('Y', '  '), `/${field}`],
      [await create('Y', 'x'.repeat(most + 1)), `/${field}`],
      [await create('Y', null), `/${field}`],
      [await call('PATCH', `${path}/${id}`, { [field]: 'x'.repeat(most + 1) }), `/${field}`],
    ] as const;
    for (const [response, pointer] of bad) {
      expect([response.status, response.body.errors[0].pointer]).toEqual([400, pointer]);
    }
    expect((await create('Straße', 'x')).status).toBe(201);
    for (const taken of [
      await create('STRASSE', 'x'),
      await call('PATCH', `${path}/${id}`, { name: 'strasse' }),
    ]) {
      expect(reasonOf(taken)).toEqual([409, 'name_taken']);
    }
    expect((await create('Straße', 'x', stranger)).status).toBe(201);
    const both = await Promise.all([create('Twice', 'x'), create('twice', 'x')]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    for (const refused of [
      await call('GET', `${path}/${id}`, undefined, stranger),
      await call('PATCH', `${path}/${id}`, { name: 'Mine' }, stranger),
      await call('DELETE', `${path}/${id}`, undefined, stranger),
    ]) {
      expect(refused.status).toBe(404);
    }
  }
});

// contract.md G50
it('a workspace has room for 100 voices and 100 templates of its own, however many are created at once', async () => {
  for (const { path, many, field, limit } of AREAS) {
    const create = (number: number) => call('POST', path, { name: `Number ${number}`, [field]: 'x' });
    for (let number = 0; number < 97; number += 1) await create(number);
    const last = await Promise.all(Array.from({ length: 10 }, (_, index) => create(100 + index)));
    expect(last.filter(({ status }) => status === 201)).toHaveLength(3);
    for (const refused of last.filter(({ status }) => status !== 201)) {
      expect(reasonOf(refused)).toEqual([409, limit]);
    }
    const listed = (await call('GET', path)).body[many];
    expect(listed.filter(({ builtIn = false }) => !builtIn)).toHaveLength(100);
  }
});

// contract.md G56
it('who only writes articles reads voices and templates, and configures none', async () => {
  const { key } = await createApiKey(workspace.context, { label: 'e', roleId: workspace.roles.editor });
  const editor = { ...workspace, key };
  for (const { path, field } of AREAS) {
    expect((await call('GET', path, undefined, editor)).status).toBe(200);
    const refused = await call('POST', path, { name: 'Mine', [field]: 'x' }, editor);
    expect([refused.status, refused.body.details]).toEqual([403, { permissions: ['generation.configure'] }]);
  }
});

// contract.md G51
it('one voice of a workspace is its default: it passes from one to the other, also when two are made it at once', async () => {
  const defaults = async () =>
    (await call('GET', 'brand-voices')).body.brandVoices
      .filter(({ isDefault }: { isDefault: boolean }) => isDefault)
      .map(({ id }: { id: string }) => id);
  const first = await newVoice('First', { isDefault: true });
  const second = await newVoice('Second', { isDefault: true });
  expect(await defaults()).toEqual([second.id]);
  const set = (id: string, isDefault: boolean) => call('PATCH', `brand-voices/${id}`, { isDefault });
  for (let round = 0; round < 10; round += 1) {
    const both = await Promise.all([set(first.id, true), set(second.id, true)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(await defaults()).toHaveLength(1);
  }
  await set(first.id, true);
  await set(first.id, false);
  expect(await defaults()).toEqual([]);
});

// contract.md G53
it("a generation is written in the voice it names, else in the project's default, else in the workspace's, else in none", async () => {
  const stranger = await service.workspace();
  const foreign = await newVoice('Foreign', {}, stranger);
  const voice = (brandVoiceId?: string | null, project = projectId) =>
    voiceFor(service.db, { workspaceId: workspace.id, projectId: project, brandVoiceId });
  const unknown = [undefined, null, randomUUID(), foreign.id];
  const all = () => Promise.all(unknown.map((id) => voice(id)));
  const named = await newVoice('Named');
  expect(await all()).toEqual(Array(4).fill(null));
  const ofWorkspace = await newVoice('Workspace', { isDefault: true });
  expect(await all()).toEqual(Array(4).fill('As Workspace.'));
  const ofProject = await newVoice('Project');
  await patchProject({ defaultBrandVoiceId: ofProject.id });
  expect(await all()).toEqual(Array(4).fill('As Project.'));
  expect(await voice(null, await service.project(workspace))).toBe('As Workspace.');
  expect(await voice(named.id)).toBe('As Named.');
  expect(await voice(ofWorkspace.id)).toBe('As Workspace.');

  await call('DELETE', `brand-voices/${named.id}`);
  expect(await voice(named.id)).toBe('As Project.');
  await call('DELETE', `brand-voices/${ofProject.id}`);
  expect(await voice(ofProject.id)).toBe('As Workspace.');
  const { body } = await service.call(workspace.key, 'GET', `/api/projects/${projectId}`);
  expect(body.project.defaultBrandVoiceId).toBeNull();
  await call('DELETE', `brand-voices/${ofWorkspace.id}`);
  expect(await voice(ofWorkspace.id)).toBeNull();
});

// contract.md G55
it("a generation is built by a built-in template or one of the workspace's own; any other id counts as none", async () => {
  const stranger = await service.workspace();
  const template = (contentTemplateId?: string | null) =>
    templateFor(service.db, { workspaceId: workspace.id, contentTemplateId });
  const own = await newTemplate('Own');
  const foreign = await newTemplate('Foreign', stranger);
  expect(await template(own.id)).toBe('Like Own.');
  for (const { id, text } of BUILT_IN_TEMPLATES) expect(await template(id)).toBe(text);
  await call('DELETE', `content-templates/${own.id}`);
  for (const id of [own.id, foreign.id, randomUUID(), null, undefined]) expect(await template(id)).toBeNull();
});

// contract.md G52
it('a project has styles of its images and a default voice, each changed and cleared by itself', async () => {
  const settings = async (body: unknown) => {
    const { imageSettings, defaultBrandVoiceId } = (await patchProject(body)).body.project;
    return [imageSettings.hero.style, imageSettings.inline.style, defaultBrandVoiceId];
  };
  const { id } = await newVoice('Warm');
  expect(await settings({ imageSettings: { hero: { style: 'cinematic' } } })).toEqual([
    'cinematic',
    null,
    null,
  ]);
  expect(
    await settings({ imageSettings: { inline: { style: '3d-render' } }, defaultBrandVoiceId: id }),
  ).toEqual(['cinematic', '3d-render', id]);
  expect(await settings({ name: 'Other', imageSettings: { hero: {} } })).toEqual([
    'cinematic',
    '3d-render',
    id,
  ]);
  expect(await settings({ imageSettings: { hero: { style: null } }, defaultBrandVoiceId: null })).toEqual([
    null,
    '3d-render',
    null,
  ]);
  const foreign = await newVoice('Foreign', {}, await service.workspace());
  const bad: [unknown, string][] = [
    [{ defaultBrandVoiceId: randomUUID() }, '/defaultBrandVoiceId'],
    [{ defaultBrandVoiceId: foreign.id, languages: ['en'] }, '/defaultBrandVoiceId'],
    [{ defaultBrandVoiceId: 'warm' }, '/defaultBrandVoiceId'],
    [{ imageSettings: { hero: { style: 'crayon' } } }, '/imageSettings/hero/style'],
    [{ imageSettings: { inline: { style: 7 } } }, '/imageSettings/inline/style'],
  ];
  for (const [body, pointer] of bad) {
    const response = await patchProject(body);
    expect([response.status, response.body.errors[0].pointer]).toEqual([400, pointer]);
  }
  expect((await auditOf(projectId)).at(-1)).toEqual([
    'projects.updated',
    expect.objectContaining({
      heroImageStyle: null,
      inlineImageStyle: '3d-render',
      defaultBrandVoiceId: null,
    }),
  ]);
});

// contract.md G52
it('a voice that is deleted while a project makes it its default leaves no project with a voice that is gone', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { id } = await newVoice('Passing');
    const [set, deleted] = await Promise.all([
      patchProject({ defaultBrandVoiceId: id }),
      call('DELETE', `brand-voices/${id}`),
    ]);
    expect([200, 400]).toContain(set.status);
    expect(deleted.status).toBe(200);
    const { body } = await service.call(workspace.key, 'GET', `/api/projects/${projectId}`);
    expect(body.project.defaultBrandVoiceId).toBeNull();
  }
});

// contract.md G56
it('voices and templates stay when their projects go, and go with their workspace', async () => {
  const { id } = await newVoice('Warm', { isDefault: true });
  await newTemplate('Own');
  await patchProject({ defaultBrandVoiceId: id });
  await service.call(workspace.key, 'DELETE', `/api/projects/${projectId}`);
  expect((await call('GET', `brand-voices/${id}`)).status).toBe(200);
  await patchProject({ defaultBrandVoiceId: id }, await service.project(workspace));
  await deleteWorkspace(workspace.context);
  await emptyDeleted(service.db);
  for (const table of ['brand_voices', 'content_templates', 'projects'] as const) {
    const rows = await service.db
      .selectFrom(table)
      .select('id')
      .where('workspace_id', '=', workspace.id)
      .execute();
    expect([table, rows]).toEqual([table, []]);
  }
});
