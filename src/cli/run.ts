import { Command, CommanderError } from 'commander';
import { version } from '../lib/command.ts';
import { OperationError } from '../operations/call.ts';
import { adminCommand } from './admin.ts';
import { backupCommand } from './backup.ts';
import { certificatesCommand } from './certificates.ts';
import { configCommand } from './config.ts';
import { applyCommand, exportCommand, planCommand } from './configuring.ts';
import { type Context, inheritOptions, withCommonOptions } from './context.ts';
import { devCommand } from './dev.ts';
import { dmarcCommand } from './dmarc.ts';
import { doctorCommand } from './doctor.ts';
import { domainsCommand } from './domains.ts';
import { eventsCommand } from './events.ts';
import { inboxCommand } from './inbox.ts';
import { keysCommand } from './keys.ts';
import { messagesCommand } from './messages.ts';
import { migrateCommand } from './migrate.ts';
import { groupCommand } from './operation-command.ts';
import { queueCommand } from './queue.ts';
import { relaysCommand } from './relays.ts';
import { restoreCommand } from './restore.ts';
import { routesCommand } from './routes.ts';
import { sendCommand } from './send.ts';
import { sendmailCommand } from './sendmail.ts';
import { serveCommand } from './serve.ts';
import { suppressionsCommand } from './suppressions.ts';
import { templatesCommand } from './templates.ts';
import { Exit, harmless, readSecretFile } from './terminal.ts';
import { tlsReportsCommand } from './tls-reports.ts';
import { versionCommand } from './version.ts';

const SUCCESS = 0;
const FAILED = 1;
const USAGE = 2;

/** Runs the command line `args` (without the program's name) and gives the exit status. */
export async function run(args: readonly string[], context: Context): Promise<number> {
  try {
    await program(context, args.includes('--json')).parseAsync(args, { from: 'user' });
    return SUCCESS;
  } catch (error) {
    return report(error, context);
  }
}

/** The command line as a tree of commands. */
export function program(context: Context, asJson: boolean): Command {
  const { terminal } = context;
  const root = withCommonOptions(new Command('waybill'))
    .description('Accepts mail, never loses it, delivers it, and tells you where it is.')
    .version(asJson ? JSON.stringify({ version: version() }) : version(), '--version', 'print the version')
    .helpCommand(false)
    .enablePositionalOptions()
    .hook('preAction', inheritOptions)
    .addCommand(serveCommand(context))
    .addCommand(devCommand(context))
    .addCommand(keysCommand(context))
    .addCommand(sendCommand(context))
    .addCommand(sendmailCommand(context))
    .addCommand(messagesCommand(context))
    .addCommand(inboxCommand(context))
    .addCommand(eventsCommand(context))
    .addCommand(templatesCommand(context))
    .addCommand(suppressionsCommand(context))
    .addCommand(
      groupCommand(context, {
        name: 'privacy',
        title: 'the people whose mail passes through',
        order: ['preview', 'erase', 'list'],
      }),
    )
    .addCommand(groupCommand(context, { name: 'webhooks', title: 'applications that are told of events' }))
    .addCommand(
      groupCommand(context, {
        name: 'alerts',
        title: 'what the server watches, and whom it tells',
        files: { secret: (name) => readSecretFile(name, 'secret') },
      }),
    )
    .addCommand(queueCommand(context))
    .addCommand(relaysCommand(context))
    .addCommand(routesCommand(context))
    .addCommand(domainsCommand(context))
    .addCommand(dmarcCommand(context))
    .addCommand(planCommand(context))
    .addCommand(applyCommand(context))
    .addCommand(exportCommand(context))
    .addCommand(certificatesCommand(context))
    .addCommand(tlsReportsCommand(context))
    .addCommand(backupCommand(context))
    .addCommand(restoreCommand(context))
    .addCommand(migrateCommand(context))
    .addCommand(configCommand(context))
    .addCommand(doctorCommand(context))
    .addCommand(adminCommand(context))
    .addCommand(versionCommand(context))
    .addHelpText('after', START);
  const output = {
    writeOut: (text: string) => terminal.out(text.trimEnd()),
    writeErr: (text: string) => terminal.err(text.trimEnd()),
  };
  for (const command of withSubcommands(root))
    command
      .exitOverride()
      .configureOutput(output)
      .showHelpAfterError(`See: ${pathOf(command)} --help`);
  return root;
}

const START = `
For your own machine: waybill dev
Start a server with:
  waybill serve
  waybill keys create shop
  waybill send --from me@example.org --to you@example.net --subject Hello --text 'It works.'
Every command has its own --help. Exit status: 0 done, 1 failed, 2 wrong usage.`;

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Says what went wrong, unless that has been said, and gives the exit status. */
function report(error: unknown, { terminal }: Context): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : USAGE;
  const { message } = error instanceof Error ? error : new Error(String(error));
  // Far servers and next hops have their say in it.
  if (message !== '') terminal.err(harmless(message));
  if (error instanceof Exit) return error.status;
  return error instanceof OperationError && error.code === 'invalid' ? USAGE : FAILED;
}
