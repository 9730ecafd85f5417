/** An SMTP client for tests, which does what it is told: in pieces, out of order, half-closed, reset. */
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { onTestFinished, type TestContext } from 'vitest';

/** How a client connects. */
export interface SmtpClientOptions {
  /** Where the connection comes from: any address of 127.0.0.0/8. */
  readonly from?: string;
  /** Written as soon as the connection is there, before TLS: a PROXY header, or early talk. */
  readonly first?: string | Buffer;
  /** TLS from the first byte (behind `first`). */
  readonly implicitTls?: boolean;
  /** With whose end it ends. Must be given where tests run side by side. */
  readonly test?: Pick<TestContext, 'onTestFinished'>;
}

/** What a test client believes of a certificate: everything. */
const TRUSTING: ConnectionOptions = { rejectUnauthorized: false };

/** See this file's comment. It ends with its test. */
export class SmtpClient {
  /** What is spoken over: the TCP connection, or TLS over it. */
  socket: Socket;
  /** Everything that came since the connection, or its TLS, began. */
  received = '';
  /** Resolves when the connection has ended, however it did. */
  readonly closed: Promise<void>;
  /** The code of the error that ended it; null when it ended without one. */
  error: string | null = null;
  /** The server has closed its sending side. */
  ended = false;
  readonly #tcp: Socket;
  #taken = 0;
  #isClosed = false;
  readonly #waiting = new Set<() => void>();

  private constructor(tcp: Socket, test: Pick<TestContext, 'onTestFinished'>) {
    this.#tcp = tcp;
    this.socket = tcp;
    this.closed = new Promise((resolve) => tcp.once('close', () => resolve()));
    void this.closed.then(() => {
      this.#isClosed = true;
      this.#notify();
    });
    this.#hear(tcp);
    test.onTestFinished(() => void tcp.destroy());
  }

  /** Connects to a port of 127.0.0.1; resolves once the connection is there, with its TLS. */
  static async connect(port: number, options: SmtpClientOptions = {}): Promise<SmtpClient> {
    const localAddress = options.from === undefined ? {} : { localAddress: options.from };
    const tcp = connect({ port, host: '127.0.0.1', allowHalfOpen: true, ...localAddress });
    const client = new SmtpClient(tcp, options.test ?? { onTestFinished });
    await new Promise((resolve, reject) => tcp.once('connect', resolve).once('error', reject));
    if (options.first !== undefined) client.write(options.first);
    if (options.implicitTls === true) await client.secure();
    return client;
  }

  /** The client's own port, by which a server's connections can be told apart. */
  get localPort(): number {
    return this.#tcp.localPort ?? 0;
  }

  /** Writes bytes as they are; a text's characters are bytes. */
  write(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Writes lines, all at once. */
  say(...lines: readonly string[]): void {
    this.write(lines.map((line) => `${line}\r\n`).join(''));
  }

  /** The next reply, its lines joined by `|`. Rejects when the connection ends before. */
  async reply(): Promise<string> {
    const found = await this.#until(() => /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(this.#unread));
    this.#taken += found[0].length;
    return found[0].trimEnd().replaceAll('\r\n', '|');
  }

  /** Says a line; the reply to it. */
  ask(line: string): Promise<string> {
    this.say(line);
    return this.reply();
  }

  /** Says lines at once; the replies to them, one each. */
  async askAll(...lines: readonly string[]): Promise<string[]> {
    this.say(...lines);
    const replies: string[] = [];
    while (replies.length < lines.length) replies.push(await this.reply());
    return replies;
  }

  /** All that came, and was not taken as a reply, once the server has closed its sending side or all of it. */
  async rest(): Promise<string> {
    await this.#untilTrue(() => this.ended || this.#isClosed);
    const text = this.#unread;
    this.#taken = this.received.length;
    return text;
  }

  /** Resolves once what came, and was not taken, matches. Rejects when the connection ends before. */
  async until(pattern: RegExp): Promise<void> {
    await this.#until(() => pattern.exec(this.#unread));
  }

  /** Does the handshake of TLS, now. What comes from here on counts anew. */
  async secure(options: ConnectionOptions = {}): Promise<void> {
    this.#tcp.removeAllListeners('data');
    this.received = '';
    this.#taken = 0;
    const tls = connectTls({ ...TRUSTING, ...options, socket: this.#tcp });
    this.socket = tls;
    this.#hear(tls);
    const failed = new Promise((_, reject) => {
      tls.once('error', reject);
      void this.closed.then(() => reject(new Error('the connection ended in the handshake')));
    });
    await Promise.race([new Promise((resolve) => tls.once('secureConnect', resolve)), failed]);
  }

  /** STARTTLS and the handshake. */
  async startTls(options: ConnectionOptions = {}): Promise<void> {
    const reply = await this.ask('STARTTLS');
    if (!reply.startsWith('220 ')) throw new Error(`STARTTLS was refused: ${reply}`);
    await this.secure(options);
  }

  /** Sends nothing more, and goes on reading (as `nc -N`). */
  halfClose(): void {
    this.socket.end();
  }

  /** Resets the connection: RST, whatever is under way. */
  reset(): void {
    this.#tcp.resetAndDestroy();
  }

  /** Closes the connection without a word. */
  destroy(): void {
    this.socket.destroy();
    this.#tcp.destroy();
  }

  /** Reads nothing from now on, as long as the test wants. */
  stopReading(): void {
    this.socket.pause();
  }

  /** Reads on. */
  readOn(): void {
    this.socket.resume();
  }

  get #unread(): string {
    return this.received.slice(this.#taken);
  }

  #hear(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1');
      this.#notify();
    });
    socket.on('end', () => {
      this.ended = true;
      this.#notify();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error ??= error.code ?? error.message;
    });
  }

  #notify(): void {
    for (const again of this.#waiting) again();
  }

  async #until<T>(look: () => T | null): Promise<T> {
    let found: T | null = null;
    await this.#untilTrue(() => {
      found ??= look();
      return found !== null || this.ended || this.#isClosed;
    });
    if (found === null)
      throw new Error(`the connection ended; what was not taken of it: ${JSON.stringify(this.#unread)}`);
    return found;
  }

  #untilTrue(isDone: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const again = () => {
        if (!isDone()) return;
        this.#waiting.delete(again);
        resolve();
      };
      this.#waiting.add(again);
      again();
    });
  }
}
