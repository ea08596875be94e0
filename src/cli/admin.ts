/** The operator's command line: `npm run --silent admin -- <command>`. */
import { Command } from 'commander';
import { articleCommand } from './commands/article.ts';
import { auditCommand } from './commands/audit.ts';
import { creditsCommand } from './commands/credits.ts';
import { deliveryCommand } from './commands/delivery.ts';
import { endpointCommand } from './commands/endpoint.ts';
import { ideasCommand } from './commands/idea-clusters.ts';
import { jobCommand } from './commands/job.ts';
import { keyCommand } from './commands/key.ts';
import { projectCommand } from './commands/project.ts';
import { queueCommand } from './commands/queue.ts';
import { quotaCommand } from './commands/quota.ts';
import { roleCommand } from './commands/role.ts';
import { secretsCommand } from './commands/secrets.ts';
import { walletCommand } from './commands/wallet.ts';
import { workspaceCommand } from './commands/workspace.ts';
import { reportFailure } from './session.ts';

const program = new Command('admin')
  .usage('<command> [options]   (npm run --silent admin -- <command> [options])')
  .description(
    'Operates the service. It reads the same environment as the server: DATABASE_URL, or the embedded ' +
      'database of DATA_DIR, running or not.',
  )
  .option('--json', 'print one JSON object and nothing else on stdout')
  .configureHelp({ showGlobalOptions: true })
  .showHelpAfterError('Add --help to see what it takes.');

for (const command of [
  workspaceCommand(),
  roleCommand(),
  keyCommand(),
  projectCommand(),
  articleCommand(),
  jobCommand(),
  walletCommand(),
  creditsCommand(),
  quotaCommand(),
  endpointCommand(),
  deliveryCommand(),
  queueCommand(),
  secretsCommand(),
  auditCommand(),
  ideasCommand(),
]) {
  for (const each of [command, ...command.commands]) each.copyInheritedSettings(program);
  program.addCommand(command);
}

await program.parseAsync().catch(reportFailure);
