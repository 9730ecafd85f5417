import type { ServerResponse } from 'node:http';
import type { Connection } from './connections.ts';
import { PacedWriter } from './stream.ts';
import type { UnsentAnswers } from './unsent.ts';

/** An answer whose length is not known when it begins, written piece by piece. */
export interface Flow {
  /** Bytes written that the client has not taken yet. */
  readonly unread: number;
  /** Writes without waiting; nothing once the client is gone. Who writes much looks at {@link unread}. */
  write(bytes: Uint8Array): void;
  /** Writes no faster than the client reads. Resolves to false when the client has gone. */
  pass(bytes: Uint8Array): Promise<boolean>;
  /** Ends the answer, whole. */
  end(): void;
  /** Cuts the connection, so that the client sees that something is missing. */
  cut(): void;
}

/** What a flow needs of its answer. */
interface FlowParts {
  readonly response: ServerResponse;
  readonly connection: Connection;
  readonly unsent: UnsentAnswers;
  /** Nobody is there any more to take anything. */
  readonly isOver: () => boolean;
  /** Is called once, when all was written. */
  readonly onEnd: () => void;
}

/** See {@link Flow}. */
export class ResponseFlow implements Flow {
  readonly #parts: FlowParts;
  readonly #writer: PacedWriter;
  #ended = false;

  constructor(parts: FlowParts) {
    this.#parts = parts;
    const { response, unsent, connection } = parts;
    this.#writer = new PacedWriter(response, () => unsent.progressed(connection));
    response.once('close', () => this.#writer.stop());
  }

  get unread(): number {
    return this.#parts.response.writableLength;
  }

  write(bytes: Uint8Array): void {
    if (this.#isDone()) return;
    const { response, unsent, connection } = this.#parts;
    response.write(bytes, unsent.add(connection, bytes.length));
  }

  async pass(bytes: Uint8Array): Promise<boolean> {
    if (this.#isDone()) return false;
    const { unsent, connection } = this.#parts;
    const taken = unsent.add(connection, bytes.length);
    if (!(await this.#writer.write(bytes))) return false;
    taken();
    return true;
  }

  end(): void {
    if (this.#isDone()) return;
    this.#ended = true;
    this.#parts.onEnd();
  }

  cut(): void {
    this.#parts.connection.socket.destroy();
  }

  #isDone(): boolean {
    return this.#ended || this.#parts.isOver();
  }
}
