/** Opens a session: dials, secures, says hello, authenticates. */

import { isIP, type Socket } from 'node:net';
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { matchTlsa, type Tlsa } from '../../dns/dane.ts';
import type { TransportSecurity } from '../../domain/attempt.ts';
import type { Reply } from '../../domain/outcome.ts';
import type { TlsMode } from '../../domain/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import { errorCode } from '../../lib/error.ts';
import { type Credentials, challengeOf, concealing, withoutSecrets } from '../../smtp/auth.ts';
import { Opening, type OpeningAction } from '../../smtp/opening.ts';
import type { Capabilities, SmtpReply } from '../../smtp/reply.ts';
import type { TokenDesk } from '../transport.ts';
import { type ConnectionUser, SmtpConnection } from './connection.ts';
import { Deadline, type Timeouts } from './deadline.ts';
import { dial, type SourceAddresses } from './dial.ts';
import { ABORTED, HopFailure, openingFailure, timeoutReply, tlsFailure } from './failure.ts';
import type { Trace } from './trace.ts';

/** Where to connect, and how to secure the way there. */
export interface Destination {
  /** Name or address of the server. */
  readonly host: string;
  /** The address; null: the system's resolver decides for `host`. */
  readonly address: string | null;
  readonly port: number;
  readonly tls: TlsMode;
  readonly trust: Trust;
  /** Replaces `host` in the handshake (SNI). */
  readonly serverName?: string;
  /** If given, only an authenticated session counts as open. */
  readonly credentials: Credentials | null;
  /** Instead of `credentials`: a user that authenticates with access tokens, and their source. */
  readonly signIn?: { readonly username: string; readonly tokens: TokenDesk };
  /** See `DialTarget`. */
  readonly noLinkLocal?: true | undefined;
}

/** Our name, source address and time-outs. */
export interface OpenTerms {
  /** Given in EHLO. */
  readonly helo: string;
  readonly sources: SourceAddresses;
  readonly clock: Clock;
  readonly timeouts: Timeouts;
}

/**
 * Opens a session that is ready for MAIL. Throws `HopFailure` when that fails or `signal` aborts, and RangeError,
 * before connecting, for an invalid host name of ours.
 *
 * A token that the server refuses is dropped, and another requested, once: it may have been revoked early.
 */
export async function openSession(
  destination: Destination,
  terms: OpenTerms,
  trace: Trace,
  signal: AbortSignal,
): Promise<SmtpConnection> {
  const { signIn } = destination;
  if (signIn === undefined) return await openSecured(destination, terms, trace, signal);
  const { username, tokens } = signIn;
  const openWith = async (secret: string) => {
    const credentials = { username, secret, auth: 'xoauth2' } as const;
    return await openSecured({ ...destination, credentials }, terms, trace, signal);
  };
  const first = await tokenOf(tokens, trace, signal);
  try {
    return await openWith(first);
  } catch (error) {
    if (!(error instanceof HopFailure) || error.reply.code !== TOKEN_NOT_TAKEN) throw error;
    tokens.drop(first);
    trace.happened('TOKEN', 'is discarded, because it was refused with 535');
  }
  return await openWith(await tokenOf(tokens, trace, signal));
}

/** The reply to AUTH that refuses credentials (RFC 4954 §6). Before a session is open, 535 has no other meaning. */
const TOKEN_NOT_TAKEN = 535;

async function tokenOf(tokens: TokenDesk, trace: Trace, signal: AbortSignal): Promise<string> {
  const result = await tokens.get(signal, (text) => trace.happened('TOKEN', text));
  if (result.ok) return result.token;
  throw new HopFailure(signal.aborted ? ABORTED : result.reply, { restMs: result.restMs });
}

/**
 * Opportunistic TLS (RFC 7435) prefers any encryption to none: a handshake that fails or never ends is followed by a
 * connection in clear, unless a password must be protected or the certificate verified.
 */
async function openSecured(
  destination: Destination,
  terms: OpenTerms,
  trace: Trace,
  signal: AbortSignal,
): Promise<SmtpConnection> {
  const { tls, trust, credentials } = destination;
  try {
    return await openOnce(destination, terms, trace, signal);
  } catch (error) {
    const handshakeFailed = error instanceof HopFailure && OF_THE_HANDSHAKE.includes(error.reply.cause);
    const mayBeClear = tls === 'opportunistic' && trust.kind === 'any' && credentials === null;
    if (!handshakeFailed || !mayBeClear) throw error;
    trace.tls = null;
    trace.verdict = null;
    trace.handshakeFault = errorCode(error.cause) ?? error.reply.cause;
    return await openOnce({ ...destination, tls: 'none' }, terms, trace, signal);
  }
}

const OF_THE_HANDSHAKE: readonly string[] = ['tls_failed', 'timeout_tls'];

async function openOnce(
  destination: Destination,
  terms: OpenTerms,
  trace: Trace,
  signal: AbortSignal,
): Promise<SmtpConnection> {
  const { host, port, tls, credentials } = destination;
  const { helo, sources, clock, timeouts } = terms;
  const opening = new Opening({ hostname: helo, tls, credentials, peer: { host, port } });
  const dialling = new AbortController();
  const abort = () => dialling.abort(new HopFailure(ABORTED));
  const deadline = new Deadline(clock, () =>
    dialling.abort(new HopFailure(timeoutReply('connect', host, timeouts.connect))),
  );
  if (signal.aborted) throw new HopFailure(ABORTED);
  signal.addEventListener('abort', abort);
  deadline.set(timeouts.connect);
  try {
    const socket = await dial({ ...destination, sources }, clock, trace, dialling.signal);
    deadline.clear();
    const connection = new SmtpConnection(socket, { host, clock, timeouts });
    connection.conceal = concealing(credentials);
    return await new Opener(connection, opening, destination, clock, trace).run(dialling.signal);
  } finally {
    deadline.stop();
    signal.removeEventListener('abort', abort);
  }
}

/** Runs the opening state machine over a connection. */
class Opener implements ConnectionUser {
  readonly #connection: SmtpConnection;
  readonly #opening: Opening;
  readonly #destination: Destination;
  readonly #clock: Clock;
  readonly #trace: Trace;
  readonly #done = Promise.withResolvers<SmtpConnection>();

  constructor(
    connection: SmtpConnection,
    opening: Opening,
    destination: Destination,
    clock: Clock,
    trace: Trace,
  ) {
    this.#connection = connection;
    this.#opening = opening;
    this.#destination = destination;
    this.#clock = clock;
    this.#trace = trace;
  }

  /** Resolves when the session is ready for MAIL; throws `HopFailure`. */
  async run(signal: AbortSignal): Promise<SmtpConnection> {
    const abort = () => this.#giveUp(signal.reason);
    signal.addEventListener('abort', abort);
    this.#connection.user = this;
    if (this.#destination.tls === 'implicit') void this.#secure();
    else this.#connection.expect('greeting');
    try {
      return await this.#done.promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  reply(raw: SmtpReply): void {
    const verb = this.#opening.awaiting;
    const reply = verb === 'auth' ? withoutSecrets(raw, this.#destination.credentials) : raw;
    const safe = verb === 'auth' ? reply : this.#connection.conceal(raw);
    this.#trace.replied(verb.toUpperCase(), readable(safe));
    // A positive reply's text is read, but not kept.
    this.#act(this.#opening.receive(raw.code < 400 ? reply : safe));
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
        this.#note(action.capabilities);
        this.#done.resolve(this.#connection);
        return;
      case 'failed':
        this.#giveUp(openingFailure(action, this.#destination.host));
    }
  }

  /** Keeps the session's properties with it, for its later users. */
  #note(capabilities: Capabilities): void {
    this.#connection.capabilities = capabilities;
    this.#connection.address = this.#trace.address;
    this.#connection.localAddress = this.#trace.localAddress;
    this.#connection.tls = this.#trace.tls;
    this.#trace.verdict = this.#connection.verdict;
  }

  async #secure(): Promise<void> {
    const { host, tls, trust, serverName = host } = this.#destination;
    this.#connection.expect('tls');
    try {
      const peer = { host, serverName, trust };
      const { socket, verdict } = await secure(this.#connection.detach(), peer, this.#clock, this.#trace);
      this.#connection.verdict = verdict;
      this.#trace.verdict = verdict;
      this.#connection.attach(socket);
    } catch (error) {
      this.#giveUp(error);
      return;
    }
    // With implicit TLS the greeting comes inside TLS; after STARTTLS we send EHLO again.
    if (tls === 'implicit') this.#connection.expect('greeting');
    else this.#act(this.#opening.secured());
  }

  #giveUp(reason: unknown): void {
    this.#connection.destroy();
    this.#done.reject(reason);
  }
}

/** The 334 to a token is base64 of the error: people are shown the decoded text. */
function readable(reply: SmtpReply): SmtpReply {
  const text = challengeOf(reply);
  return text === null ? reply : { ...reply, text };
}

/** Longer chains are examined only in part. */
const MAX_CHAIN = 10;

/**
 * What a server's certificate must prove.
 * - `any`: nothing; encryption suffices.
 * - `name`: it is the host's, and comes from a trusted root.
 * - `dane`: it matches one of these records (RFC 7672), and for usage 2 is valid for one of the names.
 */
export type Trust =
  | { readonly kind: 'any' | 'name' }
  | { readonly kind: 'dane'; readonly records: readonly Tlsa[]; readonly names: readonly string[] };

/** The peer of a handshake. */
interface TlsPeer {
  /** For texts. */
  readonly host: string;
  /** Name or address for SNI, for which the certificate must be valid. */
  readonly serverName: string;
  readonly trust: Trust;
}

/** A secured connection, and the verdict on its certificate. */
interface Secured {
  readonly socket: TLSSocket;
  readonly verdict: Exclude<TransportSecurity['verdict'], 'none' | null>;
}

/**
 * Performs the TLS handshake over a connected socket that nobody reads. Fails with `HopFailure`, cause `tls_failed`,
 * when the handshake fails, the certificate does not prove what it must, or the socket is destroyed meanwhile.
 */
function secure(socket: Socket, peer: TlsPeer, clock: Clock, trace: Trace): Promise<Secured> {
  const { host, serverName, trust } = peer;
  return new Promise((resolve, reject) => {
    const startedAt = clock.mono();
    const name = isIP(serverName) === 0 ? { servername: serverName } : {};
    const tls = connect({ socket, host: serverName, ...name, rejectUnauthorized: trust.kind === 'name' });
    const fail = (error: Error) => {
      // A failed socket may go on to report errors.
      tls.removeListener('close', onClose);
      tls.on('error', () => {});
      tls.destroy();
      reject(tlsFailure(error, host));
    };
    const onClose = () => fail(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }));
    tls.once('error', fail);
    tls.once('close', onClose);
    tls.once('secureConnect', () => {
      trace.tlsMs = Math.round(clock.mono() - startedAt);
      trace.tls = `${tls.getProtocol()} ${tls.getCipher().standardName}`;
      const verdict = judge(tls, trust, clock.wall());
      // Node.js has the code there, not an error.
      if (verdict === 'unverified') trace.certificateFault = String(tls.authorizationError ?? '');
      trace.happened('TLS', `${trace.tls}, ${WORDS[verdict]}`);
      if (trust.kind === 'dane' && verdict !== 'dane')
        return fail(new Error('its certificate matches none of its TLSA records (DANE)'));
      tls.removeListener('error', fail);
      tls.removeListener('close', onClose);
      resolve({ socket: tls, verdict });
    });
  });
}

const WORDS: Readonly<Record<Secured['verdict'], string>> = {
  verified: 'certificate verified',
  dane: 'certificate matches its TLSA records',
  unverified: 'certificate not verified',
};

function judge(tls: TLSSocket, trust: Trust, nowMs: number): Secured['verdict'] {
  if (trust.kind === 'dane') {
    const { records, names } = trust;
    return matchTlsa(records, chainOf(tls), { names, nowMs }) ? 'dane' : 'unverified';
  }
  return tls.authorized ? 'verified' : 'unverified';
}

/** The certificates that the server sent, its own first, in DER. */
function chainOf(tls: TLSSocket): Uint8Array[] {
  const chain: Uint8Array[] = [];
  let certificate: DetailedPeerCertificate | undefined = tls.getPeerCertificate(true);
  while (certificate?.raw && chain.length < MAX_CHAIN) {
    chain.push(certificate.raw);
    // A root is its own issuer.
    const issuer: DetailedPeerCertificate | undefined = certificate.issuerCertificate;
    certificate = issuer === certificate ? undefined : issuer;
  }
  return chain;
}
