/** Opens a session: dials, secures, says hello, authenticates. */
import type { Reply } from '../../domain/outcome.ts';
import type { SmarthostSettings, TlsMode } from '../../domain/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Credentials, Opening, type OpeningAction } from '../../smtp/opening.ts';
import type { SmtpReply } from '../../smtp/reply.ts';
import { type ConnectionUser, SmtpConnection } from './connection.ts';
import { Deadline } from './deadline.ts';
import { dial } from './dial.ts';
import { ABORTED, HopFailure, openingFailure, timeoutReply, tlsFailure } from './failure.ts';
import type { Timeouts } from './timeouts.ts';
import { secure } from './tls.ts';
import type { Trace } from './trace.ts';

/** Where to, as whom, and how patiently. */
export interface OpenTarget {
  readonly settings: SmarthostSettings;
  /** The server's own name, for EHLO unless the settings name another. */
  readonly hostname: string;
  readonly clock: Clock;
  readonly timeouts: Timeouts;
}

/**
 * Opens a session that is ready for MAIL. Throws `HopFailure` when that cannot be done or `signal` aborts, and
 * RangeError, before it connects, for a host name of ours that cannot be written.
 *
 * Opportunistic TLS (RFC 7435) takes any encryption over none, so the certificate is not checked, and a
 * handshake that fails is followed by a connection in clear; unless there is a password to protect.
 */
export async function openSession(
  target: OpenTarget,
  trace: Trace,
  signal: AbortSignal,
): Promise<SmtpConnection> {
  const { tls, username } = target.settings;
  try {
    return await openOnce(target, tls, trace, signal);
  } catch (error) {
    const handshakeFailed = error instanceof HopFailure && error.reply.cause === 'tls_failed';
    if (!handshakeFailed || tls !== 'opportunistic' || username !== null) throw error;
    return await openOnce(target, 'none', trace, signal);
  }
}

async function openOnce(
  target: OpenTarget,
  tls: TlsMode,
  trace: Trace,
  signal: AbortSignal,
): Promise<SmtpConnection> {
  const { settings, hostname, clock, timeouts } = target;
  const { host, port } = settings;
  const credentials = credentialsOf(settings);
  const opening = new Opening({ hostname: settings.helo ?? hostname, tls, credentials });
  const dialling = new AbortController();
  const abort = () => dialling.abort(new HopFailure(ABORTED));
  const deadline = new Deadline(clock, () =>
    dialling.abort(new HopFailure(timeoutReply('connect', host, timeouts.connect))),
  );
  if (signal.aborted) throw new HopFailure(ABORTED);
  signal.addEventListener('abort', abort);
  deadline.set(timeouts.connect);
  try {
    const socket = await dial(host, port, clock, trace, dialling.signal);
    const connection = new SmtpConnection(socket, { host, clock, timeouts });
    connection.address = trace.address;
    return await new Opener(connection, opening, target, tls, trace).run(dialling.signal);
  } finally {
    deadline.stop();
    signal.removeEventListener('abort', abort);
  }
}

/** Runs the opening machine over a connection. */
class Opener implements ConnectionUser {
  readonly #connection: SmtpConnection;
  readonly #settings: SmarthostSettings;
  readonly #clock: Clock;
  readonly #tls: TlsMode;
  readonly #opening: Opening;
  readonly #trace: Trace;
  readonly #done = Promise.withResolvers<SmtpConnection>();

  constructor(connection: SmtpConnection, opening: Opening, target: OpenTarget, tls: TlsMode, trace: Trace) {
    this.#connection = connection;
    this.#opening = opening;
    this.#settings = target.settings;
    this.#clock = target.clock;
    this.#tls = tls;
    this.#trace = trace;
  }

  /** Resolves when the session is ready for MAIL; throws `HopFailure`. */
  async run(signal: AbortSignal): Promise<SmtpConnection> {
    const abort = () => this.#giveUp(signal.reason);
    signal.addEventListener('abort', abort);
    this.#connection.user = this;
    if (this.#tls === 'implicit') void this.#secure();
    else this.#connection.expect('greeting');
    try {
      return await this.#done.promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  reply(raw: SmtpReply): void {
    const verb = this.#opening.awaiting;
    const reply = verb === 'auth' ? withoutSecrets(raw, credentialsOf(this.#settings)) : raw;
    this.#trace.replied(verb.toUpperCase(), reply);
    this.#act(this.#opening.receive(reply));
  }

  lost(reason: Reply): void {
    this.#done.reject(new HopFailure(reason));
  }

  #act(action: OpeningAction): void {
    switch (action.kind) {
      case 'send':
        this.#connection.expect(this.#opening.awaiting);
        this.#connection.write(action.line);
        return;
      case 'start_tls':
        void this.#secure();
        return;
      case 'ready':
        this.#connection.user = null;
        this.#connection.calm();
        this.#connection.capabilities = action.capabilities;
        this.#done.resolve(this.#connection);
        return;
      case 'failed':
        this.#giveUp(openingFailure(action, this.#settings.host));
    }
  }

  async #secure(): Promise<void> {
    const { host, verify } = this.#settings;
    const checked = verify && this.#tls !== 'opportunistic';
    this.#connection.expect('tls');
    try {
      const socket = await secure(this.#connection.detach(), host, checked, this.#clock, this.#trace);
      if (verify && this.#settings.username !== null && !socket.authorized)
        throw tlsFailure(new Error(`${socket.authorizationError}; the password is not sent`), host);
      this.#connection.tls = this.#trace.tls;
      this.#connection.attach(socket);
    } catch (error) {
      this.#giveUp(error);
      return;
    }
    // With implicit TLS the greeting comes inside, else the hello is said again.
    if (this.#tls === 'implicit') this.#connection.expect('greeting');
    else this.#act(this.#opening.secured());
  }

  #giveUp(reason: unknown): void {
    this.#connection.destroy();
    this.#done.reject(reason);
  }
}

function credentialsOf(settings: SmarthostSettings): Credentials | null {
  const { username, password } = settings;
  return username === null ? null : { username, password: password ?? '' };
}

/** A server may echo what it was sent. */
function withoutSecrets(reply: SmtpReply, credentials: Credentials | null): SmtpReply {
  if (!credentials || credentials.password === '') return reply;
  const { username, password } = credentials;
  const secrets = [
    Buffer.from(`\0${username}\0${password}`).toString('base64'),
    Buffer.from(password).toString('base64'),
    password,
  ];
  const hide = (text: string) => secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text);
  return { ...reply, text: hide(reply.text), lines: reply.lines.map(hide) };
}
