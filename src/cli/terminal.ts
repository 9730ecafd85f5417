import { askUnseen } from './ask-unseen.ts';
import { Exit } from './exit.ts';

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
    if (size > maxBytes) throw new Exit(1, `The standard input has more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Control characters, and marks that turn the direction of text: both can make a terminal lie. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

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
