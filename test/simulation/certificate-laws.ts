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
/** Whatever an authority advises, so much of a certificate's life is left when it is renewed. */
const SPARE_LEFT_MS = LIFE_MS / 20;
/** How long advice is believed where the authority does not say, and at most and at least where it does. */
const USUAL_ADVICE_MS = 6 * HOUR;
const LONGEST_ADVICE_MS = 24 * HOUR;
const SHORTEST_ADVICE_MS = MINUTE;
/** For so long after a disturbance somebody may still do what was right before it. */
const OUTDATED_MS = HOUR;

/** When an authority wants a certificate to be renewed (RFC 9773), wall ms. */
export interface Suggestion {
  readonly start: number;
  readonly end: number;
}

/** What an authority has issued, and in place of which other certificate. */
export interface IssuedByAuthority {
  readonly certificate: string;
  readonly id: string;
  readonly isFit: boolean;
  readonly replaces: string | null;
}

/** What is known of the certificate that is stored. */
interface Stored {
  readonly certificate: string;
  readonly id: string;
  /** World ms. */
  readonly at: number;
  /** Wall ms. */
  readonly end: number;
  /** What was stored of the authority's advice for it, in this order. */
  readonly advice: Advice[];
}

/** What the authority said of a certificate, and how long that is believed; world ms. */
interface Advice {
  readonly window: Suggestion;
  readonly at: number;
  readonly forMs: number;
}

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
  /** What the authority issued as it was asked to: PEM, and by which id. */
  readonly #fit = new Map<string, string>();
  /** What a node uses: PEM. */
  readonly #inUse = new Map<number, string>();
  #stored: Stored | null = null;
  /** The authority says when to renew. */
  #advises = false;
  /** What it said last, and of which certificate. */
  #told: (Advice & { readonly id: string }) | null = null;
  /** The ids of certificates that others were issued for instead. */
  readonly #replaced = new Set<string>();
  /** Who orders, and since when. */
  #ordering: { readonly node: number; readonly since: number } | null = null;
  /** Orders in a row of which no certificate was stored, since the last disturbance. */
  #inVain = { count: 0, lastAt: 0 };
  #restsUntil = 0;
  #unwellAt = 0;
  #disturbedAt = Number.NEGATIVE_INFINITY;
  #clocksSetAt = Number.NEGATIVE_INFINITY;
  readonly #counts = {
    orders: 0,
    issued: 0,
    'issued wrongly': 0,
    stored: 0,
    refused: 0,
    'asked when to renew': 0,
    'advice stored': 0,
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
    this.#disturbedAt = this.#now();
    this.#inVain = { count: 0, lastAt: 0 };
    this.#restsUntil = 0;
  }

  /** All clocks are set. */
  clocksSet(): void {
    this.#clocksSetAt = this.#now();
    this.disturbed();
  }

  /** The authority says when to renew what it issues. */
  advises(): void {
    this.#advises = true;
  }

  /** It says so of the certificate with this id, and when to ask again, if it does: in so many ms. */
  tells(id: string, window: Suggestion, askAgainMs: number | null): void {
    this.#counts['asked when to renew']++;
    const at = this.#now();
    const last = this.#stored?.id === id ? this.#stored.advice.at(-1) : undefined;
    const earlyMs = last === undefined || this.#clocksSetAt > last.at ? 0 : last.at + last.forMs - at;
    if (earlyMs > MINUTE / 2 && !this.#isOutdated)
      this.#breaks(`somebody asks when to renew ${earlyMs} ms too early`);
    const forMs = Math.min(Math.max(askAgainMs ?? USUAL_ADVICE_MS, SHORTEST_ADVICE_MS), LONGEST_ADVICE_MS);
    this.#told = { id, window, at, forMs };
  }

  /** What is stored of the renewal has this window. */
  advised({ start, end }: Suggestion): void {
    const [stored, told] = [this.#stored, this.#told];
    if (stored === null || told === null || stored.id !== told.id) return;
    // What became of an order is stored together with the former advice.
    if (stored.advice.at(-1)?.at === told.at) return;
    if (told.window.start !== start || told.window.end !== end) return;
    this.#counts['advice stored']++;
    stored.advice.push(told);
  }

  /** A node asks the authority for an order, in place of the certificate with an id; null: it names none. */
  asksForOrder(node: number, replaces: string | null): void {
    const now = this.#now();
    this.#counts.orders++;
    if (this.#stored !== null) this.#isDue(node, this.#stored);
    const present = this.#advises ? (this.#stored?.id ?? null) : null;
    const isNamed = replaces === present || (replaces === null && this.#replaced.has(present ?? ''));
    if (!isNamed && !this.#isOutdated)
      this.#breaks(`${node} orders in place of ${replaces}, and ${present} is stored`);
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

  #isDue(node: number, { end, advice }: Stored): void {
    const now = this.#epoch + this.#now();
    const left = end - now;
    if (advice.length === 0 && left > DUE_LEFT_MS + WRONG_MS + HOUR)
      this.#breaks(`${node} orders, and what is stored lasts ${left} ms`);
    const early = Math.min(...advice.map(({ window }) => window.start)) - now;
    const isEarly = advice.length > 0 && early > WRONG_MS + MINUTE && left > SPARE_LEFT_MS + WRONG_MS + HOUR;
    if (isEarly && !this.#isOutdated)
      this.#breaks(`${node} orders ${early} ms before the authority wants it`);
  }

  /** Whether somebody may still do what was right before something went wrong. */
  get #isOutdated(): boolean {
    return this.#now() - this.#disturbedAt < OUTDATED_MS;
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

  /** The authority has issued a certificate; not `isFit`: for another key or name than it was asked to. */
  issued({ certificate, id, isFit, replaces }: IssuedByAuthority): void {
    this.#counts[isFit ? 'issued' : 'issued wrongly']++;
    if (isFit) this.#fit.set(certificate, id);
    if (replaces !== null) this.#replaced.add(replaces);
  }

  /** It was stored for all nodes. */
  stored(certificate: string): void {
    this.#counts.stored++;
    const id = this.#fit.get(certificate);
    if (id === undefined) this.#breaks('a certificate is stored that was not asked for');
    this.#stored = { certificate, id: id ?? '', at: this.#now(), end: endOf(certificate), advice: [] };
    this.#inVain = { count: 0, lastAt: 0 };
  }

  /** A node uses this pair from now on; null: none. */
  uses(node: number, pair: KeyAndCertificate | null): void {
    const before = this.#inUse.get(node);
    if (pair === null) {
      this.#breaks(`${node} uses no certificate any more`);
      return;
    }
    if (!this.#fit.has(pair.cert)) this.#breaks(`${node} uses a certificate that was not asked for`);
    if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)))
      this.#breaks(`${node} uses a key that is another certificate's`);
    if (before !== undefined && endOf(pair.cert) < endOf(before))
      this.#breaks(`${node} uses an older certificate again`);
    this.#inUse.set(node, pair.cert);
  }

  /** Time has passed: with all well for long enough, nothing is due, and these nodes use what is stored. */
  passed(nodes: readonly CertificateUser[]): void {
    const now = this.#now();
    if (now - this.#unwellAt < WELL_MS) return;
    this.#counts['looked at in peace']++;
    const stored = this.#stored;
    if (stored === null) {
      this.#breaks('all is well, and nothing is stored');
      return;
    }
    this.#isRenewed(stored);
    if (now - stored.at <= LATE_MS) return;
    for (const { number, bornAt } of nodes)
      if (now - bornAt > LATE_MS && this.#inUse.get(number) !== stored.certificate)
        this.#breaks(`all is well, and ${number} does not use what is stored`);
  }

  #isRenewed({ at, end, advice }: Stored): void {
    const now = this.#now();
    const last = advice.at(-1);
    const dueAt = last === undefined ? end - DUE_LEFT_MS : Math.min(last.window.end, end - SPARE_LEFT_MS);
    const lateMs = Math.min(this.#epoch + now - dueAt, now - (last?.at ?? at));
    if (lateMs > LATE_MS) this.#breaks(`all is well, and what is stored was due ${lateMs} ms ago`);
    // Who got no answer waits as long as who got one that does not say.
    const askMs = (last?.forMs ?? 0) + USUAL_ADVICE_MS + 2 * WRONG_MS + LATE_MS;
    if (this.#advises && now - Math.max(last?.at ?? at, this.#unwellAt) > askMs)
      this.#breaks('all is well, and nobody asks when to renew');
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
