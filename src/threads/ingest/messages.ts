import type { Config } from '../../config/schema.ts';
import type { ChallengeAnswer } from '../../domain/certificate.ts';
import type { Content, Submission } from '../../domain/message.ts';
import type { Suspension } from '../../engine/contract.ts';
import type { LogFields } from '../../lib/log.ts';
import type { Event } from '../../observe/events.ts';
import type { KeyAndCertificate } from '../../tls/self-signed.ts';

/** What an ingest thread is started with. */
export interface IngestStart {
  /** Its name where rates are exchanged. */
  readonly name: string;
  readonly config: Config;
  readonly tls: KeyAndCertificate | null;
  /** See `SharedCrowd`. */
  readonly crowd: SharedArrayBuffer;
  /** Bytes of incoming messages; see `SharedUnits`. */
  readonly units: SharedArrayBuffer;
  /** Time is the database's: the other thread is asked for it. */
  readonly sharesTime: boolean;
}

/** What an ingest thread checks for every message, as it was a moment ago. */
export interface IngestState {
  /** Why no mail is accepted; null if it is. */
  readonly suspension: Suspension | null;
  /** See `IngestDeps`. */
  readonly ready: boolean;
  readonly webuiPort: number | null;
}

/** What is remembered of sources, see `IngestShared`. */
export type Deed = 'completed' | 'spokeHttp';

/** A source was seen in one of the threads. */
interface SourceNote {
  readonly kind: 'source';
  readonly deed: Deed;
  readonly group: string;
}

/** What the delivering thread tells an ingest thread. */
export type ToIngest =
  | SourceNote
  | { readonly kind: 'config'; readonly config: Config }
  | { readonly kind: 'tls'; readonly tls: KeyAndCertificate }
  | { readonly kind: 'challenges'; readonly answers: readonly ChallengeAnswer[] }
  | { readonly kind: 'state'; readonly state: IngestState }
  | { readonly kind: 'event'; readonly event: Event }
  /** A progress step of a long operation. */
  | { readonly kind: 'step'; readonly call: number; readonly step: unknown }
  /** The service stops: callers that only wait are answered. */
  | { readonly kind: 'stopping' }
  /** What has not ended by now is interrupted. */
  | { readonly kind: 'deadline' };

/** What an ingest thread tells the delivering thread. */
export type FromIngest =
  | SourceNote
  | {
      readonly kind: 'log';
      readonly level: 'debug' | 'info' | 'warn' | 'error';
      readonly event: string;
      readonly fields: LogFields | undefined;
    }
  | { readonly kind: 'event'; readonly event: Event }
  /** Somebody here waits for news of messages, or nobody does. */
  | { readonly kind: 'listening'; readonly isListening: boolean }
  /** Nobody waits for the end of this operation any more. */
  | { readonly kind: 'abort'; readonly call: number };

/** What an ingest thread can be asked, in its only room, `ingest`. */
export interface IngestVerbs {
  listenApi(port: number, isTls: boolean): Promise<number>;
  listenSmtp(hosts: readonly string[], port: number, implicitTls: boolean): Promise<number>;
  /** Resolves when all earlier notes have taken effect. */
  heed(): Promise<void>;
  /** Stops accepting, and resolves when nothing is under way any more. */
  close(): Promise<void>;
}

/** Contents larger than this, in bytes, are moved to the other thread rather than copied. */
const COPIED_BYTES = 16 * 1024;

/** A submission as sent between threads: its contents are one piece. */
export interface PackedSubmission {
  readonly facts: Omit<Submission, 'content'>;
  readonly content: Omit<Content, 'chunks'>;
  readonly bytes: Uint8Array;
}

/**
 * Packs a submission. Its pieces are copied once: most are parts of larger buffers, which would be sent whole. Adds to
 * `transfer` what should be moved rather than copied again.
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

/** Restores the submission. */
export function unpackSubmission({ facts, content, bytes }: PackedSubmission): Submission {
  const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { ...facts, content: { ...content, chunks: [chunk] } };
}
