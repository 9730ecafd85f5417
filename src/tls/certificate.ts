import { X509Certificate } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { expiryOf, type PairReader, pairReader } from './pair.ts';
import { createSelfSigned, type KeyAndCertificate } from './self-signed.ts';

/** Where the certificate comes from. */
export interface CertificateOptions {
  /** `tls.cert_file` and `tls.key_file`; null for a self-signed certificate kept in `directory`. */
  readonly files: { readonly certFile: string; readonly keyFile: string } | null;
  /** The data directory. */
  readonly directory: string;
  /** `server.hostname`. */
  readonly hostname: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The key and certificate of every TLS listener, kept up to date. */
export interface Certificate {
  readonly current: KeyAndCertificate;
  /** Wall ms. */
  readonly expiresAt: number;
  /** Is told of every new pair, until the returned function is called. */
  onChange(listener: (pair: KeyAndCertificate) => void): () => void;
  /** Looks for a new one now: SIGHUP. One that is no good is logged, and the present one stays. */
  reload(): Promise<void>;
  /** Stops looking. */
  stop(): void;
}

/** How often files are looked at, and the self-signed certificate's age. */
const CHECK_MS = 2_000;
const DAY_MS = 86_400_000;
/** The longest that browsers take is 398 days. */
const VALID_MS = 397 * DAY_MS;
/** A self-signed certificate is replaced when this much of its life is left. */
const RENEW_MS = 30 * DAY_MS;
/** Machines of strangers may be a little behind. */
const BACKDATE_MS = DAY_MS;
const MAX_ADDRESSES = 64;
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** Reads or makes the certificate and begins to watch it. Throws {@link CertificateError}. */
export async function loadCertificate(options: CertificateOptions): Promise<Certificate> {
  const { files } = options;
  const load = files === null ? selfSignedReader(options) : pairReader(files.certFile, files.keyFile);
  return new WatchedCertificate(load, await load(), options);
}

class WatchedCertificate implements Certificate {
  readonly #load: PairReader;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #listeners = new Set<(pair: KeyAndCertificate) => void>();
  readonly #stop = new AbortController();
  #current: KeyAndCertificate;
  #expiresAt: number;
  #complaint = '';

  constructor(load: PairReader, first: KeyAndCertificate, options: CertificateOptions) {
    this.#load = load;
    this.#log = options.log;
    this.#current = first;
    this.#expiresAt = expiryOf(first);
    this.#clock = options.clock;
    this.#warnIfExpired();
    void this.#watch();
  }

  get current(): KeyAndCertificate {
    return this.#current;
  }

  get expiresAt(): number {
    return this.#expiresAt;
  }

  onChange(listener: (pair: KeyAndCertificate) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stop(): void {
    this.#stop.abort();
  }

  async reload(): Promise<void> {
    try {
      const pair = await this.#load();
      this.#complaint = '';
      if (pair.cert !== this.#current.cert || pair.key !== this.#current.key) this.#use(pair);
    } catch (error) {
      this.#complain(error instanceof Error ? error.message : String(error));
    }
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    for (;;) {
      await this.#clock.sleep(CHECK_MS, signal);
      if (signal.aborted) return;
      await this.reload();
    }
  }

  #use(pair: KeyAndCertificate): void {
    this.#current = pair;
    this.#expiresAt = expiryOf(pair);
    this.#log.info('certificate.changed', { expiresAt: formatTimestamp(this.#expiresAt) });
    this.#warnIfExpired();
    for (const listener of this.#listeners) listener(pair);
  }

  /** It is used all the same: some clients do not look, and no certificate helps nobody. */
  #warnIfExpired(): void {
    if (this.#expiresAt > this.#clock.wall()) return;
    const message = `tls.cert_file: the certificate ended at ${formatTimestamp(this.#expiresAt)}; clients will refuse it`;
    this.#log.warn('certificate.expired', { message });
  }

  /** Says it once, not every time the same fault is found. */
  #complain(message: string): void {
    if (message !== this.#complaint) this.#log.warn('certificate.not_reloaded', { message });
    this.#complaint = message;
  }
}

/** Gives the stored self-signed certificate while it is good, else a new one. */
function selfSignedReader({ directory, hostname, clock, random }: CertificateOptions): PairReader {
  const certFile = join(directory, 'tls.crt');
  const keyFile = join(directory, 'tls.key');
  const readStored = pairReader(certFile, keyFile);
  return async () => {
    const hosts = ownHosts(hostname);
    const now = clock.wall();
    const stored = await readStored().catch(() => null);
    if (stored !== null && isGoodFor(stored, hosts[0], now)) return stored;
    const notBefore = now - BACKDATE_MS;
    const pair = createSelfSigned({ hosts, notBefore, notAfter: notBefore + VALID_MS, random });
    await replaceFile(keyFile, pair.key);
    await replaceFile(certFile, pair.cert);
    return pair;
  };
}

function isGoodFor(pair: KeyAndCertificate, host: string, now: number): boolean {
  const certificate = new X509Certificate(pair.cert);
  const named = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  const { validFromDate, validToDate } = certificate;
  return named !== undefined && validFromDate.getTime() <= now && validToDate.getTime() - now > RENEW_MS;
}

/** Names and addresses this machine can be reached by. */
function ownHosts(hostname: string): [string, ...string[]] {
  const name = DNS_NAME.test(hostname) || isIP(hostname) > 0 ? hostname : 'localhost';
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .map(({ address }) => address.replace(/%.*$/, ''))
    .slice(0, MAX_ADDRESSES);
  const others = new Set(['localhost', '127.0.0.1', '::1', ...addresses]);
  others.delete(name);
  return [name, ...others];
}

/** Replaces a file in one step, readable by its owner only. */
async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
