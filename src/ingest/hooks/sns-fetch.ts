import { type KeyObject, X509Certificate } from 'node:crypto';
import { type Clock, within } from '../../lib/clock.ts';
import { getByHttps, type HttpsAnswer, type HttpsGet } from '../../lib/https-get.ts';
import { NewestMap } from '../../lib/newest-map.ts';
import { Flights } from '../../lib/stop.ts';

/** What is fetched from Amazon SNS: the certificates of its signatures, and the confirmation of a subscription. */

/** One GET of a URL of SNS: verified TLS, no redirect, status 200, at most {@link MAX_BYTES}. Never rejects. */
export type SnsGet = (url: URL, signal: AbortSignal) => Promise<HttpsAnswer>;

/** What fetching needs. */
export interface SnsFetchParts {
  readonly get: SnsGet;
  readonly clock: Clock;
}

/** The key of a certificate; `bad`: it may not be used now; `unavailable`: it cannot be told. */
export type FoundKey =
  | { readonly kind: 'key'; readonly key: KeyObject }
  | { readonly kind: 'bad'; readonly why: string }
  | { readonly kind: 'unavailable'; readonly why: string };

/** Of an answer: a certificate has some 2 KiB. */
const MAX_BYTES = 65_536;
const FETCH_MS = 10_000;
const KEPT_MS = 86_400_000;
/** Each region has one certificate at a time. */
const MAX_KEPT = 64;
/** Different certificates that are fetched at the same time. */
const MAX_FETCHES = 4;
const MIN_KEY_BITS = 2048;
const MAX_KEY_BITS = 8192;
const NOBODY_ENDS_IT = new AbortController().signal;

/** Fetches from SNS itself, or, for tests, from a server elsewhere that shows a certificate for its name. */
export function createSnsGet(elsewhere: Pick<HttpsGet, 'address' | 'port' | 'ca'> = {}): SnsGet {
  return (url, signal) =>
    getByHttps({
      ...elsewhere,
      host: url.hostname,
      path: `${url.pathname}${url.search}`,
      accept: '*/*',
      maxBytes: MAX_BYTES,
      flawOf: ({ status }) => (status === 200 ? null : `answers with status ${status}`),
      signal,
    });
}

/** A certificate that was fetched. */
interface Kept {
  readonly key: KeyObject;
  /** Wall ms. */
  readonly validFrom: number;
  readonly validTo: number;
  /** Monotonic ms. */
  readonly fetchedAt: number;
}

type Fetched = Kept | string;

/** The certificates of SNS, each kept for a day. */
export class SnsCertificates {
  readonly #parts: SnsFetchParts;
  readonly #kept = new NewestMap<string, Kept>(MAX_KEPT);
  readonly #flights = new Flights<Fetched>();

  constructor(parts: SnsFetchParts) {
    this.#parts = parts;
  }

  /** The key of the certificate at a URL, which must be of SNS; `now` in wall ms. Never rejects. */
  async find(url: URL, now: number): Promise<FoundKey> {
    const found = this.#fresh(url.href) ?? (await this.#fetch(url));
    if (typeof found === 'string') return { kind: 'unavailable', why: found };
    const { key, validFrom, validTo } = found;
    if (now < validFrom || now > validTo) return { kind: 'bad', why: 'the certificate is not valid now' };
    return { kind: 'key', key };
  }

  #fresh(href: string): Kept | null {
    const kept = this.#kept.get(href);
    return kept !== undefined && this.#parts.clock.mono() - kept.fetchedAt < KEPT_MS ? kept : null;
  }

  /** The certificate, or why there is none. */
  async #fetch(url: URL): Promise<Fetched> {
    const { get, clock } = this.#parts;
    if (this.#flights.size >= MAX_FETCHES && !this.#flights.has(url.href))
      return 'too many certificates are fetched at the same time';
    const fetched = await this.#flights.join(url.href, NOBODY_ENDS_IT, async (signal) => {
      const answer = await within(clock, FETCH_MS, signal, (limit) => get(url, limit));
      const read = answer.kind === 'answer' ? this.#read(answer.body) : answer.text;
      if (typeof read !== 'string') this.#kept.set(url.href, read);
      return read;
    });
    return fetched ?? 'it was not waited for';
  }

  #read(body: Buffer): Fetched {
    const certificate = parseCertificate(body);
    if (certificate === null) return 'there is no certificate with an RSA key of a usual size';
    return { ...certificate, fetchedAt: this.#parts.clock.mono() };
  }
}

function parseCertificate(body: Buffer): Omit<Kept, 'fetchedAt'> | null {
  try {
    const { publicKey: key, validFromDate, validToDate } = new X509Certificate(body);
    const bits = key.asymmetricKeyType === 'rsa' ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : 0;
    if (bits < MIN_KEY_BITS || bits > MAX_KEY_BITS) return null;
    return { key, validFrom: validFromDate.getTime(), validTo: validToDate.getTime() };
  } catch {
    return null;
  }
}

/** Confirms a subscription, by one GET: in the background, after the answer. Never rejects. */
export function confirmSubscription(url: URL, { get, clock }: SnsFetchParts): Promise<HttpsAnswer> {
  return within(clock, FETCH_MS, NOBODY_ENDS_IT, (limit) => get(url, limit));
}
