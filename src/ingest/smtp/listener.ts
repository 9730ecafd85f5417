/** The SMTP listener: sockets in, sessions out. The dialogue itself is in `smtp/receiver`. */
import { constants } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { createRequestIds } from '../../lib/id.ts';
import { bindAll, TLS_RULES } from '../../lib/listen.ts';
import { normaliseAddress } from '../../lib/network.ts';
import type { ContentRules } from '../../smtp/receiver/content-scanner.ts';
import type { ReceiverOptions } from '../../smtp/receiver/effect.ts';
import { Arrival, type Arrived, sayAndClose, tellTurnedAway } from './arrival.ts';
import { Connections } from './connections.ts';
import type { ListenerContext } from './context.ts';
import { OwnCrowd } from './crowd.ts';
import { Denials } from './denials.ts';
import type { SmtpDeps, SmtpOptions } from './options.ts';
import { Policy } from './policy.ts';
import { Session } from './session.ts';

/** Accepts SMTP sessions on any number of ports. */
export interface SmtpListener {
  readonly connections: number;
  /**
   * Binds a port on these addresses; 0 picks a free one, the same on each. Resolves to the port. Rejects with
   * `ListenError`, and then has bound none of them.
   */
  listen(hosts: readonly string[], port: number, implicitTls: boolean): Promise<number>;
  /** Uses another key and certificate for handshakes from now on. */
  setSecureContext(tls: SecureContextOptions): void;
  /** Stops accepting at once. Sessions end after the work in progress, at the latest when the signal aborts. */
  close(deadline: AbortSignal): Promise<void>;
}

/** Creates an unbound listener. Without `tls` it offers no STARTTLS and binds no implicit TLS. */
export function createSmtpListener(
  deps: SmtpDeps,
  options: SmtpOptions,
  tls: SecureContextOptions | null,
): SmtpListener {
  return new Listener(deps, options, tls);
}

class Listener implements SmtpListener {
  readonly #context: ListenerContext;
  readonly #servers: Server[] = [];
  readonly #nextRequestId: (inbound: undefined) => string;
  /** One for all connections. */
  readonly #open = (arrived: Arrived): Session =>
    new Session(arrived, this.#nextRequestId(undefined), this.#context);
  #secureContext: SecureContext | null;

  constructor(deps: SmtpDeps, options: SmtpOptions, tls: SecureContextOptions | null) {
    this.#secureContext = tls === null ? null : contextOf(tls);
    this.#nextRequestId = createRequestIds(deps.random);
    this.#context = {
      deps,
      options,
      policy: new Policy(deps, options),
      connections: new Connections(deps.clock, options, deps.crowd ?? new OwnCrowd()),
      denials: new Denials(deps.events, deps.clock),
      sessions: deps.sessions,
      receiverOptions: new LiveReceiverOptions(options, tls !== null),
      secureContext: () => this.#secureContext,
    };
  }

  get connections(): number {
    return this.#context.connections.size;
  }

  async listen(hosts: readonly string[], port: number, implicitTls: boolean): Promise<number> {
    const bound = await bindAll(
      hosts,
      port,
      () =>
        createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#admit(socket, implicitTls)),
      (error) => this.#context.deps.log.error('smtp.listener_failed', { error: error.message }),
      this.#context.deps.crowd !== null,
    );
    this.#servers.push(...bound.servers);
    return bound.port;
  }

  setSecureContext(tls: SecureContextOptions): void {
    this.#secureContext = contextOf(tls);
  }

  async close(deadline: AbortSignal): Promise<void> {
    for (const server of this.#servers) server.close();
    await this.#context.connections.close(deadline);
    this.#context.denials.flush();
    this.#context.sessions?.flush();
  }

  #admit(socket: Socket, implicitTls: boolean): void {
    // Every error ends in a close, which is handled.
    socket.on('error', () => {});
    const { connections } = this.#context;
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || connections.closing) {
      socket.destroy();
      return;
    }
    const peer = normaliseAddress(remoteAddress);
    const full = connections.full();
    if (full !== null) {
      const isHidden = this.#context.options.trustedProxies.contains(peer);
      tellTurnedAway({ address: peer, isHidden }, full, this.#context);
      if (implicitTls) socket.destroy();
      else sayAndClose(socket, peer, full, this.#context);
      return;
    }
    new Arrival(socket, peer, implicitTls, this.#context, this.#open).begin();
  }
}

/** We choose the cipher order and refuse renegotiation: Node does both for its own servers only. */
function contextOf(tls: SecureContextOptions): SecureContext {
  const secureOptions = constants.SSL_OP_CIPHER_SERVER_PREFERENCE | constants.SSL_OP_NO_RENEGOTIATION;
  return createSecureContext({ ...tls, ...TLS_RULES, secureOptions });
}

/** Bytes of a text line with its CRLF (RFC 5321 §4.5.3.1.6). */
const MAX_LINE_BYTES = 1000;
/** What a client may send ahead while it waits for an answer: the current chunk, and what the socket still delivers. */
const MAX_WAITING_BYTES = 256 * 1024;

/** The receivers' options, from the listener's settings. One object serves all sessions, and is read at every use. */
export class LiveReceiverOptions implements ReceiverOptions {
  readonly maxWaitingBytes = MAX_WAITING_BYTES;
  readonly startTls: boolean;
  readonly #options: SmtpOptions;

  /** `startTls`: there is a certificate. */
  constructor(options: SmtpOptions, startTls: boolean) {
    this.#options = options;
    this.startTls = startTls;
  }

  get hostname(): string {
    return this.#options.hostname;
  }

  get requireTls(): boolean {
    return this.#options.settings.requireTls;
  }

  get auth(): ReceiverOptions['auth'] {
    return this.#options.settings.allowInsecureAuth ? 'always' : 'secure';
  }

  get requireAuth(): boolean {
    // With a bounce domain anybody may say MAIL: what else needs AUTH is refused at RCPT.
    return this.#options.settings.requireAuth && this.#options.bounces.domains.size === 0;
  }

  get quotedLocalParts(): boolean {
    return this.#options.settings.quotedLocalParts;
  }

  get content(): ContentRules {
    const { bareNewline } = this.#options.settings;
    return { bareNewline, maxLineBytes: MAX_LINE_BYTES };
  }

  get maxMessageBytes(): number {
    return this.#options.limits.maxMessageBytes;
  }

  get maxRecipients(): number {
    return this.#options.limits.maxRecipients;
  }

  get maxTransactions(): number {
    return this.#options.settings.maxMessagesPerConnection;
  }

  get maxCommandsWithoutMail(): number {
    return this.#options.settings.maxCommandsWithoutMail;
  }

  get softErrors(): number {
    return this.#options.settings.softErrors;
  }

  get hardErrors(): number {
    return this.#options.settings.hardErrors;
  }

  get maxAuthFailures(): number {
    return this.#options.settings.maxAuthFailures;
  }
}
