import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { KeyAndCertificate } from './self-signed.ts';

/** Where the certificate comes from. */
export interface CertificateOptions {
  /** `tls.cert_file` and `tls.key_file`; null for an uploaded or self-signed certificate kept in `directory`. */
  readonly files: { readonly certFile: string; readonly keyFile: string } | null;
  /** The data directory. */
  readonly directory: string;
  /** `server.hostname`. */
  readonly hostname: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Where a certificate came from. */
export type CertificateOrigin = 'self-signed' | 'uploaded' | 'file';

/** A pair and where it came from. */
export interface LoadedPair {
  readonly pair: KeyAndCertificate;
  readonly origin: CertificateOrigin;
}

/** What gives the pair that is to be used, as often as it is asked. */
export interface PairSource {
  /** Rejects where there is none that can be used. */
  read(): Promise<LoadedPair>;
  /** See `Certificate.upload`. */
  upload(pair: KeyAndCertificate): Promise<void>;
  /** See `Certificate.renew`. */
  renew(): Promise<void>;
}
