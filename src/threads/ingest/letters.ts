import type { Content, Submission } from '../../domain/message.ts';

/** Contents above this go to the other thread as they are, instead of as a copy, in bytes. */
const COPIED_BYTES = 16 * 1024;

/** A submission as it travels between threads: its contents are one piece. */
export interface PackedSubmission {
  readonly facts: Omit<Submission, 'content'>;
  readonly content: Omit<Content, 'chunks'>;
  readonly bytes: Uint8Array;
}

/**
 * Packs a submission. Its pieces are copied once: most of them are parts of larger buffers, which would travel whole. Adds to
 * `transfer` what is to be moved instead of copied again.
 */
export function packSubmission(submission: Submission, transfer: ArrayBuffer[]): PackedSubmission {
  const { content, ...facts } = submission;
  const { chunks, ...rest } = content;
  const bytes = new Uint8Array(content.sizeBytes);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  if (bytes.byteLength > COPIED_BYTES) transfer.push(bytes.buffer);
  return { facts, content: rest, bytes };
}

/** Makes it whole again. */
export function unpackSubmission({ facts, content, bytes }: PackedSubmission): Submission {
  const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { ...facts, content: { ...content, chunks: [chunk] } };
}
