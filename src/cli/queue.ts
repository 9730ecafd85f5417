import { type Command, InvalidArgumentError } from 'commander';
import { type CommandForm, fixed, text } from '../operations/command.ts';
import type { HoldView } from '../operations/queue.ts';
import type { RequestOf } from '../operations/table.ts';
import { type CommonOptions, type Context, command, print, suggestingCommands } from './context.ts';
import { Exit } from './exit.ts';
import { operationCommand } from './operation-command.ts';
import { queueActCommands } from './queue-acts.ts';
import { decideRestored, restoredOption } from './queue-restored.ts';
import { queueText } from './queue-text.ts';
import { withOperations } from './session.ts';
import { harmless } from './terminal.ts';

interface QueueOptions extends CommonOptions {
  readonly watch?: true;
  readonly relay?: string;
}

const TARGET = "a relay's name, or a lane: an mx relay's name, a slash and a domain";

// Holding mail back must not wait until a configuration is free of faults.
const PAUSE: CommandForm<RequestOf<'hold'>> = {
  words: 'queue pause',
  summary: 'send nothing by a lane or relay until it is resumed; what is routed to it waits',
  examples: ['waybill queue pause out', 'waybill queue pause direct/example.com'],
  takes: { target: text('<target>', TARGET), kind: fixed('pause') },
  cures: true,
};

const DRAIN: CommandForm<RequestOf<'hold'>> = {
  words: 'queue drain',
  summary: 'send what waits for a lane or relay, but route nothing new to it',
  examples: ['waybill queue drain out'],
  takes: { target: text('<target>', TARGET), kind: fixed('drain') },
  cures: true,
};

/** How often the screen is drawn anew. */
const REDRAW_MS = 1_000;

/** `waybill queue …`: what waits where, and what to do about it. */
export function queueCommand(context: Context): Command {
  const queue = command('queue', 'what waits where: show it, hold it back, act on it', [
    'waybill queue',
    'waybill queue --watch --relay out',
    'waybill queue pause out',
    'waybill queue retry --relay out --to @example.net --dry-run',
  ])
    .enablePositionalOptions()
    .option('--watch', 'draw it anew every second, until Ctrl-C')
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
  const pause = operationCommand(context, 'hold', PAUSE, {
    says: ({ target, waiting }) =>
      `${target} is paused, recipients waiting there: ${waiting}. Attempts under way end. To go on: waybill queue resume ${target}`,
  });
  const drain = operationCommand(context, 'hold', DRAIN, {
    says: ({ target, waiting, processing }) =>
      `${target} is draining, recipients still to be sent: ${waiting + processing}. New mail goes elsewhere. To undo: waybill queue resume ${target}`,
  });
  const holds = [pause, resumeCommand(context), drain];
  for (const child of [...holds, ...queueActCommands(context)]) queue.addCommand(child);
  return suggestingCommands(queue);
}

function idleNote(running: boolean): string {
  return running ? '' : '\nThe server does not run: nothing is being sent.';
}

/** Draws the queue until the user has seen enough. What goes wrong is shown in its place: a server may come back. */
async function watch(context: Context, options: QueueOptions): Promise<void> {
  const { terminal, clock } = context;
  if (options.json || terminal.columns() === null)
    throw new Exit(2, '--watch draws on a terminal; for programs, repeat: waybill queue --json');
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
  return command('resume', 'let a lane or relay go on that was paused or draining', [
    'waybill queue resume out',
    'waybill queue resume --restored',
  ])
    .argument('[target]', TARGET, notEmpty)
    .addOption(restoredOption('resume'))
    .action(async (target: string | undefined, options: CommonOptions & { readonly restored?: true }) => {
      if ((target === undefined) !== (options.restored === true))
        throw new Exit(2, 'Name a lane or a relay, or give --restored: one of them.');
      if (target === undefined) return await decideRestored(context, options, 'resume');
      await withOperations(context, options, { tolerateFaults: true }, async (operations, running) => {
        const view = await operations.hold({ target, kind: null });
        const note = running ? '' : ' The server does not run; sending begins when it starts.';
        print(context, options, view, () => `${resumedText(view)}${note}`);
      });
    });
}

function resumedText({ target, changed, waiting }: HoldView): string {
  return changed
    ? `${target} goes on, recipients waiting there: ${waiting}.`
    : `${target} was neither paused nor draining itself; see: waybill queue`;
}

function notEmpty(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It must not be empty.');
}
