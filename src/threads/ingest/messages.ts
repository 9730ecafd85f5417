import type { Config } from '../../config/schema.ts';
import type { Content, Submission } from '../../domain/message.ts';
import type { Suspension } from '../../engine/contract.ts';
import type { LogFields } from '../../lib/log.ts';
import type { Event } from '../../observe/events.ts';
import type { KeyAndCertificate } from '../../tls/self-signed.ts';

/** What an ingest thread is started with. */
export interface IngestStart {
  /** What it is called where rates are exchanged. */
  readonly name: string;
  readonly config: Config;
  readonly tls: KeyAndCertificate | null;
  /** See `SharedCrowd`. */
  readonly crowd: SharedArrayBuffer;
  /** Bytes of messages that are coming in; see `SharedUnits`. */
  readonly units: SharedArrayBuffer;
  /** Time is the database's: it is asked of the other thread. */
  readonly sharesTime: boolean;
}

/** What an ingest thread looks at with every message, as it was a moment ago. */
export interface IngestState {
  /** Why nobody's mail is taken; null when it is. */
  readonly suspension: Suspension | null;
  /** See `IngestDeps`. */
  readonly ready: boolean;
  readonly webuiPort: number | null;
}

/** What is remembered of sources, see `IngestShared`. */
export type Deed = 'completed' | 'spokeHttp';

/** A source was met in one of the threads. */
interface SourceNote {
  readonly kind: 'source';
  readonly deed: Deed;
  readonly group: string;
}

/** What the thread that delivers tells an ingest thread. */
export type ToIngest =
  | SourceNote
  | { readonly kind: 'config'; readonly config: Config }
  | { readonly kind: 'tls'; readonly tls: KeyAndCertificate }
  | { readonly kind: 'state'; readonly state: IngestState }
  | { readonly kind: 'event'; readonly event: Event }
  /** A step of an operation that takes its time. */
  | { readonly kind: 'step'; readonly call: number; readonly step: unknown }
  /** The service stops: who only waits is answered. */
  | { readonly kind: 'stopping' }
  /** What has not ended by now is broken off. */
  | { readonly kind: 'deadline' };

/** What an ingest thread tells the thread that delivers. */
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

/** What can be asked of an ingest thread, in its only room, `ingest`. */
export interface IngestVerbs {
  listenApi(port: number, isTls: boolean): Promise<number>;
  listenSmtp(hosts: readonly string[], port: number, implicitTls: boolean): Promise<number>;
  /** Resolves when what was told before is heeded. */
  heed(): Promise<void>;
  /** Stops accepting, and resolves when nothing is under way any more. */
  close(): Promise<void>;
}

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
