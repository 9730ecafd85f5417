import { X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { CertificateLife } from '../domain/certificate.ts';
import { type Clock, formatTimestamp } from '../lib/clock.ts';
import { errorCode } from '../lib/error.ts';
import { replaceFile } from '../lib/files.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { lifeOf, namesOfFiles, type PairReader, pairReader } from './pair.ts';
import { createSelfSigned, type KeyAndCertificate } from './self-signed.ts';

/** How often the files, and the self-signed certificate's age, are checked. */
const CHECK_MS = 2_000;

/** Reads or makes the certificate and starts to watch it. Throws {@link CertificateError}. */
export async function loadCertificate(options: CertificateOptions): Promise<Certificate> {
  const { files } = options;
  const source = files === null ? new OwnCertificate(options) : fileSource(files);
  return new Certificate(source, await source.read(), options);
}

function fileSource({
  certFile,
  keyFile,
}: {
  readonly certFile: string;
  readonly keyFile: string;
}): PairSource {
  const read = pairReader(certFile, keyFile, namesOfFiles(certFile, keyFile));
  const refuse = () => Promise.reject(new Error('the certificate comes from tls.cert_file'));
  return { read: async () => ({ pair: await read(), origin: 'file' }), upload: refuse, renew: refuse };
}

/** The key and certificate of every TLS listener, kept up to date. */
export class Certificate {
  readonly #source: PairSource;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #listeners = new Set<(pair: KeyAndCertificate) => void>();
  readonly #stop = new AbortController();
  readonly #certFile: string | null;
  #current: LoadedPair;
  #life: CertificateLife;
  #complaint = '';

  constructor(source: PairSource, first: LoadedPair, options: CertificateOptions) {
    this.#source = source;
    this.#log = options.log;
    this.#certFile = options.files?.certFile ?? null;
    this.#current = first;
    this.#life = lifeOf(first.pair);
    this.#clock = options.clock;
    this.#warnIfExpired();
    void this.#watch();
  }

  get current(): KeyAndCertificate {
    return this.#current.pair;
  }

  /** `file`: `tls.cert_file`; the others are ours. */
  get origin(): CertificateOrigin {
    return this.#current.origin;
  }

  /** Wall ms. */
  get expiresAt(): number {
    return this.#life.notAfter;
  }

  get life(): CertificateLife {
    return this.#life;
  }

  /** Calls the listener with every new pair, until the returned function is called. */
  onChange(listener: (pair: KeyAndCertificate) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stops watching. */
  stop(): void {
    this.#stop.abort();
  }

  /** Checks for a new one now: SIGHUP. An invalid one is logged, and the present one stays. */
  async reload(): Promise<void> {
    try {
      const loaded = await this.#source.read();
      this.#complaint = '';
      const { cert, key } = this.current;
      if (loaded.pair.cert !== cert || loaded.pair.key !== key) this.#use(loaded);
      else if (loaded.origin !== this.#current.origin) this.#current = loaded;
    } catch (error) {
      this.#complain(error instanceof Error ? error.message : String(error));
    }
  }

  /** Stores a checked pair in place of the present one. Only if no file is configured. */
  async upload(pair: KeyAndCertificate): Promise<void> {
    await this.#source.upload(pair);
    await this.reload();
  }

  /** Makes a new self-signed one, and removes an uploaded one. Only if no file is configured. */
  async renew(): Promise<void> {
    await this.#source.renew();
    await this.reload();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    for (;;) {
      await this.#clock.sleep(CHECK_MS, signal);
      if (signal.aborted) return;
      await this.reload();
    }
  }

  #use(loaded: LoadedPair): void {
    this.#current = loaded;
    this.#life = lifeOf(loaded.pair);
    this.#log.info('certificate.changed', { expiresAt: formatTimestamp(this.expiresAt) });
    this.#warnIfExpired();
    for (const listener of this.#listeners) listener(loaded.pair);
  }

  /** It is used all the same: some clients do not check, and having no certificate helps nobody. */
  #warnIfExpired(): void {
    if (this.expiresAt > this.#clock.wall()) return;
    const name = this.#certFile === null ? 'tls.cert_file' : `tls.cert_file (${this.#certFile})`;
    const message = `${name}: the certificate expired at ${formatTimestamp(this.expiresAt)}; clients will refuse it`;
    this.#log.warn('certificate.expired', { message });
  }

  /** Logs a fault once, not every time it is found. */
  #complain(message: string): void {
    if (message !== this.#complaint) this.#log.warn('certificate.not_reloaded', { message });
    this.#complaint = message;
  }
}

/** The source of the certificate. */
export interface CertificateOptions {
  /** `tls.cert_file` and `tls.key_file`; null for an uploaded or self-signed certificate kept in `directory`. */
  readonly files: { readonly certFile: string; readonly keyFile: string } | null;
  /** The data directory. */
  readonly directory: string;
  /** `server.hostname`. */
  readonly hostname: string;
  /** The certificate that an authority issued, used where none was uploaded; null: there is none. Absent: never. */
  readonly issued?: () => KeyAndCertificate | null;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Where a certificate came from. */
export type CertificateOrigin = 'self-signed' | 'acme' | 'uploaded' | 'file';

/** A pair and where it came from. */
export interface LoadedPair {
  readonly pair: KeyAndCertificate;
  readonly origin: CertificateOrigin;
}

/** Returns the pair to use, whenever it is asked. */
export interface PairSource {
  /** Rejects if there is no usable one. */
  read(): Promise<LoadedPair>;
  /** See `Certificate.upload`. */
  upload(pair: KeyAndCertificate): Promise<void>;
  /** See `Certificate.renew`. */
  renew(): Promise<void>;
}

/** The files in the data directory of an uploaded certificate, with its key, and of the self-signed one. */
export const UPLOADED_FILE = 'tls-uploaded.pem';
export const SELF_SIGNED_FILE = 'tls.crt';
const DAY_MS = 86_400_000;
/** Browsers accept at most 398 days. */
const VALID_MS = 397 * DAY_MS;
/** A self-signed certificate is replaced when this much of its life is left. */
const RENEW_MS = 30 * DAY_MS;
/** Clients' clocks may be a little behind. */
const BACKDATE_MS = DAY_MS;
const MAX_ADDRESSES = 64;
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

type OwnOptions = Omit<CertificateOptions, 'files'>;

/**
 * The certificate in the data directory: an uploaded one, else one that an authority issued, else a self-signed one,
 * which is renewed before it expires.
 * An uploaded pair is one file, so that it is replaced in one step.
 */
class OwnCertificate implements PairSource {
  readonly #options: OwnOptions;
  readonly #uploadedFile: string;
  readonly #certFile: string;
  readonly #keyFile: string;
  readonly #readUploaded: PairReader;
  readonly #readSelfSigned: PairReader;
  #complaint = '';

  constructor(options: OwnOptions) {
    this.#options = options;
    const { directory } = options;
    this.#uploadedFile = join(directory, UPLOADED_FILE);
    this.#certFile = join(directory, SELF_SIGNED_FILE);
    this.#keyFile = join(directory, 'tls.key');
    this.#readUploaded = pairReader(this.#uploadedFile, this.#uploadedFile);
    this.#readSelfSigned = pairReader(this.#certFile, this.#keyFile);
  }

  async read(): Promise<LoadedPair> {
    const uploaded = await this.#readUploaded().catch((error: Error) => {
      if (!isMissing(error)) this.#complain(error.message, this.#options.log);
      return null;
    });
    if (uploaded !== null) return { pair: uploaded, origin: 'uploaded' };
    const issued = this.#options.issued?.() ?? null;
    if (issued !== null) return { pair: issued, origin: 'acme' };
    const hosts = ownHosts(this.#options.hostname);
    const stored = await this.#readSelfSigned().catch(() => null);
    if (stored !== null && isGoodFor(stored, hosts[0], this.#options.clock.wall()))
      return { pair: stored, origin: 'self-signed' };
    return { pair: await this.#makeSelfSigned(hosts), origin: 'self-signed' };
  }

  async upload({ key, cert }: KeyAndCertificate): Promise<void> {
    replaceFile(this.#uploadedFile, `${key.trim()}\n${cert.trim()}\n`);
  }

  async renew(): Promise<void> {
    await this.#makeSelfSigned(ownHosts(this.#options.hostname));
    await rm(this.#uploadedFile, { force: true });
  }

  async #makeSelfSigned(hosts: readonly [string, ...string[]]): Promise<KeyAndCertificate> {
    const { clock, random } = this.#options;
    const notBefore = clock.wall() - BACKDATE_MS;
    const pair = createSelfSigned({ hosts, notBefore, notAfter: notBefore + VALID_MS, random });
    replaceFile(this.#keyFile, pair.key);
    replaceFile(this.#certFile, pair.cert);
    return pair;
  }

  /** Logs a fault once; the self-signed certificate is used meanwhile. */
  #complain(message: string, log: Log): void {
    if (message !== this.#complaint) log.warn('certificate.upload_unusable', { message });
    this.#complaint = message;
  }
}

function isMissing({ cause }: Error): boolean {
  return errorCode(cause) === 'ENOENT';
}

function isGoodFor(pair: KeyAndCertificate, host: string, now: number): boolean {
  const certificate = new X509Certificate(pair.cert);
  const named = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  const { validFromDate, validToDate } = certificate;
  return named !== undefined && validFromDate.getTime() <= now && validToDate.getTime() - now > RENEW_MS;
}

/** Names and addresses by which this machine can be reached. */
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
