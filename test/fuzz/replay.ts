/** One command that gives a parser the very input again that it failed on. */
import { relative } from 'node:path';
import { expect } from 'vitest';
import { MAX_EXAMPLE_BYTES } from './corpus.ts';

/** An input: by its bytes, or by how it was come by. */
export type Replay =
  | { readonly way: 'bytes'; readonly bytes: Buffer; readonly throws: number }
  | { readonly way: 'example'; readonly index: number }
  | { readonly way: 'changed'; readonly seed: number; readonly index: number }
  | { readonly way: 'made'; readonly seed: number; readonly path: string };

const VARIABLE = 'WAYBILL_FUZZ_INPUT';
const ROOT = `${import.meta.dirname}/../..`;
/** Tries at leaving out a piece of an input. */
const MOST_TRIES = 3000;
/** Time of the processor for them, in ms: what is slow stays as it is. */
const MOST_MS = 20_000;

/** What {@link VARIABLE} asks for; null without it. */
export function replayed(): Replay | null {
  const [way, first = '', ...rest] = (process.env[VARIABLE] ?? '').split(':');
  const last = rest.join(':');
  if (way === 'bytes') return { way, throws: Number(first), bytes: Buffer.from(last, 'base64') };
  if (way === 'example') return { way, index: Number(last) };
  if (way === 'changed') return { way, seed: Number(first), index: Number(last) };
  if (way === 'made') return { way, seed: Number(first), path: last };
  return null;
}

/** How to replay an input of the test that runs. */
export function commandFor(replay: Replay): string {
  const { currentTestName = '', testPath = '' } = expect.getState();
  const file = relative(ROOT, testPath);
  const name = currentTestName.replace(/["$`\\]/g, '.').replace(/[()[\]*+?|^{}]/g, '.');
  return `To replay it: ${VARIABLE}=${writtenOf(replay)} npm test -- ${file} -t "${name}"`;
}

/** How bytes join a corpus, where they are small enough for one. */
export function keepingOf(bytes: Buffer, folder: string): string {
  if (bytes.length > MAX_EXAMPLE_BYTES) return `It has ${bytes.length} bytes: too many for the corpus.`;
  return `To keep it: echo ${bytes.toString('base64')} | base64 -d > test/fuzz/corpus/${folder}/NAME`;
}

function writtenOf(replay: Replay): string {
  if (replay.way === 'bytes') return `bytes:${replay.throws}:${replay.bytes.toString('base64')}`;
  if (replay.way === 'example') return `example:0:${replay.index}`;
  return `${replay.way}:${replay.seed}:${replay.way === 'made' ? replay.path : replay.index}`;
}

/** The least that still fails, at the same place, found by leaving out half, a quarter and so on. */
export async function smallest(
  bytes: Buffer,
  failure: unknown,
  check: (bytes: Buffer) => Promise<void>,
): Promise<Buffer> {
  const place = placeOf(failure);
  let least = bytes;
  let tries = 0;
  const start = process.threadCpuUsage().user;
  for (let size = Math.ceil(least.length / 2); size > 0; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let at = 0; at < least.length; ) {
      if (++tries > MOST_TRIES || (process.threadCpuUsage().user - start) / 1000 > MOST_MS) return least;
      const fewer = Buffer.concat([least.subarray(0, at), least.subarray(at + size)]);
      if ((await placeOfFailure(fewer, check)) === place) least = fewer;
      else at += size;
    }
  return least;
}

async function placeOfFailure(
  bytes: Buffer,
  check: (bytes: Buffer) => Promise<void>,
): Promise<string | null> {
  try {
    await check(bytes);
    return null;
  } catch (error) {
    return placeOf(error);
  }
}

/** Where a failure was thrown: the first line of ours. */
function placeOf(failure: unknown): string {
  const { stack = '' } = failure instanceof Error ? failure : {};
  return /\/(?:src|test)\/.*:\d+:\d+/.exec(stack)?.[0] ?? '';
}
