/**
 * How people ask for an operation on the command line: each field of its request is an argument, an option, or a value that the
 * command stands for. The command itself is made of that by `cli/operation-command.ts`.
 */
import { formatTimestamp } from '../lib/clock.ts';

/** What was typed is not what belongs there. The message ends a sentence that names the argument or option. */
export class Misread extends Error {}

/** A field of a request, as it is typed. */
export interface Typed<T> {
  /** As the help shows it: `<key>` is an argument, `[domain]` one that may be left out, `--rate <n>` an option. */
  readonly usage: string;
  readonly meaning: string;
  /** May be given several times. */
  readonly repeats: boolean;
  /** Closed list of what may be typed, where the help lists it. */
  readonly choices: readonly string[] | null;
  /** What help and request say where it is not typed. */
  readonly absent: T;
  /** The value of a text, or of all that were typed where it repeats; `true` for an option without a value. `now` is in ms. Throws {@link Misread}. */
  readonly read: (typed: string | true | readonly string[], now: number) => T;
}

/** A value that the command stands for. */
export interface Fixed<T> {
  readonly fixed: T;
}

/** A command that asks for one operation. */
export interface CommandForm<Request> {
  /** The words after `waybill`, such as `keys rotate`. */
  readonly words: string;
  readonly summary: string;
  readonly examples: readonly string[];
  /** Told at the end of the help. */
  readonly notes?: string;
  readonly takes: { readonly [Field in keyof Request]-?: Typed<Request[Field]> | Fixed<Request[Field]> };
  /** Is carried out although the configuration has faults: it may be the cure. */
  readonly cures?: true;
}

/** What a person may leave out. */
interface Absent<T> {
  readonly absent: T;
}

/** The least and the greatest. */
type Range = readonly [min: number, max: number];

/** A value that nobody types. */
export function fixed<const T>(value: T): Fixed<T> {
  return { fixed: value };
}

/** Text as it is typed; without `absent` it must be. */
export function text(usage: string, meaning: string): Typed<string>;
export function text<T extends string | null>(
  usage: string,
  meaning: string,
  left: Absent<T>,
): Typed<string | T>;
export function text(usage: string, meaning: string, left?: Absent<string | null>): Typed<string | null> {
  return typed<string | null>(usage, meaning, left?.absent ?? null, (given) => {
    if (given === '' && left === undefined) throw new Misread('It must not be empty.');
    return given;
  });
}

/** One of a closed list of words. */
export function choice<T extends string, A extends T | null>(
  usage: string,
  meaning: string,
  words: readonly T[],
  left: Absent<A>,
): Typed<T | A> {
  return { ...typed<T | A>(usage, meaning, left.absent, (given) => readWord(given, words)), choices: words };
}

/** A whole number in a range; without `left` it must be typed. */
export function integer(usage: string, meaning: string, range: Range): Typed<number>;
export function integer<A extends number | null>(
  usage: string,
  meaning: string,
  range: Range,
  left: Absent<A>,
): Typed<number | A>;
export function integer(
  usage: string,
  meaning: string,
  [min, max]: Range,
  left?: Absent<number | null>,
): Typed<number | null> {
  return typed<number | null>(usage, meaning, left?.absent ?? null, (given) =>
    readInteger(given, [min, max]),
  );
}

/** A whole number in a range. Throws {@link Misread}. */
export function readInteger(given: string, [min, max]: Range): number {
  const number = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new Misread(`It must be a whole number from ${min} to ${max}.`);
}

const DAYS = /^([1-9]\d{0,4})d$/;
/** What a time begins with; whether it is one is told by the operation. */
const DATE = /^\d{4}-/;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A time in RFC 3339, which may be typed as a number of days from now: `90d`. */
export function time(usage: string, meaning: string): Typed<string | null> {
  return typed<string | null>(usage, meaning, null, readTime);
}

/** See {@link time}; `now` is in ms. Throws {@link Misread}. */
export function readTime(given: string, now: number): string {
  const [, days] = DAYS.exec(given) ?? [];
  if (days !== undefined) return formatTimestamp(now + Number(days) * DAY_MS);
  if (DATE.test(given)) return given;
  throw new Misread(
    'It must be a time (RFC 3339) such as 2027-01-31T12:00:00Z, or a number of days such as 90d.',
  );
}

/** Something that is so where it is typed. */
export function flag(usage: string, meaning: string): Typed<boolean> {
  return { usage, meaning, repeats: false, choices: null, absent: false, read: () => true };
}

/** Texts, by an option that may be given several times. */
export function list(usage: string, meaning: string): Typed<string[]> {
  return { usage, meaning, repeats: true, choices: null, absent: [], read: (given) => textsOf(given) };
}

/** As {@link list}, of a closed list of words. */
export function wordList<T extends string>(
  usage: string,
  meaning: string,
  words: readonly T[],
  left: Absent<readonly T[]>,
): Typed<T[]> {
  const read = (given: Parameters<Typed<T[]>['read']>[0]) =>
    textsOf(given).map((one) => readWord(one, words));
  return { usage, meaning, repeats: true, choices: null, absent: [...left.absent], read };
}

function typed<T>(
  usage: string,
  meaning: string,
  absent: T,
  read: (given: string, now: number) => T,
): Typed<T> {
  return {
    usage,
    meaning,
    repeats: false,
    choices: null,
    absent,
    read: (given, now) => read(String(given), now),
  };
}

function textsOf(given: string | true | readonly string[]): string[] {
  return typeof given === 'object' ? [...given] : [String(given)];
}

/** One of a closed list of words. Throws {@link Misread}. */
export function readWord<T extends string>(given: string, words: readonly T[]): T {
  const word = words.find((known) => known === given);
  if (word === undefined) throw new Misread(`It must be one of ${words.join(', ')}.`);
  return word;
}
