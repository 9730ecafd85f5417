import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Where a session goes, and how. */
export interface SessionOptions {
  readonly port: number;
  /** STARTTLS before the first message; the certificate is not looked at. */
  readonly tls: boolean;
}

const HOST = '127.0.0.1';

/**
 * A client's SMTP session that waits for each reply before its next command. Every method throws when the reply is
 * not the one that goes on, or the connection ends.
 */
export class SmtpSession {
  #socket: Socket;
  #buffered = '';
  #waiting: { readonly resolve: (reply: string) => void; readonly reject: (error: Error) => void } | null =
    null;
  #failed: Error | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#listen();
  }

  /** Opens one, up to where mail may be sent. */
  static async open({ port, tls }: SessionOptions): Promise<SmtpSession> {
    const session = new SmtpSession(connect({ port, host: HOST, noDelay: true }));
    await session.#reply('220');
    await session.#ask('EHLO bench.example.com', '250');
    if (tls) {
      await session.#ask('STARTTLS', '220');
      await session.#encrypt();
      await session.#ask('EHLO bench.example.com', '250');
    }
    return session;
  }

  /** Sends one message, whose `content` has its final dot; resolves when it was accepted. */
  async send(from: string, to: string, content: Buffer): Promise<void> {
    await this.#ask(`MAIL FROM:<${from}>`, '250');
    await this.#ask(`RCPT TO:<${to}>`, '250');
    await this.#ask('DATA', '354');
    this.#socket.write(content);
    await this.#reply('250');
  }

  /** Says goodbye and ends the connection. */
  async close(): Promise<void> {
    await this.#ask('QUIT', '221');
    this.#socket.destroy();
  }

  #ask(command: string, code: string): Promise<void> {
    this.#socket.write(`${command}\r\n`);
    return this.#reply(code);
  }

  async #reply(code: string): Promise<void> {
    const reply = await new Promise<string>((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#failed === null) this.#look();
      else reject(this.#failed);
    });
    if (!reply.startsWith(code)) throw new Error(`${code} was awaited, and came: ${reply}`);
  }

  /** A reply is whole with its first line that has no hyphen behind the code. */
  #look(): void {
    const whole = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(this.#buffered)?.[0];
    if (whole === undefined || this.#waiting === null) return;
    this.#buffered = this.#buffered.slice(whole.length);
    const { resolve } = this.#waiting;
    this.#waiting = null;
    resolve(whole);
  }

  #listen(): void {
    this.#socket.on('data', (chunk: Buffer) => {
      this.#buffered += chunk.toString('latin1');
      this.#look();
    });
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  #fail(error: Error): void {
    this.#failed ??= error;
    this.#waiting?.reject(this.#failed);
  }

  async #encrypt(): Promise<void> {
    const plain = this.#socket;
    plain.removeAllListeners();
    this.#socket = connectTls({ socket: plain, rejectUnauthorized: false });
    this.#listen();
    await new Promise<void>((resolve, reject) => {
      this.#socket.once('secureConnect', resolve);
      this.#socket.once('error', reject);
    });
  }
}
