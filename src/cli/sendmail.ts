import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { COMMAND } from '../lib/command.ts';
import { OperationError, type OperationErrorCode } from '../operations/call.ts';
import type { Operations } from '../operations/table.ts';
import { type Context, print } from './context.ts';
import { connect, REQUIRE_TLS, type RemoteOptions, remoteCommand, taken } from './remote.ts';
import { handedMessage, readMessage } from './sendmail-message.ts';
import { readSendmailOptions, type SendmailOptions } from './sendmail-options.ts';
import { isInUse, withOperations } from './session.ts';
import { Exit } from './terminal.ts';

/** Statuses of sysexits.h, by which programs tell what went wrong. */
const SYSEXITS = {
  dataErr: 65,
  unavailable: 69,
  software: 70,
  tempFail: 75,
  noPerm: 77,
  config: 78,
} as const;
/** The smallest of them. */
const FIRST_STATUS = 64;

const OF_CODES: Readonly<Record<OperationErrorCode, number>> = {
  invalid: SYSEXITS.dataErr,
  // No data directory, or no API at that URL.
  not_found: SYSEXITS.config,
  refused: SYSEXITS.unavailable,
  forbidden: SYSEXITS.noPerm,
  unavailable: SYSEXITS.tempFail,
};

const FLAGS = `
Options of sendmail(8):
  -t                        use the recipients in To, Cc and Bcc, besides those that are named
  -i, -oi                   a line with a lone dot does not end the message
  -f <address>, -r          the sender of the envelope (default: user@host); <> for none
  -F <name>                 the sender's name, if the message has no From
  -N never | success,failure,delay   when a report is wanted (RFC 3461); not with --url
  -R full | hdrs            what a report of failure returns; not with --url
  -V <id>                   what a report calls the message; not with --url
  -bm                       accept a message, as without this option; other modes (-bs, -bp, -bi …) are refused
  --                        recipients follow
Accepted, without effect: -G -U -m -n -v, -A -B -C -D -L -O -X -h -o -p with a value, -d -e -q with or without a value.

An address without a domain gets that of server.hostname, in the header too. Bcc is removed. A missing From is added.
Lines may end in LF. Exit status: 0 accepted, 64 wrong usage, 65 faulty message, 67 faulty recipient, 69 refused, 70 a
fault of this program, 75 try again later, 77 not allowed, 78 faulty configuration or no data directory.

A link with that name makes the program sendmail: ln -s /opt/waybill/waybill /usr/sbin/sendmail. It then looks for
the installation in $WAYBILL_DATA, else in the folder data beside the program, else in /var/lib/waybill. Users who may not
read that directory need --url and --key-file (docs/smtp.md).`;

/** The options of ours, which may also stand before those of sendmail(8). */
type OwnOptions = RemoteOptions & Pick<SendmailOptions, 'requireTls'>;

/** `waybill sendmail`: takes a message as sendmail(8) does, for programs that know nothing else. */
export function sendmailCommand(context: Context): Command {
  const shell = remoteCommand('sendmail', 'accept a message from standard input, as sendmail(8) does', [
    'waybill sendmail -t -i < mail.eml',
    'echo It works. | waybill sendmail -f jane@example.org you@example.net',
    'waybill sendmail -t -i --url http://127.0.0.1:8025 --key-file /etc/waybill/php.key < mail.eml',
  ])
    .option('--require-tls', REQUIRE_TLS)
    .usage('[options] [--] [recipient …]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .argument('[words...]')
    .addHelpText('after', FLAGS);
  return shell.action(async (words: readonly string[], options: OwnOptions) => {
    const [first] = words;
    if (first === '--help' || first === '-?') return shell.outputHelp();
    try {
      await sendmail({ ...options, ...readSendmailOptions(words) }, context);
    } catch (error) {
      throw asExit(error);
    }
  });
}

async function sendmail(options: SendmailOptions & OwnOptions, context: Context): Promise<void> {
  const { notify, ret, envid, requireTls } = options;
  const user = callerName();
  const client = await connect(options);
  // Read before anything is opened: whoever writes it may take his time.
  const read = await readMessage(context.terminal, options.ignoreDots);
  if (client !== null) {
    const { content, from, to } = handedMessage(read, options, { user, domain: hostname() });
    const sent = taken(await client.sendRaw(content, { from, to, requireTls }));
    if (options.json) print(context, options, sent, () => '');
    return;
  }
  await withOperations(context, options, {}, async (operations) => {
    const caller = { user, domain: await serverNameOf(operations) };
    const { content, from, to } = handedMessage(read, options, caller);
    const base64 = content.toString('base64');
    const sent = await operations.submitRaw({
      from,
      to: [...to],
      content: base64,
      notify,
      ret,
      envid,
      requireTls,
    });
    if (options.json) print(context, options, sent, () => '');
  });
}

/** The name that the server goes by. */
async function serverNameOf(operations: Pick<Operations, 'configuration'>): Promise<string> {
  const settings = await operations.configuration({});
  const value = settings.find(({ key }) => key === 'server.hostname')?.value;
  return typeof value === 'string' ? value : hostname();
}

/** In a container there may be nobody of that number. */
function callerName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'nobody';
  }
}

/** What went wrong, with the status that says so. */
function asExit(error: unknown): Exit {
  if (error instanceof Exit && error.status >= FIRST_STATUS) return error;
  const text = error instanceof Error ? error.message : String(error);
  const told = `sendmail: nothing was sent. ${text}`;
  if (isForbidden(error))
    return new Exit(
      SYSEXITS.noPerm,
      `${told}\nThis user may not use the installation. Give --url and --key-file, with a key from: ${COMMAND} keys create NAME`,
    );
  // Of the installation, or of what names it.
  if (error instanceof Exit) return new Exit(SYSEXITS.config, told);
  if (isInUse(error)) return new Exit(SYSEXITS.tempFail, told);
  if (error instanceof OperationError) return new Exit(OF_CODES[error.code], told);
  return new Exit(SYSEXITS.software, told);
}

function isForbidden(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && (error.code === 'EACCES' || error.code === 'EPERM')) return true;
  return isForbidden(error.cause);
}
