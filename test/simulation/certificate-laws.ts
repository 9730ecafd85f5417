import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyAndCertificate } from '../../src/tls/self-signed.ts';
import { InvariantBroken } from './statuses.ts';

/** What must hold of every history of certificates, by the books of the world alone (docs/tls.md). */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** How long certificates are valid. */
export const LIFE_MS = 6 * 24 * HOUR;
/** Of a certificate's life, so much is left when it is renewed, in percent. */
export const RENEW_PERCENT = 33;
const DUE_LEFT_MS = (LIFE_MS * RENEW_PERCENT) / 100;
/** Clocks are wrong by so much at most, either way. */
export const WRONG_MS = 2 * HOUR;
/** No failed order waits longer for the next, unless a wrong clock counted that. */
const LONGEST_BACK_OFF_MS = 12 * HOUR;
/** With all well for so long, nobody has a certificate that was due before. */
export const WELL_MS = LONGEST_BACK_OFF_MS + WRONG_MS + HOUR;
/** A node looks, orders, and the others look, within so long. */
const LATE_MS = 30 * MINUTE;
/** How soon a failed order is made again at the earliest; so many times that after each further one. */
const FIRST_BACK_OFF_MS = 4.5 * MINUTE;
const GROWTH = 3;
/** A node that orders is left to it for so long. */
const ALONE_MS = 14 * MINUTE;

/** What a node uses, and since when it lives. */
export interface CertificateUser {
  readonly number: number;
  readonly bornAt: number;
}

/** Watches a history. Times are ms of the world, but for those of certificates. */
export class CertificateLaws {
  broken: InvariantBroken | null = null;
  readonly #now: () => number;
  /** World ms to true wall ms. */
  readonly #epoch: number;
  /** What the authority issued as it was asked to: PEM. */
  readonly #fit = new Set<string>();
  /** When what a node uses ends, wall ms. */
  readonly #inUse = new Map<number, number>();
  /** When what is stored ends, wall ms; 0: nothing is. */
  #storedEnd = 0;
  /** Who orders, and since when. */
  #ordering: { readonly node: number; readonly since: number } | null = null;
  /** Orders in a row of which no certificate was stored, since the last disturbance. */
  #inVain = { count: 0, lastAt: 0 };
  #restsUntil = 0;
  #unwellAt = 0;
  #clocksSetAt = Number.NEGATIVE_INFINITY;
  readonly #counts = {
    orders: 0,
    issued: 0,
    'issued wrongly': 0,
    stored: 0,
    refused: 0,
    'looked at in peace': 0,
  };

  constructor(now: () => number, epoch: number) {
    this.#now = now;
    this.#epoch = epoch;
  }

  /** Something is wrong at this moment: a node, the store, the authority or a clock. */
  unwell(): void {
    this.#unwellAt = this.#now();
  }

  /** Who failed may not have been able to write that down, or has another clock now. */
  disturbed(): void {
    this.unwell();
    this.#inVain = { count: 0, lastAt: 0 };
    this.#restsUntil = 0;
  }

  /** All clocks are set. */
  clocksSet(): void {
    this.#clocksSetAt = this.#now();
    this.disturbed();
  }

  /** A node asks the authority for an order. */
  asksForOrder(node: number): void {
    const now = this.#now();
    this.#counts.orders++;
    const left = this.#storedEnd - this.#epoch - now;
    if (left > DUE_LEFT_MS + WRONG_MS + HOUR)
      this.#breaks(`${node} orders, and what is stored lasts ${left} ms`);
    if (now < this.#restsUntil - MINUTE)
      this.#breaks(`${node} orders ${this.#restsUntil - now} ms too early`);
    const { count, lastAt } = this.#inVain;
    const least = Math.min(FIRST_BACK_OFF_MS * GROWTH ** (count - 1), 0.9 * LONGEST_BACK_OFF_MS);
    if (count > 0 && now - lastAt < least)
      this.#breaks(`${node} orders again after ${now - lastAt} ms (${count})`);
    const other = this.#ordering;
    const isAlone = other === null || other.node === node || now - other.since > ALONE_MS;
    if (!isAlone && this.#clocksSetAt < other.since)
      this.#breaks(`${node} orders, and ${other.node} is at it`);
    this.#ordering = { node, since: now };
    this.#inVain = { count: count + 1, lastAt: now };
  }

  /** Whether anybody orders. */
  get isOrdering(): boolean {
    return this.#ordering !== null;
  }

  /** A node has ended its conversation with the authority, or is gone. */
  ended(node: number): void {
    if (this.#ordering?.node === node) this.#ordering = null;
  }

  /** The authority refuses an order, and wants to be left alone for so long in ms. */
  refuses(restMs: number): void {
    this.#counts.refused++;
    this.#restsUntil = this.#now() + restMs;
  }

  /** The authority has issued it; not `isFit`: for another key or name than it was asked to. */
  issued(certificate: string, isFit: boolean): void {
    this.#counts[isFit ? 'issued' : 'issued wrongly']++;
    if (isFit) this.#fit.add(certificate);
  }

  /** It was stored for all nodes. */
  stored(certificate: string): void {
    this.#counts.stored++;
    if (!this.#fit.has(certificate)) this.#breaks('a certificate is stored that was not asked for');
    this.#storedEnd = endOf(certificate);
    this.#inVain = { count: 0, lastAt: 0 };
  }

  /** A node uses this pair from now on; null: none. */
  uses(node: number, pair: KeyAndCertificate | null): void {
    const before = this.#inUse.get(node) ?? 0;
    if (pair === null) {
      this.#breaks(`${node} uses no certificate any more`);
      return;
    }
    if (!this.#fit.has(pair.cert)) this.#breaks(`${node} uses a certificate that was not asked for`);
    if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)))
      this.#breaks(`${node} uses a key that is another certificate's`);
    const end = endOf(pair.cert);
    if (end < before) this.#breaks(`${node} uses an older certificate again`);
    this.#inUse.set(node, end);
  }

  /** Time has passed: with all well for long enough, these nodes use what is not due. */
  passed(nodes: readonly CertificateUser[]): void {
    const now = this.#now();
    if (now - this.#unwellAt < WELL_MS) return;
    this.#counts['looked at in peace']++;
    for (const { number, bornAt } of nodes) {
      const left = (this.#inUse.get(number) ?? 0) - this.#epoch - now;
      if (now - bornAt > LATE_MS && left < DUE_LEFT_MS - LATE_MS)
        this.#breaks(`all is well, and what ${number} uses lasts ${left} ms`);
    }
  }

  /** What happened in all. */
  figures() {
    return { ...this.#counts };
  }

  #breaks(what: string): void {
    this.broken ??= new InvariantBroken(`${what} (at ${this.#now()} ms)`);
  }
}

function endOf(certificate: string): number {
  return Date.parse(new X509Certificate(certificate).validTo);
}
