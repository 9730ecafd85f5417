import { Command, InvalidArgumentError } from 'commander';
import { nearest } from '../config/fault.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { Misread, readInteger, readWord } from '../operations/command.ts';
import { harmless, type Terminal, terminalJson } from './terminal.ts';

/** What every command works with. */
export interface Context {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly random: Random;
}

/** Where the installation is. */
export interface Places {
  readonly data?: string;
  readonly config?: string;
}

/** The options every command that looks at an installation has. */
export interface CommonOptions extends Places {
  readonly json?: true;
}

/** A command with the options every command has, and examples at the end of its help. */
export function command(
  name: string,
  description: string,
  examples: readonly string[],
  dataMeaning?: string,
): Command {
  return withCommonOptions(new Command(name), dataMeaning)
    .description(description)
    .addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`);
}

const DATA_MEANING = 'data directory (default: $WAYBILL_DATA, else ./data)';

/** Gives a command the options that every command has. */
export function withCommonOptions(command: Command, dataMeaning = DATA_MEANING): Command {
  return command
    .option('--data <dir>', dataMeaning)
    .option('--config <file>', 'configuration file (default: waybill.yaml in the data directory)')
    .option('--json', 'print JSON');
}

/** Lets a command have the options that were given before its name, unless it was given them itself. */
export function inheritOptions(from: Command, to: Command): void {
  for (const [name, value] of Object.entries(from.opts()))
    if (to.getOptionValue(name) === undefined) to.setOptionValue(name, value);
}

/**
 * A hook before an action that needs these options. Commander checks its own rule before unknown options, and would
 * answer `--form` with: `--from` is missing.
 */
export function needing(...names: readonly string[]): (command: Command, acting: Command) => void {
  return (_, acting) => {
    const missing = acting.options.find(
      (option) =>
        names.includes(option.attributeName()) && acting.getOptionValue(option.attributeName()) === undefined,
    );
    if (missing !== undefined) acting.error(`error: required option '${missing.flags}' not specified`);
  };
}

/**
 * Makes a command with subcommands that also does something by itself take an unknown word for a mistyped subcommand.
 * Commander does so only for a command that does nothing by itself; here it would tell of too many arguments.
 */
export function suggestingCommands(command: Command): Command {
  return command
    .allowExcessArguments()
    .allowUnknownOption()
    .hook('preAction', (_, acting) => {
      const [word] = acting === command ? command.args : [];
      if (word === undefined) return;
      const isOption = word.startsWith('-');
      const known = isOption
        ? command.options.flatMap(({ long }) => long ?? [])
        : command.commands.map((child) => child.name());
      const near = nearest(word, known);
      const hint = near === null ? '' : `\n(Did you mean ${near}?)`;
      command.error(`error: unknown ${isOption ? 'option' : 'command'} '${word}'${hint}`);
    });
}

/** Prints a result: as JSON when that was asked for, else as the given text; harmless to terminals in both cases. */
export function print(context: Context, options: CommonOptions, value: unknown, text: () => string): void {
  context.terminal.out(options.json ? terminalJson(value) : harmless(text()));
}

/** Collects an option that may be given several times. */
export function collect(value: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), value];
}

/** As {@link collect}, for one of a closed list of words. */
export function collectFrom<T extends string>(words: readonly T[]) {
  return (value: string, earlier: readonly T[] | undefined): readonly T[] => [
    ...(earlier ?? []),
    orInvalid(() => readWord(value, words)),
  ];
}

/** An option's parser: a whole number in a range. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => orInvalid(() => readInteger(text, [min, max]));
}

/** What was typed; a {@link Misread} as Commander tells it, with the option's name. */
export function orInvalid<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Misread ? new InvalidArgumentError(error.message) : error;
  }
}
