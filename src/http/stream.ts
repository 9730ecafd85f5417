import type { ServerResponse } from 'node:http';
import { giveBack } from '../lib/budget.ts';
import type { Connection } from './connections.ts';
import type { UnsentAnswers } from './slow-clients.ts';

/** Bodies too large to hold in memory: read as fast as the client takes them. */

/** A body that is read piece by piece. */
export interface StreamedBody {
  readonly sizeBytes: number;
  /**
   * The bytes in order, in memory that nobody else uses and that may be reused later. May throw at any point, even
   * after the last piece: then none of it counts as whole.
   */
  chunks(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** A piece that may be passed on. */
interface ReleasedPiece {
  readonly bytes: Uint8Array;
  /** The body is complete with it. */
  readonly last: boolean;
}

/**
 * A body's pieces, each held back until the next one is available, and the last until reading has ended well: so a
 * client never gets the whole of a body that turns out to be damaged. Throws reading errors, and when the pieces do not
 * add up to the size. Leaving early ends the reading, and releases what is held.
 */
export async function* releasedPieces(body: StreamedBody): AsyncGenerator<ReleasedPiece> {
  let held: Uint8Array | null = null;
  let total = 0;
  try {
    for await (const bytes of body.chunks()) {
      const passed: Uint8Array | null = held;
      held = bytes;
      total += bytes.length;
      if (passed !== null) yield { bytes: passed, last: false };
    }
    if (total !== body.sizeBytes) throw new Error(`a body of ${body.sizeBytes} bytes had ${total}`);
    const last: Uint8Array = held ?? new Uint8Array(0);
    held = null;
    yield { bytes: last, last: true };
  } finally {
    if (held !== null) giveBack(held);
  }
}

/** Writes to a client no faster than it reads. */
export class PacedWriter {
  readonly #response: ServerResponse;
  readonly #onTaken: () => void;
  #stopped = false;
  #goOn: (() => void) | null = null;

  /** Calls `onTaken` each time the client has taken what it was given. */
  constructor(response: ServerResponse, onTaken: () => void) {
    this.#response = response;
    this.#onTaken = onTaken;
    response.on('drain', () => this.#goOn?.());
  }

  /** Resolves to true once the client has taken the bytes, nearly all; to false when it was stopped before. */
  async write(bytes: Uint8Array): Promise<boolean> {
    for (let at = 0; at < bytes.length && !this.#stopped; at += SLICE_BYTES) {
      if (this.#response.write(bytes.subarray(at, at + SLICE_BYTES))) continue;
      await new Promise<void>((resolve) => {
        this.#goOn = resolve;
      });
      if (!this.#stopped) this.#onTaken();
    }
    return !this.#stopped;
  }

  /** Stops writing: the client has left. */
  stop(): void {
    this.#stopped = true;
    this.#goOn?.();
  }
}

/** How much to write before the client's pace is checked again. */
export const SLICE_BYTES = 64 * 1024;

/** What a flow needs of its answer. */
interface FlowParts {
  readonly response: ServerResponse;
  readonly connection: Connection;
  readonly unsent: UnsentAnswers;
  /** Nobody is there to take anything any more. */
  readonly isOver: () => boolean;
  /** Called once, when everything was written. */
  readonly onEnd: () => void;
}

/** An answer of unknown length, written piece by piece. */
export class Flow {
  readonly #parts: FlowParts;
  readonly #writer: PacedWriter;
  #ended = false;

  constructor(parts: FlowParts) {
    this.#parts = parts;
    const { response, unsent, connection } = parts;
    this.#writer = new PacedWriter(response, () => unsent.progressed(connection));
    response.once('close', () => this.#writer.stop());
  }

  /** Bytes written that the client has not taken yet. */
  get unread(): number {
    return this.#parts.response.writableLength;
  }

  /** Writes without waiting; nothing once the client has left. Callers that write much should check {@link unread}. */
  write(bytes: Uint8Array): void {
    if (this.#isDone()) return;
    const { response, unsent, connection } = this.#parts;
    response.write(bytes, unsent.add(connection, bytes.length));
  }

  /** Writes no faster than the client reads. Resolves to false when the client has left. */
  async pass(bytes: Uint8Array): Promise<boolean> {
    if (this.#isDone()) return false;
    const { unsent, connection } = this.#parts;
    const taken = unsent.add(connection, bytes.length);
    if (!(await this.#writer.write(bytes))) return false;
    taken();
    return true;
  }

  /** Ends the complete answer. */
  end(): void {
    if (this.#isDone()) return;
    this.#ended = true;
    this.#parts.onEnd();
  }

  /** Cuts the connection, so that the client notices that something is missing. */
  cut(): void {
    this.#parts.connection.socket.destroy();
  }

  #isDone(): boolean {
    return this.#ended || this.#parts.isOver();
  }
}
