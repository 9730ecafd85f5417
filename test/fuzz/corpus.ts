/** Stored examples, `corpus/FOLDER/`: small, real or hostile, and every input that a parser ever failed on. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dice } from './dice.ts';

/** Examples of a folder, and how a parser's inputs are made of such bytes. */
export interface Corpus<T> {
  readonly folder: string;
  /** Bytes as an input; what is not in the bytes, such as the places where they are cut, is thrown by the dice. */
  read(bytes: Buffer, dice: Dice): T;
  /** The longest that a changed example becomes. */
  readonly maxBytes: number;
}

/** One of them. */
export interface Example {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Examples stay as small as their point allows. */
export const MAX_EXAMPLE_BYTES = 4096;
export const MAX_EXAMPLES = 40;
const USUAL_BYTES = 64 * 1024;
const ROOT = join(import.meta.dirname, 'corpus');

/** The corpus of a folder. Where checking an input costs more than linear time by itself, `maxBytes` is to be small. */
export function corpus<T>(
  folder: string,
  read: (bytes: Buffer, dice: Dice) => T,
  maxBytes = USUAL_BYTES,
): Corpus<T> {
  return { folder, read, maxBytes };
}

/** The examples of a folder, by name. Throws where there are none. */
export function examplesIn(folder: string): Example[] {
  const names = readdirSync(join(ROOT, folder)).sort();
  if (names.length === 0) throw new Error(`there is no example in ${folder}`);
  return names.map((name) => ({ name, bytes: readFileSync(join(ROOT, folder, name)) }));
}

/** The folders there are. */
export function corpusFolders(): string[] {
  return readdirSync(ROOT).sort();
}
