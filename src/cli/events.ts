import type { Command } from 'commander';
import { OperationError } from '../operations/call.ts';
import type { EventsPage } from '../operations/messages.ts';
import type { Operations } from '../operations/table.ts';
import { type CommonOptions, type Context, command, wholeNumber } from './context.ts';
import { fittingTable } from './fitting.ts';
import { runningOperations, withOperations } from './session.ts';
import { Exit, harmless, terminalJsonLine } from './terminal.ts';

/** The options that are the API's parameters of the same names. */
interface Filter {
  readonly types?: string;
  readonly message?: string;
  readonly recipient?: string;
  readonly tag?: string;
  readonly since?: string;
  readonly until?: string;
}

interface EventsOptions extends CommonOptions, Filter {
  readonly follow?: true;
  readonly limit: number;
}

type Event = EventsPage['events'][number];
type Asked = Pick<Operations, 'events'>;

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 200;
/** Pages that are looked through for rare events; each looks at 5,000. */
const MAX_PAGES = 100;
/** How often a follower asks for more. */
const ASK_MS = 500;

/** `waybill events`: what happened to the mail, and what happens. */
export function eventsCommand(context: Context): Command {
  return command(
    'events',
    'show what happened to messages of every key, to the suppression list and to relays; the newest last',
    [
      'waybill events',
      'waybill events --types message.failed,message.deferred --since 2026-11-20T00:00:00Z --limit 100',
      'waybill events --message msg_01k…',
      'waybill events --follow --recipient ann@example.net',
      'waybill events --follow --json >> events.ndjson',
    ],
  )
    .option('--follow', 'go on with what happens, until Ctrl-C; needs a running server')
    .option(
      '--types <types>',
      'only these, separated by commas: message.failed; message.* for all that begin so',
    )
    .option('--message <id>', 'only those of this message')
    .option(
      '--recipient <address>',
      'only those of this recipient, or of a suppression entry for the address',
    )
    .option('--tag <tag>', 'only those of messages with exactly this tag')
    .option('--since <time>', 'only those that happened at this time or later: 2026-11-20T00:00:00Z')
    .option('--until <time>', 'only those that happened before this time')
    .option('--limit <n>', 'how many of the newest', wholeNumber(1, MAX_LIMIT), DEFAULT_LIMIT)
    .addHelpText('after', '\nWith --json each event is one line, as GET /api/v1/events shows it.')
    .action(async (options: EventsOptions) => {
      if (options.follow) return await follow(context, options);
      await withOperations(context, options, {}, async (operations) => {
        const { events, hasMore } = await newest(operations, options);
        show(context, options, events, true);
        if (options.json) return;
        if (events.length === 0) context.terminal.out('There are no such events.');
        if (hasMore) context.terminal.out('\nThere are older ones: give --until, or a larger --limit.');
      });
    });
}

function filterOf({ types, message, recipient, tag, since, until }: Filter): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries({ types, message, recipient, tag, since, until }))
    if (value !== undefined) given[name] = value;
  return given;
}

/** What is shown first, oldest first. */
interface Newest {
  readonly events: readonly Event[];
  readonly hasMore: boolean;
  /** Everything that is newer comes after it. */
  readonly nextAfter: number;
}

/** The newest events, however many others lie between them. */
async function newest({ events: ask }: Asked, { limit, ...options }: EventsOptions): Promise<Newest> {
  const filter = filterOf(options);
  const found: Event[] = [];
  let before: number | null = null;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page: EventsPage = await ask({ filter, limit: limit - found.length, after: null, before });
    found.push(...page.events);
    before = page.nextCursor === undefined ? null : Number(page.nextCursor);
    if (before === null || found.length >= limit) break;
  }
  const nextAfter = found[0]?.data.sequence ?? 0;
  return { events: found.reverse(), hasMore: before !== null, nextAfter };
}

/**
 * Shows the newest events, then each that happens, until the user has seen enough. A server that goes away is waited
 * for: where it was left, it goes on.
 */
async function follow(context: Context, options: EventsOptions): Promise<void> {
  const { clock } = context;
  const operations = await runningOperations(context, options);
  if (operations === null)
    throw new Exit(
      1,
      'The server is not running, so nothing happens. Without --follow: what happened before.',
    );
  const end = new AbortController();
  const stop = () => end.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  // Whoever reads this has seen enough, too.
  process.stdout.once('error', stop);
  const first = await newest(operations, options);
  show(context, options, first.events, true);
  let isHeaded = first.events.length > 0;
  let after = first.nextAfter;
  let isLost = false;
  while (!end.signal.aborted) {
    const page = await pageAfter(after, context, options);
    if (page === null && !isLost) context.terminal.err('The server does not answer; waiting for it.');
    isLost = page === null;
    const events = page?.events ?? [];
    show(context, options, events, !isHeaded);
    isHeaded ||= events.length > 0;
    after = page?.nextAfter ?? after;
    if (page?.hasMore !== true) await clock.sleep(ASK_MS, end.signal);
  }
  process.off('SIGINT', stop).off('SIGTERM', stop);
  process.stdout.off('error', stop);
}

/** What came after a sequence; null while no server answers. */
async function pageAfter(
  after: number,
  context: Context,
  options: EventsOptions,
): Promise<EventsPage | null> {
  try {
    const operations = await runningOperations(context, options);
    const filter = filterOf(options);
    return (await operations?.events({ filter, limit: MAX_LIMIT, after, before: null })) ?? null;
  } catch (error) {
    if (isPassing(error)) return null;
    throw error;
  }
}

/** It is starting, stopping, or cannot reach its database just now. */
function isPassing(error: unknown): boolean {
  if (error instanceof OperationError) return error.code === 'unavailable';
  return error instanceof Error && 'syscall' in error;
}

function show(
  { terminal }: Context,
  { json }: CommonOptions,
  events: readonly Event[],
  isFirst: boolean,
): void {
  if (json) for (const event of events) terminal.out(terminalJsonLine(event));
  else if (events.length > 0) terminal.out(harmless(eventsText(events, terminal.columns(), isFirst)));
}

const HEADINGS = ['TIME', 'TYPE', 'MESSAGE', 'RECIPIENT', 'RELAY', 'REPLY'];
/** So wide are recipients and relays at least, so that what follows lies below what was shown. */
const RECIPIENT_WIDTH = 24;
const RELAY_WIDTH = 8;

/** Events for people, one a line; the headings stand above the first ones. */
function eventsText(events: readonly Event[], columns: number | null, isFirst: boolean): string {
  const rows = events.map(({ type, timestamp, data }) => {
    const { message, recipient, relay, entry, domain, suppression } = data;
    return [
      timestamp,
      type,
      message?.id ?? suppression ?? '',
      (recipient?.address ?? entry?.address ?? domain ?? '').padEnd(RECIPIENT_WIDTH),
      (relay ?? '').padEnd(RELAY_WIDTH),
      entry ? `${entry.reason}, ${entry.scope}` : replyText(data),
    ];
  });
  const text = fittingTable(HEADINGS, rows, columns);
  return isFirst ? text : text.slice(text.indexOf('\n') + 1);
}

/** What was replied, and how it ended if it did not end well. */
function replyText({ reply, recipient }: Event['data']): string {
  const { code, enhancedCode, text = '' } = reply ?? {};
  const codes = [code, enhancedCode].filter(
    (one) => one !== null && one !== undefined && !text.split(/\s+/, 2).includes(String(one)),
  );
  const words = [...codes, text].filter((one) => one !== '').join(' ');
  const outcome = recipient?.status === 'failed' ? recipient.outcome : null;
  return [outcome, words].filter((part) => part !== null && part !== '').join(': ');
}
