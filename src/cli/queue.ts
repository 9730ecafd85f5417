import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type HoldView,
  SELECTABLE_STATUSES,
  type SelectableStatus,
  type Selection,
  TARGET_MEANING,
} from '../operations/queue.ts';
import type { Operations, RequestOf } from '../operations/table.ts';
import type { RestoredAct } from '../store/upkeep.ts';
import {
  type CommonOptions,
  type Context,
  collectFrom,
  command,
  print,
  suggestingCommands,
} from './context.ts';
import { operationCommands } from './operation-command.ts';
import { destinationText, queueText } from './queue-text.ts';
import { withOperations } from './session.ts';
import { counted, Exit, harmless } from './terminal.ts';

interface QueueOptions extends CommonOptions {
  readonly watch?: true;
  readonly relay?: string;
}

/** How often the screen is drawn anew. */
const REDRAW_MS = 1_000;

/** `waybill queue …`: what waits where, and what to do about it. */
export function queueCommand(context: Context): Command {
  const queue = command('queue', 'the queue: show what waits, hold it, act on it', [
    'waybill queue',
    'waybill queue --watch --relay out',
    'waybill queue pause out',
    'waybill queue retry --relay out --to @example.net --dry-run',
  ])
    .enablePositionalOptions()
    .option('--watch', 'refresh every second, until Ctrl-C')
    .option('--relay <name>', 'only the lanes of this relay')
    .action(async (options: QueueOptions) => {
      if (options.watch) await watch(context, options);
      else
        await withOperations(context, options, {}, async (operations, running) => {
          const view = await operations.queue({ relay: options.relay ?? null });
          print(
            context,
            options,
            view,
            () => queueText(view, context.terminal.columns()) + idleNote(running),
          );
        });
    });
  const order = ['why', 'pause', resumeCommand(context), 'drain', ...queueActCommands(context)];
  const texts = { destination: destinationText };
  for (const child of operationCommands(context, { name: 'queue', order, texts })) queue.addCommand(child);
  return suggestingCommands(queue);
}

function idleNote(running: boolean): string {
  return running ? '' : '\nThe server is not running: nothing is being sent.';
}

/** Draws the queue until the user has seen enough. What goes wrong is shown in its place: a server may come back. */
async function watch(context: Context, options: QueueOptions): Promise<void> {
  const { terminal, clock } = context;
  if (options.json || terminal.columns() === null)
    throw new Exit(2, '--watch needs a terminal; in programs, repeat: waybill queue --json');
  const end = new AbortController();
  const stop = () => end.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  while (!end.signal.aborted) {
    terminal.redraw(harmless(await screen(context, options)));
    await clock.sleep(REDRAW_MS, end.signal);
  }
  process.off('SIGINT', stop).off('SIGTERM', stop);
}

async function screen(context: Context, options: QueueOptions): Promise<string> {
  let text = '';
  try {
    await withOperations(context, options, { tolerateFaults: true }, async (operations, running) => {
      const view = await operations.queue({ relay: options.relay ?? null });
      text = `${view.time}\n\n${queueText(view, context.terminal.columns())}${idleNote(running)}`;
    });
  } catch (error) {
    // Without a text it is the note on faults of the configuration, which do not change what waits.
    if (text === '') text = error instanceof Error ? error.message : String(error);
  }
  return text;
}

function resumeCommand(context: Context): Command {
  return command('resume', 'resume a paused or draining lane or relay', [
    'waybill queue resume out',
    'waybill queue resume --restored',
  ])
    .argument('[target]', TARGET_MEANING, notEmpty)
    .addOption(restoredOption('resume'))
    .action(async (target: string | undefined, options: CommonOptions & { readonly restored?: true }) => {
      if ((target === undefined) !== (options.restored === true))
        throw new Exit(2, 'Give either a lane or a relay, or --restored.');
      if (target === undefined) return await decideRestored(context, options, 'resume');
      await withOperations(context, options, { tolerateFaults: true }, async (operations, running) => {
        const view = await operations.hold({ target, kind: null });
        const note = running ? '' : ' The server is not running; sending begins when it starts.';
        print(context, options, view, () => `${resumedText(view)}${note}`);
      });
    });
}

function resumedText({ target, changed, waiting }: HoldView): string {
  return changed
    ? `${target} is resumed, recipients waiting there: ${waiting}.`
    : `${target} was itself neither paused nor draining; see: waybill queue`;
}

function notEmpty(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It must not be empty.');
}

/** The option that asks for it. */
function restoredOption(act: RestoredAct): Option {
  const what = act === 'resume' ? 'send' : 'cancel';
  return new Option('--restored', `${what} mail that came back with a backup and was still to be sent then`);
}

/** Decides on all of it. */
async function decideRestored(context: Context, options: CommonOptions, act: RestoredAct): Promise<void> {
  await withOperations(context, options, { tolerateFaults: true }, async (operations, running) => {
    const decision = await operations.decideRestored({ act });
    const who = counted(decision.recipients, 'recipient');
    print(context, options, decision, () =>
      act === 'cancel'
        ? `Mail to ${who} that came back with the backup is cancelled.`
        : `Mail to ${who} that came back with the backup is sent${running ? ' now' : ' when the server runs'}; each may be a second copy.`,
    );
  });
}

interface ActOptions extends CommonOptions {
  readonly lane?: string;
  readonly relay?: string;
  readonly status?: readonly SelectableStatus[];
  readonly tag?: string;
  readonly to?: string;
  readonly from?: string;
  readonly olderThan?: number;
  readonly all?: true;
  readonly dryRun?: true;
  readonly toRelay?: string;
  readonly restored?: true;
}

/** What was done in all calls together. */
interface Sum {
  readonly matched: number;
  readonly acted: number;
}

/** The options that select, or only count. */
const SELECTING = ['lane', 'relay', 'status', 'tag', 'to', 'from', 'olderThan', 'all', 'dryRun'];

/** How often a person is told how far it is. */
const PROGRESS_MS = 1_000;

/** The commands that act on a selection. */
function queueActCommands(context: Context): Command[] {
  return [retryCommand(context), cancelCommand(context), rerouteCommand(context)];
}

function retryCommand(context: Context): Command {
  const shell = command(
    'retry',
    'try messages again, now: those with retrying recipients, or with --status failed those with failed recipients',
    ['waybill queue retry --relay out', 'waybill queue retry --status failed --older-than 1h --dry-run'],
  );
  return actCommand(context, shell, 'retry', 'Tried again now');
}

function cancelCommand(context: Context): Command {
  const shell = command('cancel', 'fail recipients that still wait; an attempt in progress is the last', [
    'waybill queue cancel --tag newsletter --dry-run',
    'waybill queue cancel --from @example.com --older-than 2d',
    'waybill queue cancel --restored',
  ]).addOption(restoredOption('cancel').conflicts(SELECTING));
  return actCommand(context, shell, 'cancel', 'Cancelled');
}

function rerouteCommand(context: Context): Command {
  const shell = command(
    'reroute',
    'move waiting recipients to another relay, or to the one that the routing table chooses now',
    ['waybill queue reroute --relay out --to-relay backup', 'waybill queue reroute --all'],
  ).option('--to-relay <name>', 'the relay to use (default: the routing table decides)');
  return actCommand(context, shell, 'reroute', 'Rerouted');
}

function actCommand(
  context: Context,
  shell: Command,
  act: RequestOf<'actOnQueue'>['act'],
  done: string,
): Command {
  return withSelection(shell).action(async (options: ActOptions) => {
    if (options.restored) return await decideRestored(context, options, 'cancel');
    const request = {
      act,
      selection: selectionOf(options),
      toRelay: options.toRelay ?? null,
      dryRun: options.dryRun ?? false,
    };
    await withOperations(context, options, {}, async (operations) => {
      const sum = await actOnAll(request, operations, context);
      const { matched, acted } = sum;
      const what = (count: number) => counted(count, act === 'reroute' ? 'recipient' : 'message');
      print(context, options, { act, dryRun: request.dryRun, ...sum }, () =>
        request.dryRun
          ? `Matched: ${what(matched)}; nothing was done.`
          : `${done}: ${what(acted)}.${acted < matched ? ` Unchanged: ${matched - acted}.` : ''}`,
      );
    });
  });
}

function withSelection(shell: Command): Command {
  return shell
    .option('--lane <lane>', 'only mail in this lane')
    .option('--relay <name>', 'only mail routed to this relay')
    .option(
      '--status <status>',
      `only those that are ${SELECTABLE_STATUSES.join(', ')}; may be given several times`,
      collectFrom(SELECTABLE_STATUSES),
    )
    .option('--tag <tag>', 'only those with exactly this tag')
    .option('--to <address>', 'only those to this address, or to a whole domain: @example.net')
    .option('--from <address>', 'only those from this envelope sender, or from a whole domain')
    .option('--older-than <time>', 'only those accepted at least this long ago: 90s, 30m, 2h, 7d', duration)
    .option('--all', 'everything, without any of the conditions above')
    .option('--dry-run', 'only count');
}

function selectionOf(options: ActOptions): Selection {
  const { lane = null, relay = null, status = [], tag = null, to = null, from = null } = options;
  const { olderThan = null, all = false } = options;
  return { lane, relay, statuses: [...status], tag, to, from, olderThanSeconds: olderThan, all };
}

/** Calls until nothing is left, and says now and then how far it is. */
async function actOnAll(
  request: Omit<RequestOf<'actOnQueue'>, 'cursor'>,
  operations: Operations,
  { terminal, clock }: Context,
): Promise<Sum> {
  let [matched, acted] = [0, 0];
  let cursor: string | null = null;
  let toldAt = clock.mono();
  do {
    const part = await operations.actOnQueue({ ...request, cursor });
    matched += part.matched;
    acted += part.acted;
    cursor = part.next;
    if (cursor !== null && clock.mono() - toldAt >= PROGRESS_MS) {
      terminal.err(`${request.dryRun ? matched : acted} so far …`);
      toldAt = clock.mono();
    }
  } while (cursor !== null);
  return { matched, acted };
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** An option's parser: a duration such as `30m`, in seconds. */
function duration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  const seconds = UNIT_SECONDS[unit];
  if (seconds !== undefined) return Number(count) * seconds;
  throw new InvalidArgumentError('It must be a number and a unit: 90s, 30m, 2h or 7d.');
}
