import { X509Certificate } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
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

/** A certificate that cannot be used. The message names the setting or file, and says why. */
class CertificateError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CertificateError';
  }
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
  const load =
    files === null ? () => loadSelfSigned(options) : () => loadFiles(files.certFile, files.keyFile);
  return new WatchedCertificate(load, await load(), options);
}

class WatchedCertificate implements Certificate {
  readonly #load: () => Promise<KeyAndCertificate>;
  readonly #log: Log;
  readonly #listeners = new Set<(pair: KeyAndCertificate) => void>();
  readonly #stop = new AbortController();
  #current: KeyAndCertificate;
  #expiresAt: number;
  #complaint = '';

  constructor(load: () => Promise<KeyAndCertificate>, first: KeyAndCertificate, options: CertificateOptions) {
    this.#load = load;
    this.#log = options.log;
    this.#current = first;
    this.#expiresAt = expiryOf(first);
    void this.#watch(options.clock);
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

  async #watch(clock: Clock): Promise<void> {
    const { signal } = this.#stop;
    for (;;) {
      await clock.sleep(CHECK_MS, signal);
      if (signal.aborted) return;
      await this.reload();
    }
  }

  #use(pair: KeyAndCertificate): void {
    this.#current = pair;
    this.#expiresAt = expiryOf(pair);
    this.#log.info('certificate.changed', { expiresAt: formatTimestamp(this.#expiresAt) });
    for (const listener of this.#listeners) listener(pair);
  }

  /** Says it once, not every time the same fault is found. */
  #complain(message: string): void {
    if (message !== this.#complaint) this.#log.warn('certificate.not_reloaded', { message });
    this.#complaint = message;
  }
}

async function loadFiles(certFile: string, keyFile: string): Promise<KeyAndCertificate> {
  const pair = {
    cert: await readPem(certFile, 'tls.cert_file'),
    key: await readPem(keyFile, 'tls.key_file'),
  };
  const fault = faultOf(pair);
  if (fault !== null) throw new CertificateError(`tls.cert_file, tls.key_file: ${fault}`);
  return pair;
}

async function readPem(path: string, setting: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown';
    throw new CertificateError(`${setting}: ${path} cannot be read (${code})`, { cause: error });
  }
}

/** The stored self-signed certificate while it is good, else a new one. */
async function loadSelfSigned(options: CertificateOptions): Promise<KeyAndCertificate> {
  const certFile = join(options.directory, 'tls.crt');
  const keyFile = join(options.directory, 'tls.key');
  const hosts = ownHosts(options.hostname);
  const now = options.clock.wall();
  const stored = await loadFiles(certFile, keyFile).catch(() => null);
  if (stored !== null && isGoodFor(stored, hosts[0], now)) return stored;
  const notBefore = now - BACKDATE_MS;
  const pair = createSelfSigned({ hosts, notBefore, notAfter: notBefore + VALID_MS, random: options.random });
  await replaceFile(keyFile, pair.key);
  await replaceFile(certFile, pair.cert);
  return pair;
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

/** What is wrong with a pair; null when TLS can use it. */
function faultOf(pair: KeyAndCertificate): string | null {
  try {
    new X509Certificate(pair.cert);
  } catch {
    return 'the certificate is not in PEM form';
  }
  try {
    createSecureContext(pair);
    return null;
  } catch {
    return 'the key is not a private key in PEM form, or not the one of the certificate';
  }
}

function expiryOf(pair: KeyAndCertificate): number {
  return new X509Certificate(pair.cert).validToDate.getTime();
}

/** Replaces a file in one step, readable by its owner only. */
async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
