import type { Clock } from '../lib/clock.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { OwnCertificate } from './own-certificate.ts';
import { expiryOf, namesOfFiles, pairReader } from './pair.ts';
import type { CertificateOptions, CertificateOrigin, LoadedPair, PairSource } from './pair-source.ts';
import type { KeyAndCertificate } from './self-signed.ts';

/** The key and certificate of every TLS listener, kept up to date. */
export interface Certificate {
  readonly current: KeyAndCertificate;
  /** `file`: `tls.cert_file`; the others are ours. */
  readonly origin: CertificateOrigin;
  /** Wall ms. */
  readonly expiresAt: number;
  /** Is told of every new pair, until the returned function is called. */
  onChange(listener: (pair: KeyAndCertificate) => void): () => void;
  /** Looks for a new one now: SIGHUP. One that is no good is logged, and the present one stays. */
  reload(): Promise<void>;
  /** Keeps a pair that was checked in the place of the present one. Only where no file is configured. */
  upload(pair: KeyAndCertificate): Promise<void>;
  /** Makes a new self-signed one, and forgets an uploaded one. Only where no file is configured. */
  renew(): Promise<void>;
  /** Stops looking. */
  stop(): void;
}

/** How often files are looked at, and the self-signed certificate's age. */
const CHECK_MS = 2_000;

/** Reads or makes the certificate and begins to watch it. Throws {@link CertificateError}. */
export async function loadCertificate(options: CertificateOptions): Promise<Certificate> {
  const { files } = options;
  const source = files === null ? new OwnCertificate(options) : fileSource(files);
  return new WatchedCertificate(source, await source.read(), options);
}

function fileSource({
  certFile,
  keyFile,
}: {
  readonly certFile: string;
  readonly keyFile: string;
}): PairSource {
  const read = pairReader(certFile, keyFile, namesOfFiles(certFile, keyFile));
  const refuse = () => Promise.reject(new Error('the certificate is that of tls.cert_file'));
  return { read: async () => ({ pair: await read(), origin: 'file' }), upload: refuse, renew: refuse };
}

class WatchedCertificate implements Certificate {
  readonly #source: PairSource;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #listeners = new Set<(pair: KeyAndCertificate) => void>();
  readonly #stop = new AbortController();
  readonly #certFile: string | null;
  #current: LoadedPair;
  #expiresAt: number;
  #complaint = '';

  constructor(source: PairSource, first: LoadedPair, options: CertificateOptions) {
    this.#source = source;
    this.#log = options.log;
    this.#certFile = options.files?.certFile ?? null;
    this.#current = first;
    this.#expiresAt = expiryOf(first.pair);
    this.#clock = options.clock;
    this.#warnIfExpired();
    void this.#watch();
  }

  get current(): KeyAndCertificate {
    return this.#current.pair;
  }

  get origin(): CertificateOrigin {
    return this.#current.origin;
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
      const loaded = await this.#source.read();
      this.#complaint = '';
      const { cert, key } = this.current;
      if (loaded.pair.cert !== cert || loaded.pair.key !== key) this.#use(loaded);
    } catch (error) {
      this.#complain(error instanceof Error ? error.message : String(error));
    }
  }

  async upload(pair: KeyAndCertificate): Promise<void> {
    await this.#source.upload(pair);
    await this.reload();
  }

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
    this.#expiresAt = expiryOf(loaded.pair);
    this.#log.info('certificate.changed', { expiresAt: formatTimestamp(this.#expiresAt) });
    this.#warnIfExpired();
    for (const listener of this.#listeners) listener(loaded.pair);
  }

  /** It is used all the same: some clients do not look, and no certificate helps nobody. */
  #warnIfExpired(): void {
    if (this.#expiresAt > this.#clock.wall()) return;
    const name = this.#certFile === null ? 'tls.cert_file' : `tls.cert_file (${this.#certFile})`;
    const message = `${name}: the certificate ended at ${formatTimestamp(this.#expiresAt)}; clients will refuse it`;
    this.#log.warn('certificate.expired', { message });
  }

  /** Says it once, not every time the same fault is found. */
  #complain(message: string): void {
    if (message !== this.#complaint) this.#log.warn('certificate.not_reloaded', { message });
    this.#complaint = message;
  }
}
