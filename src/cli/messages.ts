import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { MESSAGE_STATUSES, type MessageStatus } from '../domain/delivery.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { readError } from '../lib/error.ts';
import { isMessageId, messageIdTime } from '../lib/id.ts';
import type { Attempts, MessageOperations, StatusRecord } from '../operations/messages.ts';
import type { SearchPage } from '../operations/search.ts';
import { type CommonOptions, type Context, collectFrom, command, print, wholeNumber } from './context.ts';
import { attemptsText, messageText, pageText, timelineText, waysText } from './message-text.ts';
import { connect, type RemoteOptions, remoteCommand, sentBy, withMessages } from './remote.ts';
import { needsUrl } from './send.ts';
import { withOperations } from './session.ts';
import { stepTeller } from './step-teller.ts';
import { DEFAULT_COLUMNS, Exit, harmless } from './terminal.ts';

interface ListOptions extends RemoteOptions, Filter {
  readonly status?: readonly MessageStatus[];
  readonly limit: number;
  readonly before?: string;
}

/** The options that are the API's parameters of the same names. */
interface Filter {
  readonly tag?: string;
  readonly to?: string;
  readonly from?: string;
  readonly subject?: string;
  readonly since?: string;
  readonly until?: string;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 200;

/** `waybill messages …`: what became of the mail, and what to do about it. */
export function messagesCommand(context: Context): Command {
  return new Command('messages')
    .description('messages: list, search, show, attempts, content, cancel, retry, resend')
    .addCommand(listCommand(context))
    .addCommand(searchCommand(context))
    .addCommand(showCommand(context))
    .addCommand(attemptsCommand(context))
    .addCommand(contentCommand(context))
    .addCommand(cancelCommand(context))
    .addCommand(retryCommand(context))
    .addCommand(resendCommand(context));
}

function listCommand(context: Context): Command {
  return remoteCommand('list', 'show messages, newest first', [
    'waybill messages list',
    'waybill messages list --status failed --status retrying --limit 100',
    'waybill messages list --to @example.net --since 2026-11-20T00:00:00Z --subject invoice',
  ])
    .option(
      '--status <status>',
      `only those that are ${MESSAGE_STATUSES.join(', ')}; may be given several times`,
      collectFrom(MESSAGE_STATUSES),
    )
    .option('--tag <tag>', 'only those with exactly this tag')
    .option('--to <address>', 'only those to this address, or to a whole domain: @example.net')
    .option('--from <address>', 'only those from this address, or from a whole domain')
    .option('--subject <text>', 'only those whose subject contains this (case-insensitive)')
    .option('--since <time>', 'only those accepted at this time or later: 2026-11-20T00:00:00Z')
    .option('--until <time>', 'only those accepted before this time')
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LIMIT), DEFAULT_LIMIT)
    .option('--before <id>', 'continue after a page: the id in its last line (with --url, the cursor)')
    .action(async (options: ListOptions) => {
      const { status = [] } = options;
      const request = { statuses: [...status], filter: filterOf(options) };
      await withMessages(context, options, async (operations) => {
        const ask = (limit: number, before: string | null) =>
          operations.messages({ ...request, limit, before });
        const page = await followPages(context, options, 1, ask);
        print(context, options, page, () => pageText(page));
      });
    });
}

function filterOf({ tag, to, from, subject, since, until }: Filter): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries({ tag, to, from, subject, since, until }))
    if (value !== undefined) given[name] = value;
  return given;
}

interface ShowOptions extends RemoteOptions {
  readonly steps?: true;
}

function showCommand(context: Context): Command {
  return remoteCommand('show', 'show one message, the state of each recipient, and every attempt', [
    'waybill messages show msg_01k…',
    'waybill messages show msg_01k… --steps',
  ])
    .argument('<id>', "the message's id, or its Message-ID: '<…@…>'")
    .option('--steps', 'show the conversation of every attempt, not only of the last')
    .action(async (id: string, options: ShowOptions) => {
      await withMessages(context, options, async (operations) => {
        const record = await operations.message({ id });
        const columns = context.terminal.columns();
        const attempts = options.json ? null : await allAttempts(operations, id);
        const story =
          attempts === null
            ? ''
            : timelineText(attempts, options.steps ? 'all' : 'last', columns ?? DEFAULT_COLUMNS);
        const ways = options.json ? '' : waysText(await operations.ways({ id }), columns);
        print(context, options, record, () =>
          [messageText(record, columns), ways, story].filter(Boolean).join('\n\n'),
        );
      });
    });
}

function attemptsCommand(context: Context): Command {
  return remoteCommand('attempts', 'show every attempt to deliver a message', [
    'waybill messages attempts msg_01k…',
    'waybill messages attempts msg_01k… --json',
  ])
    .argument('<id>', "the message's id, or its Message-ID: '<…@…>'")
    .action(async (id: string, options: RemoteOptions) => {
      await withMessages(context, options, async (operations) => {
        const attempts = await allAttempts(operations, id);
        print(context, options, { attempts: attempts.attempts }, () => attemptsText(attempts));
      });
    });
}

async function allAttempts(operations: MessageOperations, id: string): Promise<Attempts> {
  const all: Attempts['attempts'][number][] = [];
  let cursor: string | null = null;
  do {
    const page: Attempts = await operations.attempts({ id, cursor });
    all.push(...page.attempts);
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
  return { attempts: all, hasMore: false };
}

function cancelCommand(context: Context): Command {
  return recordCommand(
    context,
    remoteCommand('cancel', 'fail the recipients that still wait; an attempt in progress is the last', [
      'waybill messages cancel msg_01k…',
    ]),
    (operations, id) => operations.cancelMessage({ id }),
  );
}

function retryCommand(context: Context): Command {
  return recordCommand(
    context,
    remoteCommand(
      'retry',
      'try failed and retrying recipients again, now; delivered ones get no second copy',
      ['waybill messages retry msg_01k…'],
    ),
    (operations, id) => operations.retryMessage({ id }),
    'The server is not running; delivery begins when it starts.',
  );
}

/** A command on one message that ends by showing its record, with a note while no server runs. */
function recordCommand(
  context: Context,
  shell: Command,
  act: (operations: MessageOperations, id: string) => Promise<StatusRecord>,
  note = '',
): Command {
  return shell
    .argument('<id>', "the message's id, or its Message-ID: '<…@…>'")
    .action(async (id: string, options: RemoteOptions) => {
      await withMessages(context, options, async (operations, running) => {
        const record = await act(operations, id);
        const end = running || note === '' ? '' : `\n\n${note}`;
        print(context, options, record, () => `${messageText(record, context.terminal.columns())}${end}`);
      });
    });
}

interface ContentOptions extends RemoteOptions {
  readonly output?: string;
}

interface ResendOptions extends RemoteOptions {
  readonly idempotencyKey?: string;
}

/** For its owner alone: it is mail. */
const FILE_MODE = 0o600;

/** `waybill messages content ID`: the message as it is sent. */
function contentCommand(context: Context): Command {
  return remoteCommand('content', 'write a message as it is sent (RFC 822), while it is kept', [
    'waybill messages content msg_01k…',
    'waybill messages content msg_01k… --output mail.eml',
    'waybill messages content msg_01k… --url https://mail.example.net:8026 --key-file key   # needs messages:content',
  ])
    .argument('<id>', "the message's id, or its Message-ID: '<…@…>'")
    .option('--output <file>', 'write it to this file instead of standard output; must not exist yet')
    .action(async (id: string, options: ContentOptions) => {
      await withMessages(context, options, async (operations) => {
        const kept = await operations.messageContent({ id });
        const bytes = Buffer.from(kept.content, 'base64');
        const { output } = options;
        if (output !== undefined) {
          writeNew(output, bytes);
          const told = { id: kept.id, sizeBytes: kept.sizeBytes, file: output };
          print(context, options, told, () => `${output}: ${kept.sizeBytes} bytes.`);
        } else if (options.json) print(context, options, kept, () => '');
        else await show(bytes, context);
      });
    });
}

/** `waybill messages resend ID`: the same message to the same recipients, as a new one. */
function resendCommand(context: Context): Command {
  return remoteCommand(
    'resend',
    'send a kept message once more, to all its recipients, as a new message; retry sends only to failed ones',
    ['waybill messages resend msg_01k…'],
  )
    .argument('<id>', "the message's id, or its Message-ID: '<…@…>'")
    .option(
      '--idempotency-key <key>',
      'send nothing if a message was already sent under this key (with --url)',
    )
    .action(async (id: string, options: ResendOptions) => {
      const { idempotencyKey } = options;
      const client = await connect(options);
      if (client !== null) {
        const sent = sentBy(await client.resend(id, { idempotencyKey }));
        return print(context, options, sent, () => `${sent.id}\n${sent.message}`);
      }
      if (idempotencyKey !== undefined) throw needsUrl('--idempotency-key');
      await withOperations(context, options, {}, async (operations, running) => {
        const sent = await operations.resendMessage({ id });
        const note = running ? '' : ' The server is not running; delivery begins when it starts.';
        print(context, options, sent, () => `${sent.id}\nAccepted as a new message.${note}`);
      });
    });
}

/** A person sees text that cannot move the cursor; a file or a program gets the bytes. */
async function show(bytes: Buffer, { terminal }: Context): Promise<void> {
  if (terminal.columns() === null) await terminal.write(bytes);
  else terminal.out(harmless(bytes.toString().replaceAll('\r\n', '\n')));
}

function writeNew(path: string, bytes: Buffer): void {
  try {
    writeFileSync(path, bytes, { flag: 'wx', mode: FILE_MODE });
  } catch (error) {
    throw new Exit(1, `Nothing was written: ${path} cannot be created: ${readError(error)}`);
  }
}

interface SearchOptions extends CommonOptions {
  readonly limit: number;
  readonly before?: string;
}

const DEFAULT_SEARCH_LIMIT = 20;
const MAX_SEARCH_LIMIT = 200;
/** Pages that are looked through for what few messages have; each looks at 20,000 or more. */
const MAX_PAGES = 100;

/** `waybill messages search`: finds mail of all keys. */
function searchCommand(context: Context): Command {
  return command('search', 'find messages of every key by words and tokens, newest first', [
    'waybill messages search invoice to:@example.net',
    `waybill messages search '"your invoice" status:failed after:2026-11-20'`,
    "waybill messages search 'key:shop -tag:news'",
  ])
    .argument('[query...]', 'words, "phrases", and tokens such as to:, subject:, status:; see docs/search.md')
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_SEARCH_LIMIT), DEFAULT_SEARCH_LIMIT)
    .option('--before <id>', 'continue after a page: the id in its last line')
    .action(async (words: readonly string[], options: SearchOptions) => {
      await withOperations(context, options, {}, async ({ search }) => {
        const query = words.join(' ');
        const ask = (limit: number, before: string | null) => search({ query, limit, before });
        const page = await followPages(context, options, options.limit, ask);
        print(context, options, page, () => foundText(page));
      });
    });
}

/** What a page of messages has, whatever else it has. */
interface Page {
  readonly messages: readonly unknown[];
  readonly next: string | null;
}

/**
 * Asks for pages until so many messages were found, or there are no more, or enough pages were looked through; a person is told
 * how far it is. Gives the last page with all that was found.
 */
export async function followPages<P extends Page>(
  context: Context,
  options: CommonOptions & { readonly before?: string; readonly limit: number },
  enough: number,
  ask: (limit: number, before: string | null) => Promise<P>,
): Promise<P> {
  const progress = stepTeller(context, options, (place: string) => ({
    title: 'Searching older messages',
    share: isMessageId(place) ? `before ${formatTimestamp(messageIdTime(place))}` : '',
  }));
  let page = await ask(options.limit, options.before ?? null);
  const found = [...page.messages];
  for (let pages = 1; page.next !== null && found.length < enough && pages < MAX_PAGES; pages++) {
    progress.tell(page.next);
    page = await ask(options.limit - found.length, page.next);
    found.push(...page.messages);
  }
  return { ...page, messages: found };
}

/** What was found, for people, and what to know of it. */
function foundText(page: SearchPage): string {
  const notes = page.notes.map((note) => `Note: ${note}`);
  if (page.behind > 0) notes.push(`Note: about ${page.behind} older messages cannot be found by words yet.`);
  return [...notes, pageText(page)].join('\n');
}
