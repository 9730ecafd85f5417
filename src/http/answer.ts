import type { IncomingMessage, ServerResponse } from 'node:http';
import { giveBack } from '../lib/budget.ts';
import type { Clock } from '../lib/clock.ts';
import type { Connection } from './connections.ts';
import { drain, Ending, isDrainable, lingeringClose } from './ending.ts';
import type { Answerable } from './pipeline.ts';
import type { UnsentAnswers } from './slow-clients.ts';
import { Flow, PacedWriter, releasedPieces, SLICE_BYTES, type StreamedBody } from './stream.ts';

/** What an answer needs of its server. */
export interface AnswerHost {
  readonly clock: Clock;
  /** Watches answers that clients have not taken yet. */
  readonly unsent: UnsentAnswers;
  /** The server is closing: the last answer of each connection ends it. */
  closing(): boolean;
}

/** Headers of an answer. */
export type Headers = Readonly<Record<string, string>>;

/** The first lines of an answer. */
export interface Head {
  readonly status: number;
  /** Null for an answer without a body. */
  readonly contentType: string | null;
  readonly headers?: Headers | undefined;
}

/** A streamed body up to this size is in memory from the beginning. */
const WHOLE_BYTES = 1024 * 1024;
/** The part of a larger body in memory: the piece being sent and the next one, of 256 KiB each. */
const READ_AHEAD_BYTES = 512 * 1024;

/** The answer to one request, on its way out. */
export class Answer {
  /** Ends when the answer has left completely, or nobody is there to take it. */
  readonly sent = new Ending();
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: Connection;
  readonly #host: AnswerHost;
  readonly #exchange: Answerable;
  readonly #expectsContinue: boolean;
  readonly #extra: string[];
  #writer: PacedWriter | null = null;
  #status: number | null = null;
  /** Its body is being written. */
  #writing = false;
  /** The connection ends with it: what follows its request is unintelligible. */
  #isFarewell = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    host: AnswerHost,
    exchange: Answerable & { readonly expectsContinue: boolean },
  ) {
    this.#request = request;
    this.#response = response;
    this.#connection = connection;
    this.#host = host;
    this.#exchange = exchange;
    this.#expectsContinue = exchange.expectsContinue;
    this.#extra = ['X-Request-Id', exchange.requestId];
    response.on('close', () => this.sent.end());
  }

  /** Whether its head was written. */
  get begun(): boolean {
    return this.#status !== null;
  }

  /** The status that was sent; null: none was yet. */
  get status(): number | null {
    return this.#status;
  }

  setHeader(name: string, value: string): void {
    this.#extra.push(name, value);
  }

  /** Tells a client that waits for 100 Continue to send its body. */
  sendContinue(): void {
    if (this.#expectsContinue) this.#response.writeContinue();
  }

  /** Sends it with a whole body; for `HEAD` only the body's length. */
  whole(head: Head, body: string | Uint8Array): void {
    const length = byteLength(body);
    const unread = this.#begin(head, length);
    const shown = this.#request.method === 'HEAD' ? '' : body;
    const taken = this.#host.unsent.add(this.#connection, byteLength(shown));
    if (this.#isFirst()) this.#host.unsent.progressed(this.#connection);
    this.#finish(shown, unread ? this.#drain() : null, taken);
  }

  /** As {@link whole}, but ends the connection. */
  last(head: Head, body: string): void {
    this.#isFarewell = true;
    this.whole(head, body);
  }

  /**
   * Sends it with a body that is read only as fast as the client takes it, and not before its turn: of all large ones
   * requested in a pipeline, only one is in memory. An error before anything was sent is thrown; later the connection
   * is cut as well, so that a client that counts never takes a part for the whole.
   */
  async stream(head: Head, body: StreamedBody): Promise<void> {
    if (this.#request.method === 'HEAD') {
      const unread = this.#begin(head, body.sizeBytes);
      return this.#finish('', unread ? this.#drain() : null, () => {});
    }
    const isWhole = body.sizeBytes <= WHOLE_BYTES;
    if (!isWhole) await this.#turn();
    if (this.sent.over) return;
    const { unsent } = this.#host;
    const taken = unsent.add(this.#connection, isWhole ? body.sizeBytes : READ_AHEAD_BYTES);
    let drained: Promise<void> | null = null;
    try {
      for await (const { bytes, last } of releasedPieces(body)) {
        if (this.sent.over) return giveBack(bytes);
        if (!this.begun && this.#begin(head, body.sizeBytes)) drained = this.#drain();
        if (last) return this.#finish(bytes, drained, taken);
        if (!(await this.#paced(bytes))) return;
        unsent.progressed(this.#connection);
      }
    } catch (error) {
      if (this.begun) this.#connection.socket.destroy();
      taken();
      throw error;
    }
  }

  /** Begins an answer whose body has an unknown length. For `HEAD` nothing of the body is sent. */
  flow(head: Head): Flow {
    const drained = this.#begin(head, null) ? this.#drain() : null;
    // Sends the head at once, for clients that wait for the first piece.
    this.#response.flushHeaders();
    return new Flow({
      response: this.#response,
      connection: this.#connection,
      unsent: this.#host.unsent,
      isOver: () => this.sent.over,
      onEnd: () => this.#complete('', drained, () => {}),
    });
  }

  /** Ends the connection after it, because what follows its request is unintelligible. */
  leave(): void {
    this.#isFarewell = true;
    if (!this.#writing) this.#leave();
  }

  /** Begins; a length of null is unknown. Returns whether part of the request's body is still unread. */
  #begin({ status, contentType, headers = {} }: Head, length: number | null): boolean {
    const lines = [...this.#extra];
    if (contentType !== null) lines.push('Content-Type', contentType);
    if (length !== null && status !== 204 && status !== 304) lines.push('Content-Length', String(length));
    for (const name in headers) lines.push(name, headers[name] ?? '');
    const unread = !this.#isFarewell && hasUnreadBody(this.#request);
    const lost = unread && (this.#expectsContinue || !isDrainable(this.#request));
    const isLast = this.#host.closing() && this.#connection.pipeline.isLast(this.#exchange);
    if (lost || this.#isFarewell || isLast) lines.push('Connection', 'close');
    this.#writeHead(status, lines);
    return unread;
  }

  #writeHead(status: number, lines: string[]): void {
    try {
      this.#response.writeHead(status, lines);
    } catch (error) {
      // A header that cannot be sent must not prevent the 500 that reports it.
      this.#extra.length = 2;
      throw error;
    }
    this.#status = status;
    this.#writing = true;
  }

  /** Whether it is this answer's turn, so that writes leave at once. */
  #isFirst(): boolean {
    return this.#response.socket !== null;
  }

  /** Resolves when it is this answer's turn, or nobody waits for it any more. */
  #turn(): Promise<void> {
    if (this.#isFirst()) return Promise.resolve();
    return new Promise((resolve) => {
      // Node's event for a response that gets the connection's socket.
      this.#response.once('socket', () => resolve());
      this.sent.whenOver(resolve);
    });
  }

  /** Writes the end of the body, and calls `taken` once all of it has left this process. */
  #finish(body: string | Uint8Array, drained: Promise<void> | null, taken: () => void): void {
    if (byteLength(body) <= SLICE_BYTES) this.#complete(body, drained, taken);
    else
      void this.#paced(typeof body === 'string' ? Buffer.from(body) : body).then((wasTaken) => {
        if (wasTaken) this.#complete('', drained, taken);
      });
  }

  #paced(bytes: Uint8Array): Promise<boolean> {
    this.#writer ??= this.#newWriter();
    return this.#writer.write(bytes);
  }

  #newWriter(): PacedWriter {
    const { unsent } = this.#host;
    const writer = new PacedWriter(this.#response, () => unsent.progressed(this.#connection));
    this.sent.whenOver(() => writer.stop());
    return writer;
  }

  /**
   * Writes the last of the body. A client may still be sending, and may not read before it has sent everything: so the
   * answer is written whole at once, and only ended after the rest of the request was read away for a while. The
   * connection lives on if that rest was short.
   */
  #complete(body: string | Uint8Array, drained: Promise<void> | null, taken: () => void): void {
    this.#writing = false;
    if (drained === null && !(this.#isFarewell && this.#isFirst())) {
      this.#response.end(body, taken);
      return;
    }
    this.#response.flushHeaders();
    if (body.length > 0) this.#response.write(body, taken);
    else taken();
    if (drained === null || this.#isFarewell) this.#leave();
    else
      void drained.then(() => {
        if (this.sent.over) return;
        if (this.#request.complete || !this.#isFirst()) this.#response.end();
        else this.#leave();
      });
  }

  #drain(): Promise<void> {
    return drain(this.#request, this.#host.clock, this.sent.signal);
  }

  #leave(): void {
    void lingeringClose(this.#request.socket, this.#host.clock);
    this.sent.end();
  }
}

function byteLength(body: string | Uint8Array): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

function hasUnreadBody(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
