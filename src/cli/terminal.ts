import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { readError } from '../lib/error.ts';

/** Asks a question on this process's terminal and reads a line without showing it; null where there is no terminal. */
async function askUnseen(question: string): Promise<string | null> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return null;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Terminal: true takes the echo from the system's hands; what is echoed instead goes nowhere.
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  try {
    const answered = new Promise<string>((resolve) => {
      // Leaving without an answer counts as entering nothing.
      reader.once('line', resolve).once('close', () => resolve(''));
    });
    // Not before the echo is off: what is typed ahead is not shown either.
    stderr.write(question);
    return await answered;
  } finally {
    reader.close();
    stderr.write('\n');
  }
}

/** Where a command writes to and what it is told by its surroundings. */
export interface Terminal {
  /** Writes a result and ends the line. */
  out(text: string): void;
  /** Writes what is not a result, such as an error, and ends the line. */
  err(text: string): void;
  /** Writes bytes as they are. Resolves when they are written, or whoever reads them has gone. */
  write(bytes: Uint8Array): Promise<void>;
  /** The standard input; to be read once. */
  readonly input: () => AsyncIterable<Uint8Array>;
  /** The standard input is a person's keyboard. */
  readonly isTyped: () => boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How many characters fit into a line now; null where what is written is not a terminal. */
  readonly columns: () => number | null;
  /** Writes a text over what was last written by this; only to a terminal. */
  redraw(text: string): void;
  /** Asks a question and reads a line without showing it; null where nobody can be asked. */
  askUnseen(question: string): Promise<string | null>;
}

/** What lines are folded to where nobody says how wide they may be. */
export const DEFAULT_COLUMNS = 80;

/** The process's own. */
export const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  write: (bytes) =>
    new Promise((resolve) => {
      process.stdout.once('error', () => resolve());
      process.stdout.write(bytes, () => resolve());
    }),
  input: () => process.stdin,
  isTyped: () => process.stdin.isTTY,
  environment: process.env,
  columns: () => (process.stdout.isTTY ? process.stdout.columns : null),
  redraw: (text) => {
    // Not one line more than the screen has: it would move up. From its corner on, each line clears what was behind it.
    const lines = text
      .split('\n')
      .slice(0, Math.max(1, process.stdout.rows - 1))
      .map((line) => `${line}\u001b[K\n`);
    process.stdout.write(`\u001b[H${lines.join('')}\u001b[J`);
  },
  askUnseen,
};

/** All of the standard input. Throws `Exit` for one of more than `maxBytes`. */
export async function readInput({ input }: Terminal, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input()) {
    size += chunk.length;
    if (size > maxBytes) throw new Exit(1, `Standard input has more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Control characters, and marks that turn the direction of text: both can make a terminal lie. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Whether text has characters, besides the ends of lines, that {@link harmless} escapes, or that UTF-8 cannot write. */
export function isUnsafe(text: string): boolean {
  return text.replaceAll('\n', '').search(UNSAFE) >= 0 || /\p{Cs}/u.test(text);
}

/** Text from outside (subjects, replies) as one harmless line, with `\u202e` where a mark turned its direction. */
export function oneLine(text: string): string {
  return escaped(text);
}

/** Text from outside as harmless text that keeps its lines. */
export function harmless(text: string): string {
  return text.split('\n').map(oneLine).join('\n');
}

/** JSON that a terminal can show: what could mislead it is escaped, and it means the same. */
export function terminalJson(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(escaped).join('\n');
}

function escaped(line: string): string {
  return line.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** As {@link terminalJson}, on one line. */
export function terminalJsonLine(value: unknown): string {
  return escaped(JSON.stringify(value));
}

/** Folds a line at its blanks to `columns`; what continues is moved in. A word that is too long stays whole. */
export function fold(line: string, indent: number, columns: number): string[] {
  const lines: string[] = [];
  let rest = line;
  while ([...rest].length > columns) {
    // Not within what the line began with: nothing would be gained.
    const last = rest.lastIndexOf(' ', columns);
    const at = last > indent ? last : rest.indexOf(' ', Math.max(columns, indent + 1));
    if (at < 0) break;
    lines.push(rest.slice(0, at).trimEnd());
    rest = ' '.repeat(indent) + rest.slice(at + 1).trimStart();
  }
  return [...lines, rest];
}

/** Rows under headings, in columns. Cells are made harmless. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows.map((row) => row.map(oneLine))];
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => [...(line[column] ?? '')].length)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => pad(cell, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - [...cell].length));
}

/** A number of things: `1 message`, `2 messages`. */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/** Ends a command with a status other than 0, and a line that says why unless all was said already. */
export class Exit extends Error {
  /** 1: failed; 2: wrong usage; 74: the machine failed. */
  readonly status: number;
  constructor(status: number, message = '') {
    super(message);
    this.name = 'Exit';
    this.status = status;
  }
}

// How a command is given a secret: never as an argument, which others on the machine could read.

/** The file name that means the standard input. */
const STANDARD_INPUT = '-';
/** No password, key or token has so many characters, and no key of a service account so many more. */
const LONGEST_SECRET = 4096;
const LONGEST_DOCUMENT = 16 * 1024;

/**
 * The text of a file, or (`-`) of the standard input, without the end of its last line. Read piece by piece: a pipe may
 * fill later, and a wrong name may be that of a large file. Throws `Exit`.
 */
export async function readSecretFile(path: string, what: string, isDocument = false): Promise<string> {
  const longest = isDocument ? LONGEST_DOCUMENT : LONGEST_SECRET;
  const isStandard = path === STANDARD_INPUT;
  const source = isStandard ? process.stdin : createReadStream(path);
  const place = isStandard ? 'standard input' : path;
  let text = '';
  try {
    for await (const piece of source.setEncoding('utf8')) {
      text += piece;
      if (text.length > longest) throw new Error(`it is too long for a ${what}`);
    }
  } catch (error) {
    throw new Exit(1, `The ${what} cannot be read from ${place}: ${readError(error)}`);
  }
  const lines = text.trimEnd().split('\n').length;
  if (text.trim() === '') throw new Exit(1, `There is no ${what} in ${place}: it is empty.`);
  if (lines > 1 && !isDocument) throw new Exit(1, `A ${what} is one line, but ${place} has ${lines}.`);
  return text.replace(/\r?\n$/, '');
}

/** Asks for a secret on the terminal. Throws `Exit` where there is none, saying what to give instead. */
export async function promptForSecret(
  terminal: Terminal,
  question: string,
  instead: string,
): Promise<string> {
  const answer = await terminal.askUnseen(question);
  if (answer === null) throw new Exit(2, instead);
  if (answer === '') throw new Exit(1, 'Nothing was entered, and nothing was done.');
  return answer;
}
