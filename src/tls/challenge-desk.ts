import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { ChallengeAnswer } from '../domain/certificate.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { readClientHello } from './client-hello.ts';
import { createSelfSigned, type KeyAndCertificate } from './self-signed.ts';

/** RFC 8555 §8.3. */
const PATH = '/.well-known/acme-challenge/';
/** RFC 8737 §6.2. */
const PROTOCOL = 'acme-tls/1';
const DAY_MS = 86_400_000;
/** The largest hello that is looked at; others are none of an authority's. */
const MAX_HELLO_BYTES = 16 * 1024 + 5;
const HANDSHAKE_MS = 10_000;

/** What the listeners of a thread answer an authority that asks whether names are ours; while nothing is ordered, nothing. */
export class ChallengeDesk {
  readonly #clock: Clock;
  readonly #random: Random;
  #texts: ReadonlyMap<string, string> = new Map();
  #certificates: ReadonlyMap<string, KeyAndCertificate> = new Map();
  #answers: readonly ChallengeAnswer[] = [];
  readonly #listeners = new Set<(answers: readonly ChallengeAnswer[]) => void>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** What is answered from now on. */
  set(answers: readonly ChallengeAnswer[]): void {
    if (isSame(answers, this.#answers)) return;
    this.#answers = answers;
    const of = (kind: ChallengeAnswer['kind']) => answers.filter((one) => one.kind === kind);
    this.#texts = new Map(of('http-01').map((one) => [PATH + one.token, one.keyAuthorization]));
    this.#certificates = new Map(
      of('tls-alpn-01').map((one) => [one.name.toLowerCase(), this.#certify(one)]),
    );
    for (const listener of this.#listeners) listener(answers);
  }

  /** Calls the listener with what is answered: now, and whenever that changes. */
  onChange(listener: (answers: readonly ChallengeAnswer[]) => void): void {
    this.#listeners.add(listener);
    listener(this.#answers);
  }

  /** What a GET of this path is answered; null: nothing of ours. */
  textFor(path: string): string | null {
    return this.#texts.get(path) ?? null;
  }

  /** Whether connections over TLS may be an authority's. */
  get looksAtTls(): boolean {
    return this.#certificates.size > 0;
  }

  /**
   * Looks at the beginning of a connection over TLS: an authority's is answered, and closed; `other` takes any other
   * one, and one that is slow, as if nothing had been read.
   */
  receive(socket: Socket, other: () => void): void {
    let bytes: Buffer = Buffer.alloc(0);
    const lookUntil = this.#clock.mono() + HANDSHAKE_MS;
    const look = () => {
      const chunk: Buffer | null = socket.read();
      if (chunk !== null) bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const hello = readClientHello(bytes);
      const isLate = this.#clock.mono() >= lookUntil;
      if (hello === 'more' && bytes.length < MAX_HELLO_BYTES && !isLate) return;
      socket.removeListener('readable', look);
      if (bytes.length > 0) socket.unshift(bytes);
      const asks = hello !== 'more' && hello !== null && hello.protocols.includes(PROTOCOL) ? hello : null;
      const pair = asks === null ? undefined : this.#certificates.get(asks.serverName ?? '');
      if (pair === undefined) other();
      else prove(socket, pair);
    };
    socket.on('readable', look);
    look();
  }

  /** RFC 8737 §3. */
  #certify({ name, keyAuthorization }: ChallengeAnswer): KeyAndCertificate {
    const now = this.#clock.wall();
    return createSelfSigned({
      hosts: [name.toLowerCase()],
      notBefore: now - DAY_MS,
      notAfter: now + DAY_MS,
      random: this.#random,
      acmeIdentifier: createHash('sha256').update(keyAuthorization).digest(),
    });
  }
}

function prove(socket: Socket, pair: KeyAndCertificate): void {
  const tls = new TLSSocket(socket, {
    isServer: true,
    secureContext: createSecureContext(pair),
    ALPNProtocols: [PROTOCOL],
  });
  socket.setTimeout(HANDSHAKE_MS, () => socket.destroy());
  tls.on('error', () => socket.destroy());
  tls.once('secure', () => tls.end());
}

function isSame(one: readonly ChallengeAnswer[], other: readonly ChallengeAnswer[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
