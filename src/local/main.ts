/** `npm start`: everything the service needs, in one process and two engines. */
import { bootstrapWorkspace, DEFAULT_WORKSPACE } from '../workspaces/bootstrap.ts';
import type { CreatedWorkspace } from '../workspaces/create.ts';
import { runLocally, say } from './run.ts';
import { type LocalService, untilAborted } from './service.ts';

const startedAt = performance.now();

await runLocally({
  name: 'start',
  env: process.env,
  async use(service, signal) {
    // Last, when nothing can fail any more: the key is shown once.
    const created = await bootstrapWorkspace(service.db);
    announce(service, created);
    await untilAborted(signal);
  },
});

function announce({ url, temporalUiUrl, dataDir }: LocalService, created: CreatedWorkspace | null): void {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  say('');
  say(`The service is ready (${seconds} s).`);
  say('');
  say(`  API            ${url}`);
  say(`  Reference      ${url}/docs`);
  if (temporalUiUrl !== null) say(`  Temporal UI    ${temporalUiUrl}`);
  say(`  Data folder    ${dataDir}`);
  if (created !== null) {
    say('');
    say(`The owner key of workspace ${DEFAULT_WORKSPACE} (${created.workspaceId}), shown only once:`);
    say('');
    say(`  ${created.apiKey.key}`);
    say('');
    say('Try it:');
    say('');
    say(`  curl -H 'Authorization: Bearer ${created.apiKey.key}' ${url}/api/whoami`);
  }
  say('');
  say('Ctrl-C stops everything; the data stays.');
}
