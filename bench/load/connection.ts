import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** The end of an answer's head. */
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * A keep-alive HTTP/1.1 connection that sends one prepared request after the other, each when the answer to
 * the last has come. It understands just enough of answers to find their end: a status and a Content-Length.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #request: Buffer;
  readonly #onAnswer: (status: number) => boolean;
  #buffered: Buffer = Buffer.alloc(0);
  #done = false;

  /**
   * Over TLS, whose certificate is not looked at, where `tls` says so. `onAnswer` is called per answer and says whether to
   * send another request. `onEnd` is called once.
   */
  constructor(
    { port, tls }: { readonly port: number; readonly tls: boolean },
    request: Buffer,
    onAnswer: (status: number) => boolean,
    onEnd: (error: Error | null) => void,
  ) {
    this.#request = request;
    this.#onAnswer = onAnswer;
    const server = { port, host: '127.0.0.1', noDelay: true };
    this.#socket = tls ? connectTls({ ...server, rejectUnauthorized: false }) : connect(server);
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.once('error', onEnd);
    this.#socket.once('end', () => onEnd(this.#done ? null : new Error('the server closed the connection')));
  }

  /** Sends a request. */
  send(): void {
    this.#socket.write(this.#request);
  }

  /** Ends the connection without a request. */
  end(): void {
    this.#done = true;
    this.#socket.end();
  }

  #take(chunk: Buffer): void {
    this.#buffered = this.#buffered.length === 0 ? chunk : Buffer.concat([this.#buffered, chunk]);
    const head = this.#buffered.indexOf(HEAD_END);
    if (head < 0) return;
    const text = this.#buffered.toString('latin1', 0, head + 2);
    const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(text)?.[1];
    if (length === undefined) this.#socket.destroy(new Error(`an answer without a length: ${text}`));
    if (this.#buffered.length < head + HEAD_END.length + Number(length)) return;
    this.#buffered = Buffer.alloc(0);
    this.#done = !this.#onAnswer(Number(text.slice(9, 12)));
    if (this.#done) this.#socket.end();
    else this.send();
  }
}
