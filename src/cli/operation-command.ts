import { type Command, Option } from 'commander';
import type { Clock } from '../lib/clock.ts';
import type { CommandForm, Fixed, Typed } from '../operations/command.ts';
import type { OperationName, Operations } from '../operations/table.ts';
import { type CommonOptions, type Context, command, orInvalid, print } from './context.ts';
import { withOperations } from './session.ts';
import { Exit } from './terminal.ts';

/** Commands that each ask for one operation: made of its form, and of how its result is told. */

type RequestOf<K extends OperationName> = Parameters<Operations[K]>[0];
type ResultOf<K extends OperationName> = Awaited<ReturnType<Operations[K]>>;

/** What a result is told by. */
export interface Told<Request> {
  readonly request: Request;
  /** Of the terminal; null where it is none. */
  readonly columns: number | null;
  /** A server runs. */
  readonly running: boolean;
}

/** How the result of an operation is told. */
export interface Telling<K extends OperationName> {
  /** To people, who did not ask for JSON. */
  readonly says: (result: ResultOf<K>, told: Told<RequestOf<K>>) => string;
  /** With `--quiet`, which the command has then, and without a line around it. */
  readonly quiet?: { readonly meaning: string; readonly says: (result: ResultOf<K>) => string };
  /** What `--json` prints, if that is not the result. */
  readonly json?: (result: ResultOf<K>) => unknown;
  /** It was done, and the answer is bad: exit status 1. */
  readonly isBad?: (result: ResultOf<K>) => boolean;
}

/** The command that asks for an operation. */
export function operationCommand<K extends OperationName>(
  context: Context,
  operation: K,
  form: CommandForm<RequestOf<K>>,
  { says, quiet, json = (result) => result, isBad = () => false }: Telling<K>,
): Command {
  const { words, summary, examples, notes, takes, cures } = form;
  const shell = command(words.slice(words.lastIndexOf(' ') + 1), summary, examples);
  if (notes !== undefined) shell.addHelpText('after', `\n${notes}`);
  const fields = Object.entries<Typed<unknown> | Fixed<unknown>>(takes);
  for (const [, source] of fields) if (!('fixed' in source)) take(shell, source, context.clock);
  if (quiet !== undefined) shell.option('--quiet', quiet.meaning);
  return shell.action(async (...typed: readonly unknown[]) => {
    const options = shell.opts<CommonOptions & { readonly quiet?: true }>();
    const values = fields.map(([name, source]) => [
      name,
      'fixed' in source ? source.fixed : readFrom(source, shell, typed, context.clock),
    ]);
    // Sound because a form has a source for each field of the request, of the field's type.
    const request = Object.fromEntries(values) as RequestOf<K>;
    const session = cures ? ({ tolerateFaults: true } as const) : {};
    await withOperations(context, options, session, async (operations, running) => {
      // Sound because operation and request are of the same name.
      const call = operations[operation] as (request: RequestOf<K>) => Promise<ResultOf<K>>;
      const result = await call(request);
      const { terminal } = context;
      const told = { request, columns: terminal.columns(), running };
      if (quiet !== undefined && options.quiet) terminal.out(quiet.says(result));
      else print(context, options, json(result), () => says(result, told));
      if (isBad(result)) throw new Exit(1);
    });
  });
}

/** Has a command take an argument or an option. What is typed is looked at as it is read, so that a fault names it. */
function take(shell: Command, source: Typed<unknown>, clock: Pick<Clock, 'wall'>): void {
  const { usage, meaning, absent, repeats, choices } = source;
  const check = (typed: string, earlier: unknown): unknown => {
    const all =
      repeats && Array.isArray(earlier) ? [...earlier.map(String), typed] : repeats ? [typed] : typed;
    orInvalid(() => source.read(all, clock.wall()));
    return all;
  };
  if (!usage.startsWith('-')) {
    shell.argument(usage, meaning, check);
    return;
  }
  const option = new Option(usage, meaning);
  if (choices !== null) option.choices(choices);
  else if (option.required) option.argParser(check);
  // Shown in the help; others say there what leaving them out means.
  if (absent !== null && (choices !== null || typeof absent === 'number')) option.default(absent);
  shell.addOption(option);
}

function readFrom(
  source: Typed<unknown>,
  shell: Command,
  given: readonly unknown[],
  clock: Pick<Clock, 'wall'>,
): unknown {
  const { usage, absent } = source;
  const place = shell.registeredArguments.findIndex((argument) => usage.slice(1, -1) === argument.name());
  const option = shell.options.find(({ flags }) => flags === usage);
  const typed = option === undefined ? given[place] : shell.getOptionValue(option.attributeName());
  // Sound because nothing but `check` and Commander's own reading of texts and flags puts values there.
  return typed === undefined || typed === absent
    ? absent
    : source.read(typed as string | true | readonly string[], clock.wall());
}
