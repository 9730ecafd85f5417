import { crc32 } from 'node:zlib';
import type { Content, ContentPart, Submission } from '../domain/message.ts';
import { yieldToLoop } from '../lib/clock.ts';
import type { AcceptRecord } from '../store/accepting.ts';
import type { Signer } from './contract.ts';

/**
 * Messages whose recipients each have a copy of their own, such as one with its own link to unsubscribe. The copies are
 * signed apart, stored one after another as the contents of one message, and sent apart.
 */

/** Copies signed in one turn of the event loop. */
const SIGNED_AT_ONCE = 16;

/** A recipient's copy, and its place in the contents. */
export interface PlacedCopy {
  readonly content: Content;
  readonly part: ContentPart;
}

/** Signed copies, and the contents that they make together. */
export interface SignedCopies {
  readonly content: Content;
  /** In envelope order. */
  readonly copies: readonly PlacedCopy[];
}

/** Signs each copy of a submission whose content consists of copies of these lengths. Never rejects, like the signer. */
export async function signCopies(
  { content, signing }: Pick<Submission, 'content' | 'signing'>,
  lengths: readonly number[],
  signer: Signer,
): Promise<SignedCopies> {
  const contents = cut(content.chunks, lengths).map((chunks, place): Content => {
    return { chunks, sizeBytes: lengths[place] ?? 0, flags: content.flags };
  });
  const signed: Content[] = [];
  for (let from = 0; from < contents.length; from += SIGNED_AT_ONCE) {
    // A message may have a thousand copies: other mail gets a turn in between.
    if (from > 0) await yieldToLoop();
    const some = contents.slice(from, from + SIGNED_AT_ONCE);
    signed.push(...(await Promise.all(some.map((copy) => signer.sign(copy, signing)))));
  }
  let end = 0;
  const copies = signed.map((copy): PlacedCopy => {
    const start = end;
    end += copy.sizeBytes;
    const checksum = copy.chunks.reduce((sum, chunk) => crc32(chunk, sum), 0);
    return { content: copy, part: { start, length: copy.sizeBytes, checksum } };
  });
  const chunks = signed.flatMap((copy) => copy.chunks);
  return { content: { ...content, chunks, sizeBytes: end }, copies };
}

/** The bytes that a message's first unit on a lane sends. */
export function firstBytesOn(
  lane: string,
  record: Pick<AcceptRecord, 'copies' | 'deliveries' | 'sizeBytes'>,
) {
  const { copies, deliveries, sizeBytes } = record;
  if (copies === null) return sizeBytes;
  return copies[deliveries.findIndex((delivery) => delivery.lane === lane)]?.length ?? 0;
}

/** Views of consecutive ranges of these lengths. */
function cut(chunks: readonly Uint8Array[], lengths: readonly number[]): Uint8Array[][] {
  let place = 0;
  let at = 0;
  return lengths.map((length) => {
    const views: Uint8Array[] = [];
    for (let left = length; left > 0; ) {
      const chunk = chunks[place];
      if (chunk === undefined) throw new RangeError('the copies are longer than the content');
      const view = chunk.subarray(at, at + left);
      if (view.length > 0) views.push(view);
      left -= view.length;
      at += view.length;
      if (at < chunk.length) continue;
      place += 1;
      at = 0;
    }
    return views;
  });
}
