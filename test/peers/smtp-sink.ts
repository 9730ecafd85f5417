/**
 * An SMTP server that takes mail and can be told to misbehave: the next hop of tests and benchmarks. It speaks
 * RFC 5321 faithfully unless its script says otherwise. What it can be told is in `smtp-sink-script.ts`.
 *
 *     const sink = await startSmtpSink({ script: { RCPT: (event) => event.argument.includes('bad@') ? '550 5.1.1 no' : undefined } });
 *     … deliver to 127.0.0.1, sink.port …
 *     await sink.until(() => sink.messages.length === 1);
 *     await sink.close();
 */
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { SinkMessage, SinkOwner, SinkScript, SmtpSinkOptions } from './smtp-sink-script.ts';
import { SinkSession } from './smtp-sink-session.ts';

/** A sink that listens. */
export class SmtpSink implements SinkOwner {
  readonly options: SmtpSinkOptions;
  /** May be changed while it runs. */
  script: SinkScript;
  readonly secureContext: SecureContext | null;
  /** Messages whose end was seen, unless `keep` is `count`. */
  readonly messages: SinkMessage[] = [];
  /** Command lines as they came, AUTH lines too, each with its session's number. Not for `count`. */
  readonly commands: { readonly session: number; readonly line: string }[] = [];
  /** What each handshake asked for by name (RFC 6066 §3); false for nothing. */
  readonly serverNames: (string | false)[] = [];
  /** Messages taken so far. */
  taken = 0;
  /** Connections accepted so far. */
  connections = 0;
  readonly #server: Server;
  readonly #sessions = new Set<SinkSession>();
  #watchers: { readonly condition: () => boolean; readonly resolve: () => void }[] = [];

  constructor(options: SmtpSinkOptions) {
    this.options = options;
    this.script = options.script ?? {};
    this.secureContext = options.certificate ? createSecureContext(options.certificate) : null;
    if ((options.tls ?? 'none') !== 'none' && !this.secureContext) throw new Error('TLS needs a certificate');
    this.#server = createServer({ noDelay: true }, (socket) => this.#welcome(socket));
  }

  /** The port it listens on. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  /** Sessions that are open now. */
  get open(): number {
    return this.#sessions.size;
  }

  /** Resolves as soon as `condition` is true; looked at whenever the sink has seen something. */
  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => this.#watchers.push({ condition, resolve }));
  }

  /** Cuts every open connection, with RST. */
  cut(): void {
    for (const session of this.#sessions) session.cut();
  }

  /** Stops listening and cuts every connection. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  /** Starts to listen. */
  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.options.port ?? 0, this.options.host ?? '127.0.0.1', resolve);
    });
  }

  /** Called by sessions. */
  heard(session: number, line: string): void {
    if (this.options.keep !== 'count') this.commands.push({ session, line });
  }

  /** Called by sessions. */
  record(message: SinkMessage): void {
    if (message.taken) this.taken++;
    if (this.options.keep !== 'count') this.messages.push(message);
    this.noticed();
  }

  /** Called by sessions. */
  noticed(): void {
    if (this.#watchers.length === 0) return;
    const done = this.#watchers.filter((watcher) => watcher.condition());
    this.#watchers = this.#watchers.filter((watcher) => !done.includes(watcher));
    for (const watcher of done) watcher.resolve();
  }

  #welcome(socket: Socket): void {
    const session = new SinkSession(this, socket, ++this.connections);
    this.#sessions.add(session);
    socket.once('close', () => {
      this.#sessions.delete(session);
      this.noticed();
    });
    session.start();
    this.noticed();
  }
}

/** Starts a sink; resolves when it accepts connections. */
export async function startSmtpSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const sink = new SmtpSink(options);
  await sink.listen();
  return sink;
}
