import type { Command } from 'commander';
import type { GivenSecret } from '../config/relay-secrets.ts';
import { hookText } from '../operations/relay-hooks.ts';
import type { RelayDetail, RelayView } from '../operations/relays.ts';
import type { RequestOf } from '../operations/table.ts';
import { type CommonOptions, type Context, collect, command, print } from './context.ts';
import { groupCommand } from './operation-command.ts';
import {
  type DescribingOptions,
  definitionOf,
  fieldsOf,
  givenSecretOf,
  inOptions,
  namesSecret,
  secretOf,
  takesSecret,
  withRelayOptions,
} from './relay-options.ts';
import { addedText, detailText, relayTable, stepLine } from './relays-text.ts';
import { withOperations } from './session.ts';
import { Exit, harmless, terminalJsonLine } from './terminal.ts';

interface AddOptions extends DescribingOptions {
  readonly default?: true;
}

interface TestOptions extends DescribingOptions {
  readonly to?: string;
}

/** What a definition is called that is tried without a name. */
const NAMELESS = 'unsaved';

/** `waybill relays …`: the ways out. */
export function relaysCommand(context: Context): Command {
  return groupCommand(context, {
    name: 'relays',
    title: 'relays, the ways out',
    order: [
      'list',
      showCommand(context),
      addCommand(context),
      editCommand(context),
      testCommand(context),
      hookCommand(context),
    ],
    texts: {
      relays: (all, { columns }) => relayTable(all, columns),
      sendTestMessage: ({ steps }) => steps.map(stepLine).join('\n'),
    },
  });
}

interface ShowOptions extends CommonOptions {
  readonly hook?: true;
}

function showCommand(context: Context): Command {
  const shell = command('show', 'show a relay: its definition, its rules, and when its hops rested', [
    'waybill relays show out',
    'waybill relays show grid --hook',
  ]).argument('<name>', "the relay's name");
  return shell
    .option('--hook', 'show instead the URL for the webhooks of its provider')
    .action(async (name: string, options: ShowOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        if (options.hook) {
          const hook = await operations.relayHook({ name });
          print(context, options, hook, () => hookText(hook));
        } else {
          const relay = await operations.relay({ name });
          print(context, options, relay, () => detailText(relay));
        }
      });
    });
}

/** `waybill relays hook …`: where a provider tells what became of mail. */
function hookCommand(context: Context): Command {
  return groupCommand(context, { name: 'relays hook', title: 'where a provider tells what became of mail' });
}

function addCommand(context: Context): Command {
  const shell = command('add', 'add a relay', [
    'waybill relays add out --type smtp --host smtp.example.net --username u --password-file /run/secrets/p --default',
    'waybill relays add direct --type mx --helo mail.example.com --default',
    'waybill relays add local --type smtp --host 127.0.0.1 --port 2526 --tls none --default',
    'waybill relays add m365 --type smtp --host smtp.office365.com --username sender@contoso.com --auth xoauth2 --preset microsoft --tenant contoso.onmicrosoft.com --client-id … --secret-file FILE',
    'waybill relays add gmail --type smtp --host smtp.gmail.com --username sender@example.com --auth xoauth2 --preset google --service-account-file FILE',
    'waybill relays add aws --type ses --region eu-west-1 --access-key-id AKIAIOSFODNN7EXAMPLE --secret-file /run/secrets/aws',
    'waybill relays add grid --type sendgrid --max-per-day 50000 --warmup-start 2026-12-01 --secret-file - < key',
    'waybill relays add crm --type webhook --url https://crm.example.com/mail',
  ]).argument('<name>', 'name: 1 to 64 of a-z 0-9 - _');
  return withRelayOptions(shell, true)
    .option('--default', 'send all mail through it that no rule routes')
    .action(async (name: string, options: AddOptions) => {
      const definition = definitionOf(name, options);
      const makeDefault = options.default ?? false;
      const secret = await checkedSecret({ definition, makeDefault }, options, context);
      await withOperations(context, options, {}, async (operations) => {
        const relay = await inOptions(operations.addRelay({ definition, secret, makeDefault }));
        print(context, options, relay, () => addedText(relay, tryOut(relay)));
      });
    });
}

function testCommand(context: Context): Command {
  const shell = command('test', 'connect to a relay, start TLS, authenticate, and send nothing', [
    'waybill relays test out',
    'waybill relays test direct --to someone@example.net',
    'waybill relays test --type postmark      # before it is added: stores nothing, and asks for the token',
    'waybill relays test crm --type webhook --url http://10.0.0.7/mail   # its name is in delivery.private_relays',
    'waybill relays test --type smtp --host smtp.example.net --username u --password-file /run/secrets/p',
  ])
    .argument(
      '[name]',
      "the relay's name; --type tests a definition that is not stored, with or without a name",
    )
    .option('--to <address>', 'with type mx: an address whose mail servers to look up and connect to');
  return withRelayOptions(shell, false).action(async (name: string | undefined, options: TestOptions) => {
    const request = await testRequest(name, options, context);
    await withOperations(context, options, {}, async (operations) => {
      const { terminal } = context;
      if (!options.json && terminal.columns() !== null) terminal.err('Testing, for at most 60 s …');
      const testing = operations.testRelay(request, {
        tell: (step) => terminal.out(options.json ? terminalJsonLine(step) : harmless(stepLine(step))),
        signal: new AbortController().signal,
      });
      const result = await inOptions(testing);
      if (options.json) terminal.out(terminalJsonLine(result));
      if (result.ok) return;
      throw new Exit(
        1,
        options.to === undefined
          ? `The test failed: ${name === undefined ? 'this definition' : `the relay ${name}`} does not work.`
          : noWay(request.name, options.to),
      );
    });
  });
}

/** The secret of a definition in which nothing else is wrong: nobody is to type one in vain. Throws `Exit`. */
async function checkedSecret(
  request: RequestOf<'checkRelay'>,
  options: DescribingOptions,
  context: Context,
): Promise<GivenSecret | null> {
  if (!takesSecret(options)) return null;
  // Not while it is asked for: a server could not start meanwhile.
  await withOperations(context, options, {}, async (operations) => {
    await inOptions(operations.checkRelay(request));
  });
  return await secretOf(options, context);
}

/** What is to be tried: a relay that is there, or the definition of the options. Throws `Exit`. */
async function testRequest(
  name: string | undefined,
  options: TestOptions,
  context: Context,
): Promise<RequestOf<'testRelay'>> {
  const to = options.to ?? null;
  if (options.type !== undefined) {
    const definition = definitionOf(name ?? NAMELESS, options);
    const secret = await checkedSecret({ definition, makeDefault: null }, options, context);
    const unsaved = { definition, secret };
    return { name: name ?? NAMELESS, to, unsaved };
  }
  if (Object.keys(fieldsOf(options)).length > 0 || namesSecret(options))
    throw new Exit(2, 'To test a definition that is not stored, give its --type, too.');
  if (name === undefined) throw new Exit(2, 'Name a relay, or describe one with --type and its fields.');
  return { name, to, unsaved: null };
}

/** Of a relay that delivers to recipients' servers, the fault may be theirs. */
function noWay(name: string, to: string): string {
  return `The test failed: ${name} cannot deliver mail to ${to.slice(to.lastIndexOf('@') + 1)}.`;
}

function tryOut({ type }: RelayView): string {
  return type === 'mx' ? ' --to someone@example.net' : '';
}

interface EditOptions extends DescribingOptions {
  readonly unset?: readonly string[];
}

/** `waybill relays edit NAME`. */
function editCommand(context: Context): Command {
  const shell = command('edit', 'change a stored relay; options that are not given stay', [
    'waybill relays edit out --max-concurrency 5',
    'waybill relays edit out --host smtp2.example.net --password-file /run/secrets/p',
    'waybill relays edit out --unset max_per_day --unset warmup_start',
  ]).argument('<name>', "the relay's name");
  return withRelayOptions(shell, false)
    .option('--unset <field>', 'remove a field, such as max_per_day; may be repeated', collect)
    .action(async (name: string, options: EditOptions) => {
      const given = { ...fieldsOf(options), ...(options.type === undefined ? {} : { type: options.type }) };
      const unset = options.unset ?? [];
      const secret = unset.includes('webhook_secret')
        ? { ...(await givenSecretOf(options)), webhook_secret: '' }
        : await givenSecretOf(options);
      if (Object.keys(given).length === 0 && unset.length === 0 && secret === null)
        throw new Exit(2, 'Say what to change. See: waybill relays edit --help');
      await withOperations(context, options, {}, async (operations) => {
        const present = presentDefinition(await operations.relay({ name }));
        const kept = Object.entries(present).filter(([field]) => !unset.includes(field));
        const definition = { ...Object.fromEntries(kept), ...given };
        await inOptions(operations.updateRelay({ name, definition, secret }));
        const changed = await operations.relay({ name });
        print(context, options, changed, () => detailText(changed));
      });
    });
}

function presentDefinition({ name, definition }: RelayDetail): Readonly<Record<string, unknown>> {
  if (definition !== null) return definition;
  throw new Exit(1, `The relay ${name} is built in and cannot be changed.`);
}
