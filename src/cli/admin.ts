/** The operator's command line: `npm run --silent admin -- <command>`. */
import { Command } from 'commander';
import { reportFailure } from './session.ts';

/** Each is loaded when it is asked for: most need little of the service, and of its memory. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  workspace: async () => (await import('./commands/workspace.ts')).workspaceCommand(),
  role: async () => (await import('./commands/role.ts')).roleCommand(),
  key: async () => (await import('./commands/key.ts')).keyCommand(),
  project: async () => (await import('./commands/project.ts')).projectCommand(),
  article: async () => (await import('./commands/article.ts')).articleCommand(),
  job: async () => (await import('./commands/job.ts')).jobCommand(),
  wallet: async () => (await import('./commands/wallet.ts')).walletCommand(),
  credits: async () => (await import('./commands/credits.ts')).creditsCommand(),
  usage: async () => (await import('./commands/usage.ts')).usageCommand(),
  endpoint: async () => (await import('./commands/endpoint.ts')).endpointCommand(),
  delivery: async () => (await import('./commands/delivery.ts')).deliveryCommand(),
  top: async () => (await import('./commands/top.ts')).topCommand(),
  queue: async () => (await import('./commands/queue.ts')).queueCommand(),
  secrets: async () => (await import('./commands/secrets.ts')).secretsCommand(),
  blobs: async () => (await import('./commands/blobs.ts')).blobsCommand(),
  audit: async () => (await import('./commands/audit.ts')).auditCommand(),
  log: async () => (await import('./commands/log.ts')).logCommand(),
  ideas: async () => (await import('./commands/idea-clusters.ts')).ideasCommand(),
};

const program = new Command('admin')
  .usage('<command> [options]   (npm run --silent admin -- <command> [options])')
  .description(
    'Operates the service. It reads the same environment as the server: DATABASE_URL, or the embedded ' +
      'database of DATA_DIR, running or not.',
  )
  .option('--json', 'print one JSON object and nothing else on stdout')
  .configureHelp({ showGlobalOptions: true })
  .showHelpAfterError('Add --help to see what it takes.');

const [asked = ''] = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const one = Object.hasOwn(COMMANDS, asked) ? COMMANDS[asked] : undefined;
for (const load of one === undefined ? Object.values(COMMANDS) : [one]) {
  const command = await load();
  for (const each of [command, ...command.commands]) each.copyInheritedSettings(program);
  program.addCommand(command);
}

await program.parseAsync().catch(reportFailure);
