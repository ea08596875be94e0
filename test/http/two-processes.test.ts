import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import { createRole } from '../../src/roles/create.ts';
import { type ServiceProcess, startProcess } from '../support/processes.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { send } from './support/api.ts';

const service = useTestService();

const ROUNDS = 10;

let workspace: TestWorkspace;
let processes: ServiceProcess[];
let urls: string[];

/** Waits for nothing: a process is there once it has said where it listens. */
const urlOf = (started: ServiceProcess): string => /listening on (http:[^"]+)/.exec(started.log())?.[1] ?? '';

beforeAll(async () => {
  workspace = await service.workspace();
  processes = await Promise.all([1, 2].map(() => startProcess('server.ts', service.env)));
  urls = processes.map(urlOf);
});
afterAll(async () => {
  for (const started of processes) started.kill('SIGTERM');
  await Promise.all(processes.map(({ ended }) => ended));
});

/** Both orders, again and again: what one process writes, the other's very next request obeys. */
async function inTurns(work: (writer: string, reader: string) => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [first = '', second = ''] = round % 2 === 0 ? urls : urls.toReversed();
    await work(first, second);
  }
}

// contract.md A4
test('a role edited in one process counts for the next request in another', async () => {
  const { id: roleId } = await createRole(workspace.context, { name: 'Reader', permissions: [] });
  const { key } = await createApiKey(workspace.context, { label: 'reader', roleId });
  const edit = (url: string, permissions: string[]) =>
    send(url, 'PATCH', `/api/workspaces/${workspace.id}/roles/${roleId}`, {
      key: workspace.key,
      body: { permissions },
    });
  const read = async (url: string) =>
    (await send(url, 'GET', `/api/workspaces/${workspace.id}/wallet`, { key })).status;
  await inTurns(async (writer, reader) => {
    expect(await read(reader)).toBe(403);
    expect((await edit(writer, ['credits.read'])).status).toBe(200);
    expect(await read(reader)).toBe(200);
    expect((await edit(writer, [])).status).toBe(200);
    expect(await read(reader)).toBe(403);
  });
});

test('a key revoked or rotated in one process is refused by the next request in another', async () => {
  const keys = `/api/workspaces/${workspace.id}/api-keys`;
  await inTurns(async (writer, reader) => {
    const whoami = async (key: string) => (await send(reader, 'GET', '/api/whoami', { key })).status;
    const { body: made } = await send(writer, 'POST', keys, {
      key: workspace.key,
      body: { label: 'short-lived', roleId: workspace.roles.editor },
    });
    expect(await whoami(made.key)).toBe(200);
    const { body: rotated } = await send(writer, 'POST', `${keys}/${made.apiKey.id}/rotate`, {
      key: workspace.key,
    });
    expect([await whoami(made.key), await whoami(rotated.key)]).toEqual([401, 200]);
    await send(writer, 'DELETE', `${keys}/${rotated.apiKey.id}`, { key: workspace.key });
    expect(await whoami(rotated.key)).toBe(401);
  });
});

test('a server that is stopped has written its whole log, to the last line', async () => {
  const last = await startProcess('server.ts', service.env);
  const { body } = await send(urlOf(last), 'GET', '/api/whoami', { key: workspace.key });
  expect(body.permissions.length).toBeGreaterThan(0);
  last.kill('SIGTERM');
  expect(await last.ended).toBe(0);
  expect(last.log()).toContain('"route":"/api/whoami"');
  expect(last.log()).toMatch(/"msg":"stopping.*\n$/);
});
