import { Command, Option } from 'commander';
import { readError } from '../config/fault.ts';
import { readSecret } from '../config/load.ts';
import { RELAY_TYPES } from '../config/relay-types.ts';
import type { RelaySwitch, RelayTest, RelayView } from '../control/operations.ts';
import { type CommonOptions, type Context, collect, command, print, wholeNumber } from './context.ts';
import { Exit } from './exit.ts';
import { withOperations } from './session.ts';
import { oneLine, table } from './terminal.ts';

interface AddOptions extends CommonOptions {
  readonly type: string;
  readonly host?: string;
  readonly port?: number;
  readonly tls?: string;
  readonly verify: boolean;
  readonly username?: string;
  readonly passwordFile?: string;
  readonly helo?: string;
  readonly sourceIp?: readonly string[];
  readonly ipFamily?: string;
  readonly maxPerDomain?: number;
  readonly maxConcurrency?: number;
  readonly maxRatePerSecond?: number;
  readonly maxMessageBytes?: number;
  readonly maxRecipients?: number;
  readonly default?: true;
}

interface TestOptions extends CommonOptions {
  readonly to?: string;
}

/** `waybill relays …`: the ways out. */
export function relaysCommand(context: Context): Command {
  return new Command('relays')
    .description('relays, the ways out: list, add, test, disable, enable, remove')
    .addCommand(listCommand(context))
    .addCommand(addCommand(context))
    .addCommand(testCommand(context))
    .addCommand(disableCommand(context))
    .addCommand(enableCommand(context))
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
  const type = new Option('--type <type>', "smtp, a smarthost, or mx, the recipients' own servers");
  const tls = new Option(
    '--tls <mode>',
    'how the connection is secured (default: required, with type mx opportunistic)',
  );
  const family = new Option('--ip-family <family>', 'connect over nothing else (default: any)');
  return command('add', 'add a relay', [
    'waybill relays add out --type smtp --host smtp.example.net --username u --password-file /run/secrets/p --default',
    'waybill relays add direct --type mx --helo mail.example.com --default',
    'waybill relays add local --type smtp --host 127.0.0.1 --port 2526 --tls none --default',
  ])
    .argument('<name>', 'name: 1 to 64 of a-z 0-9 - _')
    .addOption(type.choices(RELAY_TYPES).makeOptionMandatory())
    .option('--host <host>', 'name or address of the smarthost; required with type smtp')
    .option(
      '--port <port>',
      'its port (default: 587, or 465 with --tls implicit; with type mx 25)',
      wholeNumber(1, 65_535),
    )
    .addOption(tls.choices(['required', 'opportunistic', 'implicit', 'none']))
    .option('--no-verify', 'do not check its certificate')
    .option('--username <name>', 'user name for AUTH')
    .option('--password-file <file>', 'file with the password for AUTH; it is kept encrypted')
    .option('--helo <name>', 'name given in EHLO (default: server.hostname)')
    .option('--source-ip <address>', 'connect from it; may be repeated, each in its turn', collect)
    .addOption(family.choices(['any', 'ipv4', 'ipv6']))
    .option(
      '--max-concurrency <n>',
      'most attempts at once (default: 20, with type mx 100)',
      wholeNumber(1, 10_000),
    )
    .option(
      '--max-per-domain <n>',
      'with type mx: most attempts at once to one domain (default: 20)',
      wholeNumber(1, 10_000),
    )
    .option('--max-rate-per-second <n>', 'most attempts begun in a second', wholeNumber(0, 100_000))
    .option('--max-message-bytes <n>', 'largest message it takes', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option(
      '--max-recipients <n>',
      'most recipients in one transaction (default: 100)',
      wholeNumber(1, 10_000),
    )
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
          () => `Added ${relay.name}. Try it with: waybill relays test ${relay.name}${tryOut(relay)}`,
        );
      });
    });
}

function testCommand(context: Context): Command {
  return command('test', 'connect to a relay, secure, authenticate, and send nothing', [
    'waybill relays test out',
    'waybill relays test direct --to someone@example.net',
  ])
    .argument('<name>', "the relay's name")
    .option('--to <address>', 'with type mx: whose mail servers to look up and connect to')
    .action(async (name: string, options: TestOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const result = await operations.testRelay({ name, to: options.to ?? null });
        const lines = result.steps.map(stepLine);
        print(context, options, result, () => lines.join('\n'));
        if (result.ok) return;
        const failed =
          options.to === undefined ? `The relay ${name} does not work.` : noWay(name, options.to);
        throw new Exit(1, failed);
      });
    });
}

/** Of a relay that delivers to recipients' servers, the fault may be theirs. */
function noWay(name: string, to: string): string {
  return `No mail can be taken to ${to.slice(to.lastIndexOf('@') + 1)} by ${name}.`;
}

function disableCommand(context: Context): Command {
  const shell = command('disable', 'send nothing by a relay, until it is enabled: its mail moves or waits', [
    'waybill relays disable out',
  ]);
  return switchCommand(context, shell, true, disabledText);
}

function enableCommand(context: Context): Command {
  const shell = command('enable', 'send by a disabled relay again', ['waybill relays enable out']);
  return switchCommand(context, shell, false, ({ name, changed }) =>
    changed ? `Enabled ${name}. What waits for it is sent.` : `${name} was not disabled.`,
  );
}

function switchCommand(
  context: Context,
  shell: Command,
  disabled: boolean,
  text: (relay: RelaySwitch) => string,
): Command {
  return shell.argument('<name>', "the relay's name").action(async (name: string, options: CommonOptions) => {
    await withOperations(context, options, {}, async (operations) => {
      const relay = await operations.switchRelay({ name, disabled });
      print(context, options, relay, () => text(relay));
    });
  });
}

function disabledText({ name, changed, isDefault, waiting, processing }: RelaySwitch): string {
  const enable = `waybill relays enable ${name}`;
  return [
    changed ? `Disabled ${name}: nothing more is sent by it.` : `${name} is disabled already.`,
    processing > 0 ? `What is under way ends (recipients: ${processing}).` : '',
    `Its mail goes by the next relay of its group, or waits (recipients just now: ${waiting}).`,
    isDefault ? 'It is the default relay: mail that no rule sends elsewhere waits, too.' : '',
    `To send by it again: ${enable}`,
  ]
    .filter((line) => line !== '')
    .join('\n');
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
  const { type, host, port, tls, verify, username, helo } = options;
  const definition = {
    ...{ name, type, host, port, tls, username, helo },
    // The option is there to be switched off; said nothing, it is the default of the type.
    verify: verify ? undefined : false,
    source_ips: options.sourceIp,
    ip_family: options.ipFamily,
    max_concurrency: options.maxConcurrency,
    max_per_domain: options.maxPerDomain,
    max_rate_per_second: options.maxRatePerSecond,
    max_message_bytes: options.maxMessageBytes,
    max_recipients: options.maxRecipients,
  };
  return Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined));
}

function tryOut({ type }: RelayView): string {
  return type === 'mx' ? ' --to someone@example.net' : '';
}

function stepLine({ name, ok, detail, atMs }: RelayTest['steps'][number]): string {
  return `${ok ? 'ok    ' : 'FAILED'} ${String(atMs).padStart(6)} ms  ${name}  ${oneLine(detail)}`;
}

function readPassword(path: string): string {
  try {
    return readSecret(path);
  } catch (error) {
    throw new Exit(1, `The password file cannot be read: ${readError(error)}`);
  }
}

function relayTable(relays: readonly RelayView[]): string {
  const rows = relays.map((relay) => [
    relay.isDefault ? `${relay.name} (default)` : relay.name,
    relay.type,
    destinationOf(relay),
    relay.tls ?? '',
    relay.origin,
    stateOf(relay),
    String(relay.waiting),
    String(relay.processing),
  ]);
  return table(['NAME', 'TYPE', 'TO', 'TLS', 'FROM', 'STATE', 'WAITING', 'PROCESSING'], rows);
}

function destinationOf({ type, host, port }: RelayView): string {
  if (type === 'mx') return `recipients' MX, port ${port}`;
  return host === null ? 'local capture' : `${host}:${port}`;
}

function stateOf(relay: RelayView): string {
  return relay.credentialsUnreadable ? 'credentials_unreadable' : relay.state;
}
