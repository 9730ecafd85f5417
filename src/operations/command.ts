/**
 * How people ask for an operation on the command line: each field of its request is an argument, an option, or a value that the
 * command stands for; the result is a table, or a text. The command itself is made of that by `cli/operation-command.ts`.
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
  /** An option that must be typed. */
  readonly needed?: true;
  /** Another option, without a value, that stands for this one with a certain value. */
  readonly instead?: { readonly usage: string; readonly meaning: string; readonly value: T };
  /** The value of what is typed. `now` is in ms. Throws {@link Misread}. */
  readonly read: (given: Given, now: number) => T;
}

/** A text, or all that were typed where it repeats; `true` for an option without a value. */
export type Given = string | true | readonly string[];

/** A value that the command stands for. */
export interface Fixed<T> {
  readonly fixed: T;
}

/** A field that is made of what was typed of several, which are parameters of the API. */
export interface Joined<T> {
  readonly parts: Readonly<Record<string, Typed<unknown>>>;
  /** The value of parameters by their names, as text; one that repeats, as often as it was typed. */
  readonly join: (given: [string, string][]) => T;
}

/** What gives a field of a request its value. */
export type Source<T> = Typed<T> | Fixed<T> | Joined<T>;

/** A command that asks for one operation. */
export interface CommandForm<Request, Result> {
  /** The words after `waybill`, such as `keys rotate`. */
  readonly words: string;
  readonly summary: string;
  readonly examples: readonly string[];
  /** Told at the end of the help. */
  readonly notes?: string;
  readonly takes: { readonly [Field in keyof Request]-?: Source<Request[Field]> };
  /** With `--url` it asks a server far away, through its API. */
  readonly remote?: true;
  /** Is refused where no option is given. */
  readonly wantsOption?: true;
  /** Is carried out although the configuration has faults: it may be the cure. */
  readonly cures?: true;
  /** The result for people. Without, it is a text of `cli/`, or else JSON. */
  readonly prints?: Says<Request, Result> | TableForm<Result extends readonly (infer Row)[] ? Row : Result>;
  /** With `--quiet`, which the command has then, and without a line around it. */
  readonly quiet?: { readonly meaning: string; readonly says: (result: Result) => string };
  /** What `--json` prints, if that is not the result. */
  readonly json?: (result: Result) => unknown;
  /** It was done, and the answer is bad: exit status 1. */
  readonly isBad?: (result: Result) => boolean;
}

/** A result in words. */
export type Says<Request, Result> = (result: Result, told: Told<Request>) => string;

/** What a result is told by. */
export interface Told<Request> {
  readonly request: Request;
  /** Of the terminal; null where it is none. */
  readonly columns: number | null;
  /** A server runs. */
  readonly running: boolean;
}

/** A table of rows, which are the result; it may be one row, too. */
export interface TableForm<Row> {
  /** The cells of a row, by the headings. */
  readonly columns: Readonly<Record<string, (row: Row) => string>>;
  /** Said where there are no rows. */
  readonly empty: string;
  /** On a terminal its widest columns are cut until it fits, and its times lose their seconds. */
  readonly fits?: true;
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
export function text<T extends string | null | undefined>(
  usage: string,
  meaning: string,
  left: Absent<T>,
): Typed<string | T>;
export function text(
  usage: string,
  meaning: string,
  left?: Absent<string | null | undefined>,
): Typed<string | null | undefined> {
  return typed<string | null | undefined>(usage, meaning, left?.absent, (given) => {
    if (given === '' && left === undefined) throw new Misread('It must not be empty.');
    return given;
  });
}

/** Text that may be left out. */
export function optional(usage: string, meaning: string): Typed<string | undefined> {
  return text(usage, meaning, { absent: undefined });
}

/** Text of an option that must be there; it may be empty. */
export function needed(usage: string, meaning: string): Typed<string> {
  return { ...text(usage, meaning, { absent: '' }), needed: true };
}

/** One of a closed list of words. */
export function choice<T extends string>(
  usage: string,
  meaning: string,
  words: readonly T[],
  left: Absent<NoInfer<T>>,
): Typed<T>;
export function choice<T extends string>(
  usage: string,
  meaning: string,
  words: readonly T[],
  left: Absent<null>,
): Typed<T | null>;
export function choice<T extends string>(
  usage: string,
  meaning: string,
  words: readonly T[],
  { absent }: Absent<T | null>,
): Typed<T | null> {
  return { ...typed<T | null>(usage, meaning, absent, (given) => readWord(given, words)), choices: words };
}

/** A whole number in a range; without `left` it must be typed. */
export function integer(usage: string, meaning: string, range: Range): Typed<number>;
export function integer<A extends number | null | undefined>(
  usage: string,
  meaning: string,
  range: Range,
  left: Absent<A>,
): Typed<number | A>;
export function integer(
  usage: string,
  meaning: string,
  [min, max]: Range,
  left?: Absent<number | null | undefined>,
): Typed<number | null | undefined> {
  return typed<number | null | undefined>(usage, meaning, left?.absent, (given) =>
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
export function time<A extends null | undefined>(
  usage: string,
  meaning: string,
  left: Absent<A>,
): Typed<string | A> {
  return typed<string | A>(usage, meaning, left.absent, readTime);
}

/** See {@link time}; `now` is in ms. Throws {@link Misread}. */
function readTime(given: string, now: number): string {
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
export function list<A extends string[] | undefined>(
  usage: string,
  meaning: string,
  left: Absent<A>,
): Typed<string[] | A> {
  return { usage, meaning, repeats: true, choices: null, absent: left.absent, read: textsOf };
}

/** The words of an argument such as `[query...]`, with a blank between them. */
export function sentence(usage: string, meaning: string): Typed<string> {
  const read = (given: Given) => textsOf(given).join(' ');
  return { usage, meaning, repeats: true, choices: null, absent: '', read };
}

/** As {@link list}, of a closed list of words. */
export function wordList<T extends string, A extends T[] | undefined>(
  usage: string,
  meaning: string,
  words: readonly T[],
  left: Absent<A>,
): Typed<T[] | A> {
  const read = (given: Given) => textsOf(given).map((one) => readWord(one, words));
  return { usage, meaning, repeats: true, choices: null, absent: left.absent, read };
}

/** As another, but one word stands for a value of its own, such as `never` for null. */
export function orWord<T, const V>(source: Typed<T>, word: string, value: V): Typed<T | V> {
  return { ...source, read: (given, now) => (given === word ? value : source.read(given, now)) };
}

/** As another, but an option without a value, of its own name, stands for one of its values. */
export function orOption<T>(source: Typed<T>, usage: string, meaning: string, value: T): Typed<T> {
  return { ...source, instead: { usage, meaning, value } };
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

function textsOf(given: Given): string[] {
  return typeof given === 'object' ? [...given] : [String(given)];
}

/** One of a closed list of words. Throws {@link Misread}. */
export function readWord<T extends string>(given: string, words: readonly T[]): T {
  const word = words.find((known) => known === given);
  if (word === undefined) throw new Misread(`It must be one of ${words.join(', ')}.`);
  return word;
}
