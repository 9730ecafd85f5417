import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import type { RawEnvelope } from '../client/message.ts';
import { type Message, toSubmission } from '../client/message.ts';
import type { Verdict } from '../client/types.ts';
import type { Waybill } from '../client/waybill.ts';
import { isFinal } from '../domain/delivery.ts';
import { PRIORITIES, type Priority } from '../domain/message.ts';
import type { Clock } from '../lib/clock.ts';
import { readError } from '../lib/error.ts';
import { OperationError } from '../operations/call.ts';
import type { MessageOperations, StatusRecord, SubmitOperations, Submitted } from '../operations/messages.ts';
import { type Context, collect, needing, print, wholeNumber } from './context.ts';
import { messageText } from './message-text.ts';
import { preflightText } from './preflight-text.ts';
import { connect, REQUIRE_TLS, type RemoteOptions, remoteCommand, sentBy, taken } from './remote.ts';
import { withOperations } from './session.ts';
import { Exit, readInput, type Terminal, table } from './terminal.ts';

interface SendOptions extends RemoteOptions, DraftOptions {
  readonly idempotencyKey?: string;
  readonly dryRun?: true;
  readonly wait?: true | number;
}

const DEFAULT_WAIT_SECONDS = 60;
const MAX_WAIT_SECONDS = 86_400;

/** `waybill send`: one message from the command line. */
export function sendCommand(context: Context): Command {
  return remoteCommand('send', 'send a message', [
    "waybill send --from me@example.org --to you@example.net --subject Hello --text 'It works.' --wait",
    'df -h | waybill send --from me@example.org --to you@example.net --subject Disks',
    'waybill send --from me@example.org --to you@example.net --html - --attach offer.pdf < letter.html',
    'waybill send --url https://mail.example.net:8026 --key-file key --from me@example.org --to you@example.net --raw mail.eml',
  ])
    .option('--from <mailbox>', 'required: the sender, such as me@example.org or "Me <me@example.org>"')
    .option('--to <mailbox>', 'required: a recipient; may be given several times', collect)
    .hook('preAction', needing('from', 'to'))
    .option('--cc <mailbox>', 'recipient of a copy; may be given several times', collect)
    .option('--bcc <mailbox>', 'recipient of a blind copy; may be given several times', collect)
    .option('--subject <text>', 'subject')
    .option('--text <text>', 'plain text; - for standard input, which is also read if there is no body')
    .option('--html <html>', 'HTML; - for standard input')
    .option('--attach <file>', 'file to attach; may be given several times', collect)
    .option(
      '--header <line>',
      'header field, such as "Reply-To: me@example.org"; may be given several times',
      collect,
    )
    .option('--tag <tag>', 'tag to find it by; may be given several times', collect)
    .addOption(
      new Option('--priority <name>', 'high goes first, bulk last (default: normal)').choices(PRIORITIES),
    )
    .option('--send-at <time>', 'do not send it before this time: 2026-11-21T08:00:00Z')
    .option('--require-tls', REQUIRE_TLS)
    .option('--raw <file>', 'send this finished MIME message as it is (with --url); - for standard input')
    .option(
      '--idempotency-key <key>',
      'send nothing if a message was already sent under this key (with --url)',
    )
    .option('--dry-run', 'check it and show its route; send nothing')
    .option(
      '--wait [seconds]',
      `wait until it is delivered or has failed (default: at most ${DEFAULT_WAIT_SECONDS} s); status 1 if it is not delivered`,
      wholeNumber(1, MAX_WAIT_SECONDS),
    )
    .action(async (options: SendOptions) => {
      const client = await connect(options);
      if (client === null) refuseFarOnly(options);
      // What is wrong with the message is said before anything is opened.
      const draft = await draftOf(options, context.terminal);
      if (client !== null) return await send(remoteOutbox(client), draft, options, context);
      await withOperations(context, options, {}, async (operations, running) => {
        await send(localOutbox(operations, running, context.clock), draft, options, context);
      });
    });
}

/** Refuses what only the API of a server can do. */
function refuseFarOnly({ raw, idempotencyKey }: SendOptions): void {
  if (raw !== undefined) throw needsUrl('--raw');
  if (idempotencyKey !== undefined) throw needsUrl('--idempotency-key');
}

async function send(outbox: Outbox, draft: Draft, options: SendOptions, context: Context): Promise<void> {
  if (options.dryRun) {
    const verdict = await outbox.check(draft);
    return print(context, options, verdict, () => verdictText(verdict, context.terminal.columns()));
  }
  if (options.wait !== undefined && outbox.idle !== null)
    throw new Exit(
      1,
      'Nothing was sent: --wait needs the server, which is not running. Start it with: waybill serve',
    );
  const sent = await outbox.send(draft, options.idempotencyKey);
  if (options.wait === undefined) {
    const message = outbox.idle === null ? sent.message : `${sent.message} ${outbox.idle}`;
    return print(context, options, { ...sent, message }, () => `${sent.id}\n${message}`);
  }
  const seconds = options.wait === true ? DEFAULT_WAIT_SECONDS : options.wait;
  const record = await outbox.wait(sent.id, seconds * 1000).catch((error: unknown) => {
    const message = `Accepted as ${sent.id}, but the outcome is unknown: ${reasonOf(error)}`;
    print(context, options, { ...sent, message }, () => sent.id);
    throw new Exit(1, message);
  });
  print(context, options, record, () => messageText(record, context.terminal.columns()));
  if (record.status !== 'delivered') throw new Exit(1, `Not delivered: ${record.status}.`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** By what the copy would align: whether that then passes, the DNS alone can tell. */
function alignsText(alignment: Verdict['recipients'][number]['alignment']): string {
  if (alignment === undefined || alignment === null) return '-';
  const { verdict, dkim, spf } = alignment;
  if (verdict !== 'aligned') return verdict.replaceAll('_', ' ');
  if (dkim === 'aligned') return spf === 'aligned' ? 'by DKIM and SPF' : 'by DKIM';
  return 'by SPF only';
}

function verdictText(
  { message, sizeBytes, recipients, findings }: Omit<Verdict, 'suppressed'>,
  columns: number | null,
): string {
  const rows = recipients.map(({ address, type, relay, rule, alignment }) => [
    address,
    type,
    relay ?? 'none: it would wait',
    rule ?? 'default',
    alignsText(alignment),
  ]);
  const headings = ['RECIPIENT', 'TYPE', 'RELAY', 'RULE', 'ALIGNED'];
  const details = [...new Set(recipients.flatMap(({ alignment }) => alignment?.detail ?? []))];
  const told = details.length === 0 ? '' : `\n\n${details.join('\n')}`;
  const head = `${message} Its size would be ${sizeBytes} bytes.`;
  return `${head}\n\n${table(headings, rows)}${told}\n\n${preflightText(findings, columns)}`;
}

/** What `waybill send` is told of the message itself. */
interface DraftOptions {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly attach?: readonly string[];
  readonly header?: readonly string[];
  readonly tag?: readonly string[];
  readonly priority?: Priority;
  readonly sendAt?: string;
  readonly requireTls?: true;
  readonly raw?: string;
}

/** What is to be sent: fields, or a finished message with its envelope. */
export type Draft =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'raw'; readonly content: Uint8Array; readonly envelope: RawEnvelope };

/** A header field as it stands in a message: its name, and its value behind the colon. */
const HEADER_LINE = /^([^:\s]+):\s*(.*)$/s;
/** Options that say what a finished message says itself. */
const CONTENTS = ['cc', 'bcc', 'subject', 'text', 'html', 'attach', 'header'] as const;

/** What stands for the standard input. */
const STANDARD_INPUT = '-';
/** Most bytes that are read from the standard input; api.max_message_bytes of the server decides before that. */
const MAX_PIPED = 128 * 1024 * 1024;

/** Reads the options, the files they name, and the standard input where it is meant. Throws `Exit`. */
async function draftOf(given: DraftOptions, terminal: Terminal): Promise<Draft> {
  const options = await withInput(given, terminal);
  const { from, to, tag = [], sendAt, priority, requireTls, raw } = options;
  if (raw === undefined) return { kind: 'message', message: messageOf(options) };
  const useless = CONTENTS.filter((name) => options[name] !== undefined);
  if (useless.length > 0)
    throw new Exit(2, `--raw is a finished message; it cannot be combined with --${useless.join(', --')}.`);
  const content = raw === STANDARD_INPUT ? await readInput(terminal, MAX_PIPED) : readBytes(raw);
  return { kind: 'raw', content, envelope: { from, to, tags: tag, sendAt, priority, requireTls } };
}

/** With the standard input in the place of `-`; and as the text where nothing else is the body and something is piped in. */
async function withInput(options: DraftOptions, terminal: Terminal): Promise<DraftOptions> {
  const { text, html, attach, raw } = options;
  const asked = [text, html, raw].filter((value) => value === STANDARD_INPUT).length;
  if (asked > 1)
    throw new Exit(2, 'Standard input can be read only once: give - to one of --text, --html and --raw.');
  if (raw !== undefined) return options;
  const isBare = text === undefined && html === undefined && attach === undefined;
  if (asked === 0 && (!isBare || terminal.isTyped())) return options;
  const bytes = await readInput(terminal, MAX_PIPED);
  if (asked === 0 && bytes.length === 0) return options;
  if (!isUtf8(bytes)) throw new Exit(1, 'Nothing was sent: standard input is not UTF-8.');
  const input = bytes.toString();
  return html === STANDARD_INPUT ? { ...options, html: input } : { ...options, text: input };
}

function messageOf(options: DraftOptions): Message {
  const { from, to, cc, bcc, subject, text, html, tag, sendAt, priority, requireTls } = options;
  const attachments = (options.attach ?? []).map((path) => ({
    filename: basename(path),
    content: readBytes(path),
  }));
  return {
    from,
    to,
    cc,
    bcc,
    subject,
    text,
    html,
    tags: tag,
    sendAt,
    priority,
    requireTls,
    headers: headersOf(options),
    attachments,
  };
}

function headersOf({ header = [] }: DraftOptions): Record<string, string> {
  const fields = header.map((line) => {
    const [, name, value] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw new Exit(
        2,
        `--header must be a name and a value, such as 'Reply-To: me@example.org'; not '${line}'.`,
      );
    return [name, value] as const;
  });
  if (new Set(fields.map(([name]) => name.toLowerCase())).size < fields.length)
    throw new Exit(2, '--header names a field twice.');
  return Object.fromEntries(fields);
}

function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Exit(1, `Nothing was sent: ${path} cannot be read: ${readError(error)}`);
  }
}

/** Where `waybill send` hands a message: the installation here, or a server far away. */
interface Outbox {
  /** Why messages handed over now would not be delivered yet; null when they would. */
  readonly idle: string | null;
  send(draft: Draft, idempotencyKey: string | undefined): Promise<Submitted>;
  /** Checks a message as if it were sent. */
  check(draft: Draft): Promise<Omit<Verdict, 'suppressed'>>;
  /**
   * The message's record once it is final, or as it was last seen when the time is over. Throws when it was never
   * seen.
   */
  wait(id: string, waitMs: number): Promise<StatusRecord>;
}

/** What sending here, and waiting for the end, takes. */
type LocalOperations = SubmitOperations & Pick<MessageOperations, 'message'>;

const POLL_MS = 200;

/** The installation here; `running` tells whether its server does. */
export function localOutbox(operations: LocalOperations, running: boolean, clock: Clock): Outbox {
  return {
    idle: running ? null : 'The server is not running; delivery begins when it starts.',
    send: async (draft, idempotencyKey) => {
      if (idempotencyKey !== undefined) throw needsUrl('--idempotency-key');
      return await operations.submit({ message: await submissionOf(draft) });
    },
    check: async (draft) => await operations.checkMessage({ message: await submissionOf(draft) }),
    wait: (id, waitMs) => waitHere(id, waitMs, operations, clock),
  };
}

/** Asks until the message is final or the time is over, also while the server is on its way down and up again. */
async function waitHere(
  id: string,
  waitMs: number,
  operations: LocalOperations,
  clock: Clock,
): Promise<StatusRecord> {
  const endsAt = clock.mono() + waitMs;
  let last: StatusRecord | null = null;
  for (;;) {
    try {
      last = await operations.message({ id });
      if (isFinal(last.status)) return last;
    } catch (error) {
      const passing = error instanceof OperationError && error.code === 'unavailable';
      if (!passing || (last === null && clock.mono() >= endsAt)) throw error;
    }
    if (last !== null && clock.mono() >= endsAt) return last;
    await clock.sleep(POLL_MS);
  }
}

/** A server far away. */
function remoteOutbox(client: Waybill): Outbox {
  return {
    idle: null,
    send: async (draft, idempotencyKey) => {
      const options = { idempotencyKey };
      if (draft.kind === 'message') return sentBy(await client.send(draft.message, options));
      return sentBy(await client.sendRaw(draft.content, draft.envelope, options));
    },
    check: async (draft) => {
      if (draft.kind === 'message') return taken(await client.check(draft.message));
      return taken(await client.checkRaw(draft.content, draft.envelope));
    },
    // Sound because both are the API's own JSON.
    wait: async (id, waitMs) => taken(await client.wait(id, { timeoutMs: waitMs })) as StatusRecord,
  };
}

async function submissionOf(draft: Draft): Promise<unknown> {
  if (draft.kind === 'raw') throw needsUrl('--raw');
  return await toSubmission(draft.message);
}

/** The refusal of an option that an installation here cannot do. */
export function needsUrl(option: string): Exit {
  return new Exit(2, `${option} needs the API: name a server with --url and --key-file.`);
}
