import { Command, Option } from 'commander';
import { readSecret } from '../config/load.ts';
import type { RelayTest, RelayView } from '../control/operations.ts';
import { type CommonOptions, type Context, command, print, wholeNumber } from './context.ts';
import { Exit } from './exit.ts';
import { withOperations } from './session.ts';
import { oneLine, table } from './terminal.ts';

interface AddOptions extends CommonOptions {
  readonly type: string;
  readonly host: string;
  readonly port?: number;
  readonly tls?: string;
  readonly verify: boolean;
  readonly username?: string;
  readonly passwordFile?: string;
  readonly helo?: string;
  readonly maxConcurrency?: number;
  readonly default?: true;
}

/** `waybill relays …`: the ways out. */
export function relaysCommand(context: Context): Command {
  return new Command('relays')
    .description('relays, the ways out: list, add, test, remove')
    .addCommand(listCommand(context))
    .addCommand(addCommand(context))
    .addCommand(testCommand(context))
    .addCommand(removeCommand(context));
}

function listCommand(context: Context): Command {
  return command('list', 'show all relays and how much waits for them', ['waybill relays list']).action(
    async (options: CommonOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const relays = await operations.relays({});
        print(context, options, relays, () => relayTable(relays));
      });
    },
  );
}

function addCommand(context: Context): Command {
  const tls = new Option('--tls <mode>', 'how the connection is secured (default: required)');
  return command('add', 'add a relay', [
    'waybill relays add out --type smtp --host smtp.example.net --username u --password-file /run/secrets/p --default',
    'waybill relays add local --type smtp --host 127.0.0.1 --port 2526 --tls none --default',
  ])
    .argument('<name>', 'name: 1 to 64 of a-z 0-9 - _')
    .requiredOption('--type <type>', 'smtp, a smarthost')
    .requiredOption('--host <host>', 'name or address of the smarthost')
    .option('--port <port>', 'its port (default: 587, or 465 with --tls implicit)', wholeNumber(1, 65_535))
    .addOption(tls.choices(['required', 'opportunistic', 'implicit', 'none']))
    .option('--no-verify', 'do not check its certificate')
    .option('--username <name>', 'user name for AUTH')
    .option('--password-file <file>', 'file with the password for AUTH; it is kept encrypted')
    .option('--helo <name>', 'name given in EHLO (default: server.hostname)')
    .option('--max-concurrency <n>', 'most attempts at once (default: 20)', wholeNumber(1, 10_000))
    .option('--default', 'send mail through it unless told otherwise')
    .action(async (name: string, options: AddOptions) => {
      const password = options.passwordFile === undefined ? null : readPassword(options.passwordFile);
      const request = {
        definition: definitionOf(name, options),
        password,
        makeDefault: options.default ?? false,
      };
      await withOperations(context, options, { create: true }, async (operations) => {
        const relay = await operations.addRelay(request);
        print(
          context,
          options,
          relay,
          () => `Added ${relay.name}. Try it with: waybill relays test ${relay.name}`,
        );
      });
    });
}

function testCommand(context: Context): Command {
  return command('test', 'connect to a relay, secure, authenticate, and send nothing', [
    'waybill relays test out',
  ])
    .argument('<name>', "the relay's name")
    .action(async (name: string, options: CommonOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const result = await operations.testRelay({ name });
        const lines = result.steps.map(stepLine);
        print(context, options, result, () => lines.join('\n'));
        if (!result.ok) throw new Exit(1, `The relay ${name} does not work.`);
      });
    });
}

function removeCommand(context: Context): Command {
  return command('remove', 'forget a relay that no mail waits for', ['waybill relays remove out'])
    .argument('<name>', "the relay's name")
    .action(async (name: string, options: CommonOptions) => {
      // Removing a relay can be the cure of a faulty configuration, so that must not stand in its way.
      await withOperations(context, options, { tolerateFaults: true }, async (operations) => {
        const relay = await operations.removeRelay({ name });
        print(context, options, relay, () => `Removed ${relay.name}.`);
      });
    });
}

/** The options as a definition of the configuration file. */
function definitionOf(name: string, options: AddOptions): Record<string, unknown> {
  const { type, host, port, tls, verify, username, helo, maxConcurrency } = options;
  const definition = { name, type, host, port, tls, verify, username, helo, max_concurrency: maxConcurrency };
  return Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined));
}

function stepLine({ name, ok, detail, atMs }: RelayTest['steps'][number]): string {
  return `${ok ? 'ok    ' : 'FAILED'} ${String(atMs).padStart(6)} ms  ${name}  ${oneLine(detail)}`;
}

function readPassword(path: string): string {
  try {
    return readSecret(path);
  } catch (error) {
    throw new Exit(1, `The password file cannot be read: ${String(error)}`);
  }
}

function relayTable(relays: readonly RelayView[]): string {
  const rows = relays.map((relay) => [
    relay.isDefault ? `${relay.name} (default)` : relay.name,
    relay.type,
    relay.host === null ? 'local capture' : `${relay.host}:${relay.port}`,
    relay.tls ?? '',
    relay.origin,
    stateOf(relay),
    String(relay.waiting),
    String(relay.processing),
  ]);
  return table(['NAME', 'TYPE', 'TO', 'TLS', 'FROM', 'STATE', 'WAITING', 'PROCESSING'], rows);
}

function stateOf(relay: RelayView): string {
  if (relay.credentialsUnreadable) return 'credentials_unreadable';
  return relay.disabled ? 'disabled' : 'ready';
}
