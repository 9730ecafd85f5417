/** How a command is given a secret: never as an argument, which others on the machine could read. */
import { createReadStream } from 'node:fs';
import { readError } from '../lib/error.ts';
import { Exit } from './exit.ts';
import type { Terminal } from './terminal.ts';

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
  const place = isStandard ? 'the standard input' : path;
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
  if (lines > 1 && !isDocument) throw new Exit(1, `A ${what} is one line, and ${place} has ${lines}.`);
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
