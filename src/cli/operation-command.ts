import { Argument, Command, Option } from 'commander';
import type { Clock } from '../lib/clock.ts';
import type { CommandForm, Given, Says, Source, TableForm, Typed } from '../operations/command.ts';
import {
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
  type Operations,
  type RequestOf,
  type ResultOf,
} from '../operations/table.ts';
import { type CommonOptions, type Context, command, needing, orInvalid, print } from './context.ts';
import { fittingTable, shortTime } from './fitting.ts';
import { type RemoteOptions, remoteCommand, withMessages } from './remote.ts';
import { withOperations } from './session.ts';
import { Exit, table, terminalJson } from './terminal.ts';

/** The commands that each ask for one operation: made of what the records of `operations/` say of them. */

/** Commands of common first words. */
interface Group extends Ways {
  /** All of those words. */
  readonly name: string;
  /** How the help begins: commands of records by their last words, and others. Those of further records come after. */
  readonly order?: readonly (string | Command)[];
}

/** What is done here for commands of records. */
interface Ways {
  /** How results are told to people, where their records do not say it. */
  readonly texts?: { readonly [K in OperationName]?: Says<RequestOf<K>, ResultOf<K>> };
  /** How operations are called that may take several calls. */
  readonly calls?: { readonly [K in OperationName]?: Calls<K> };
  /** Fields of requests for which a file is named: how it is read. */
  readonly files?: Readonly<Record<string, (name: string) => Promise<unknown>>>;
}

type Calls<K extends OperationName> = (
  request: RequestOf<K>,
  call: (request: RequestOf<K>) => Promise<ResultOf<K>>,
  options: CommonOptions,
) => Promise<ResultOf<K>>;

/** `waybill <group> …`. Its title says what the commands are about; what it consists of is told behind it. */
export function groupCommand(context: Context, group: Group & { readonly title: string }): Command {
  const made = operationCommands(context, group);
  const description = `${group.title}: ${made.map((child) => child.name()).join(', ')}`;
  const shell = new Command(group.name.slice(group.name.lastIndexOf(' ') + 1)).description(description);
  for (const child of made) shell.addCommand(child);
  return shell;
}

/** The commands of a group, as it orders them. */
export function operationCommands(context: Context, { name, order = [], ...ways }: Group): Command[] {
  const ofRecords = OPERATION_NAMES.flatMap((operation) => commandsOf(context, operation, name, ways));
  const first = order.map((one) => {
    const found = typeof one === 'string' ? ofRecords.find((made) => made.name() === one) : one;
    if (found === undefined) throw new Error(`There is no command ${name} ${String(one)}.`);
    return found;
  });
  return [...first, ...ofRecords.filter((made) => !first.includes(made))];
}

function commandsOf<K extends OperationName>(
  context: Context,
  operation: K,
  group: string,
  ways: Ways,
): Command[] {
  // Sound because a record's commands are of its own request and result.
  const forms = OPERATIONS[operation].commands as readonly FormOf<K>[] | undefined;
  return (forms ?? [])
    .filter(({ words }) => words.slice(0, words.lastIndexOf(' ')) === group)
    .map((form) => operationCommand(context, operation, form, ways));
}

type FormOf<K extends OperationName> = CommandForm<RequestOf<K>, ResultOf<K>>;

/** The command that asks for an operation. */
function operationCommand<K extends OperationName>(
  context: Context,
  operation: K,
  form: FormOf<K>,
  { texts, calls, files }: Ways,
): Command {
  const { words, summary, examples, notes, takes, quiet, remote } = form;
  const name = words.slice(words.lastIndexOf(' ') + 1);
  const shell = remote ? remoteCommand(name, summary, examples) : command(name, summary, examples);
  if (notes !== undefined) shell.addHelpText('after', `\n${notes}`);
  const fields = Object.entries<Source<unknown>>(takes);
  const sources = fields.flatMap(([, source]) =>
    'fixed' in source ? [] : 'parts' in source ? Object.values(source.parts) : [source],
  );
  for (const source of sources) take(shell, source, context.clock);
  if (quiet !== undefined) shell.option('--quiet', quiet.meaning);
  return shell.action(async (...typed: readonly unknown[]) => {
    const options = shell.opts<RemoteOptions & { readonly quiet?: true }>();
    const read = (source: Typed<unknown>) => readFrom(source, shell, typed, context.clock);
    const values = fields.map(async ([field, source]) => {
      const value = valueBy(source, read);
      const readFile = value === null ? undefined : files?.[field];
      return [field, await (readFile?.(String(value)) ?? value)] as const;
    });
    // Sound because a form has a source for each field of the request, of the field's type.
    const request = Object.fromEntries(await Promise.all(values)) as RequestOf<K>;
    if (form.wantsOption && !sources.some((source) => isGiven(source, shell)))
      throw new Exit(USAGE, `Say what to change. See: waybill ${words} --help`);
    const use = async (operations: Partial<Operations>, running: boolean) => {
      // Sound because operation and request are of the same name; those far away have all that `remote` says.
      const call = operations[operation] as (request: RequestOf<K>) => Promise<ResultOf<K>>;
      const result = await (calls?.[operation]?.(request, call, options) ?? call(request));
      const told = { request, columns: context.terminal.columns(), running };
      if (quiet !== undefined && options.quiet) context.terminal.out(quiet.says(result));
      else
        print(context, options, form.json?.(result) ?? result, () =>
          textOf(form.prints ?? texts?.[operation], result, told),
        );
      if (form.isBad?.(result)) throw new Exit(1);
    };
    if (remote) await withMessages(context, options, use);
    else await withOperations(context, options, form.cures ? { tolerateFaults: true } : {}, use);
  });
}

const USAGE = 2;

function textOf<K extends OperationName>(
  prints: FormOf<K>['prints'],
  result: ResultOf<K>,
  told: Parameters<Says<RequestOf<K>, ResultOf<K>>>[1],
): string {
  if (prints === undefined) return terminalJson(result);
  if (typeof prints === 'function') return prints(result, told);
  // Sound because the table is of what the result has as rows, or of the result itself.
  return tableText<unknown>(prints as TableForm<unknown>, [result].flat(), told.columns);
}

/** Rows as their form has them under headings, or that there are none. */
export function tableText<Row>(
  { columns, empty, fits }: TableForm<Row>,
  rows: readonly Row[],
  width: number | null,
): string {
  if (rows.length === 0) return empty;
  const headings = Object.keys(columns);
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)));
  if (!fits) return table(headings, cells);
  const short = cells.map((row) => row.map((cell) => (TIME.test(cell) ? shortTime(cell, width) : cell)));
  return fittingTable(headings, short, width);
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** The value of a field. */
function valueBy(source: Source<unknown>, read: (source: Typed<unknown>) => unknown): unknown {
  if ('fixed' in source) return source.fixed;
  if (!('parts' in source)) return read(source);
  return source.join(
    Object.entries(source.parts).flatMap(([name, part]) =>
      [read(part) ?? []].flat().map((value): [string, string] => [name, String(value)]),
    ),
  );
}

/** Has a command take an argument or an option. What is typed is looked at as it is read, so that a fault names it. */
function take(shell: Command, source: Typed<unknown>, clock: Pick<Clock, 'wall'>): void {
  const { usage, meaning, absent, repeats, choices, instead } = source;
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
  if (source.needed) shell.hook('preAction', needing(option.attributeName()));
  if (instead !== undefined) shell.option(instead.usage, instead.meaning);
}

function readFrom(
  source: Typed<unknown>,
  shell: Command,
  given: readonly unknown[],
  clock: Pick<Clock, 'wall'>,
): unknown {
  const { usage, absent, instead } = source;
  const place = shell.registeredArguments.findIndex(
    (argument) => argument.name() === new Argument(usage).name(),
  );
  const option = optionOf(shell, usage);
  const typed = option === undefined ? given[place] : shell.getOptionValue(option.attributeName());
  // Commander keeps `--no-name` as false under the name of `--name`: of both, the last that was typed counts.
  if (instead !== undefined && typed === false) return instead.value;
  const isInstead = instead !== undefined && typedAt(shell, instead.usage) === true;
  if (isInstead && typed !== undefined)
    throw new Exit(USAGE, `${option?.long} and ${instead.usage} do not go together.`);
  if (isInstead) return instead.value;
  // Sound because nothing but `check` and Commander's own reading of texts and flags puts values there.
  return typed === undefined || typed === absent ? absent : source.read(typed as Given, clock.wall());
}

/** Whether an option of a field was typed. */
function isGiven({ usage: own, instead }: Typed<unknown>, shell: Command): boolean {
  return [own, instead?.usage].some((usage) => usage !== undefined && typedAt(shell, usage) !== undefined);
}

function typedAt(shell: Command, usage: string): unknown {
  const option = optionOf(shell, usage);
  return option && shell.getOptionValue(option.attributeName());
}

function optionOf(shell: Command, usage: string): Option | undefined {
  return shell.options.find(({ flags }) => flags === usage);
}
