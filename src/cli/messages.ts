import { Command } from 'commander';
import { MESSAGE_STATUSES, type MessageStatus } from '../domain/delivery.ts';
import type { Attempts, MessageOperations, StatusRecord } from '../operations/messages.ts';
import { timelineText } from './attempt-text.ts';
import { type Context, collectFrom, print, wholeNumber } from './context.ts';
import { attemptsText, messageText, pageText, waysText } from './message-text.ts';
import { contentCommand, resendCommand } from './messages-content.ts';
import { followPages, searchCommand } from './messages-search.ts';
import { type RemoteOptions, remoteCommand, withMessages } from './remote.ts';
import { DEFAULT_COLUMNS } from './terminal.ts';

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
    .option('--subject <text>', 'only those whose subject contains this, whatever its letter case')
    .option('--since <time>', 'only those accepted then or later: 2026-11-20T00:00:00Z')
    .option('--until <time>', 'only those accepted before then')
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LIMIT), DEFAULT_LIMIT)
    .option('--before <id>', 'go on where a page ended: the id in its last line (with --url, the cursor)')
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
  return remoteCommand('show', 'show one message, what became of each recipient, and every attempt', [
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
  return remoteCommand('attempts', 'show every try to hand a message on', [
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
  const all: Attempts['attempts'] = [];
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
    remoteCommand('cancel', 'fail the recipients that still wait; an attempt under way is the last', [
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
    'The server does not run; delivery begins when it starts.',
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
