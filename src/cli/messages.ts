import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { formatTimestamp } from '../lib/clock.ts';
import { readError } from '../lib/error.ts';
import { isMessageId, messageIdTime } from '../lib/id.ts';
import type { Attempts, MessageOperations } from '../operations/messages.ts';
import type { SearchPage } from '../operations/search.ts';
import type { RequestOf } from '../operations/table.ts';
import { type CommonOptions, type Context, print } from './context.ts';
import { attemptsText, messageText, pageText, timelineText, waysText } from './message-text.ts';
import { groupCommand } from './operation-command.ts';
import { preflightText } from './preflight-text.ts';
import { redactor } from './redacting.ts';
import { connect, type RemoteOptions, remoteCommand, sentBy, withMessages } from './remote.ts';
import { needsUrl } from './send.ts';
import { withOperations } from './session.ts';
import { stepTeller } from './step-teller.ts';
import { DEFAULT_COLUMNS, Exit, harmless } from './terminal.ts';

/** `waybill messages …`: what became of the mail, and what to do about it. */
export function messagesCommand(context: Context): Command {
  const [show, content, resend] = [showCommand(context), contentCommand(context), resendCommand(context)];
  return groupCommand(context, {
    name: 'messages',
    title: 'messages',
    order: ['list', 'search', show, 'attempts', content, 'check', 'cancel', 'reschedule', 'retry', resend],
    texts: {
      messages: pageText,
      search: foundText,
      attempts: attemptsText,
      preflight: ({ findings }, { columns }) => preflightText(findings, columns),
      cancelMessage: (record, { columns }) => messageText(record, columns),
      rescheduleMessage: (record, { columns }) => messageText(record, columns),
      retryMessage: (record, { columns, running }) =>
        `${messageText(record, columns)}${running ? '' : '\n\nThe server is not running; delivery begins when it starts.'}`,
    },
    calls: {
      messages: (request, ask, options) => followPages(context, options, request, 1, ask),
      attempts: ({ id }, ask) => allAttempts(ask, id),
      search: (request, ask, options) => followPages(context, options, request, request.limit, ask),
    },
  });
}

interface ShowOptions extends RemoteOptions {
  readonly steps?: true;
  readonly redact?: true;
}

function showCommand(context: Context): Command {
  return remoteCommand('show', 'show one message, the state of each recipient, and every attempt', [
    'waybill messages show msg_01k…',
    'waybill messages show msg_01k… --steps',
    'waybill messages show msg_01k… --redact   # for a ticket: without names, subject and metadata',
  ])
    .argument('<id>', "the message's id, also as a UUID, or its Message-ID: '<…@…>'")
    .option('--steps', 'show the conversation of every attempt, not only of the last')
    .option(
      '--redact',
      'hide who it is from and to, except for their domains, its subject, tags and metadata',
    )
    .action(async (given: string, options: ShowOptions) => {
      await withMessages(context, options, async (operations) => {
        const id = given.trim();
        const whole = await operations.message({ id });
        const hide = options.redact === true ? redactor(whole) : <T>(told: T) => told;
        const record = hide(whole);
        const columns = context.terminal.columns();
        const attempts = options.json ? null : await allAttempts(operations.attempts, id);
        const story =
          attempts === null
            ? ''
            : timelineText(hide(attempts), options.steps ? 'all' : 'last', columns ?? DEFAULT_COLUMNS);
        const ways = options.json ? '' : waysText(hide(await operations.ways({ id })), columns);
        print(context, options, record, () =>
          [messageText(record, columns), ways, story].filter(Boolean).join('\n\n'),
        );
      });
    });
}

async function allAttempts(ask: MessageOperations['attempts'], id: string): Promise<Attempts> {
  const all: Attempts['attempts'][number][] = [];
  let cursor: string | null = null;
  do {
    const page: Attempts = await ask({ id, cursor });
    all.push(...page.attempts);
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
  return { attempts: all, hasMore: false };
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

/** Pages that are looked through for what few messages have; each looks at 20,000 or more. */
const MAX_PAGES = 100;

/** What a page of messages has, whatever else it has. */
interface Page {
  readonly messages: readonly unknown[];
  readonly next: string | null;
}

/**
 * Asks for pages until so many messages were found, or there are no more, or enough pages were looked through; a person is told
 * how far it is. Gives the last page with all that was found.
 */
export async function followPages<
  Request extends Pick<RequestOf<'search'>, 'limit' | 'before'>,
  P extends Page,
>(
  context: Context,
  options: CommonOptions,
  request: Request,
  enough: number,
  ask: (request: Request) => Promise<P>,
): Promise<P> {
  const progress = stepTeller(context, options, (place: string) => ({
    title: 'Searching older messages',
    share: isMessageId(place) ? `before ${formatTimestamp(messageIdTime(place))}` : '',
  }));
  let page = await ask(request);
  const found = [...page.messages];
  for (let pages = 1; page.next !== null && found.length < enough && pages < MAX_PAGES; pages++) {
    progress.tell(page.next);
    page = await ask({ ...request, limit: request.limit - found.length, before: page.next });
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
