/** `npm start`: everything the service needs, in one process and two engines. */
import '../tracing/start.ts';
import { bootstrapWorkspace, DEFAULT_WORKSPACE } from '../workspaces/bootstrap.ts';
import type { CreatedWorkspace } from '../workspaces/create.ts';
import { print, runLocally } from './run-locally.ts';
import { type LocalService, untilAborted } from './service.ts';

const startedAt = performance.now();

await runLocally({
  name: 'start',
  env: process.env,
  async use(service, signal) {
    // Last, after everything that can fail: the key is shown only once.
    const created = await bootstrapWorkspace(service.db);
    announce(service, created);
    await untilAborted(signal);
  },
});

function announce({ url, temporalUiUrl, dataDir }: LocalService, created: CreatedWorkspace | null): void {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  print('');
  print(`The service is ready (${seconds} s).`);
  print('');
  print(`  API            ${url}`);
  print(`  Reference      ${url}/docs`);
  if (temporalUiUrl !== null) print(`  Temporal UI    ${temporalUiUrl}`);
  print(`  Data folder    ${dataDir}`);
  print('');
  if (created === null) {
    print(
      'The owner key was shown by the first start; for another: npm run --silent admin -- key create --help',
    );
  } else {
    print(`The owner key of workspace ${DEFAULT_WORKSPACE} (${created.workspaceId}), shown only once:`);
    print('');
    print(`  ${created.apiKey.key}`);
    print('');
    print('Try it:');
    print('');
    print(`  curl -H 'Authorization: Bearer ${created.apiKey.key}' ${url}/api/whoami`);
  }
  print('');
  print('Ctrl-C stops everything; the data stays.');
}
