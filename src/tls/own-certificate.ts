import { X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from '../lib/files.ts';
import type { Log } from '../lib/log.ts';
import { type PairReader, pairReader } from './pair.ts';
import type { CertificateOptions, LoadedPair, PairSource } from './pair-source.ts';
import { createSelfSigned, type KeyAndCertificate } from './self-signed.ts';

/** Where an uploaded certificate lies in the data directory, with its key, and where the one that is made. */
export const UPLOADED_FILE = 'tls-uploaded.pem';
export const SELF_SIGNED_FILE = 'tls.crt';
const DAY_MS = 86_400_000;
/** The longest that browsers take is 398 days. */
const VALID_MS = 397 * DAY_MS;
/** A self-signed certificate is replaced when this much of its life is left. */
const RENEW_MS = 30 * DAY_MS;
/** Machines of strangers may be a little behind. */
const BACKDATE_MS = DAY_MS;
const MAX_ADDRESSES = 64;
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

type OwnOptions = Omit<CertificateOptions, 'files'>;

/**
 * The certificate that is kept in the data directory: one that was uploaded, else a self-signed one, which is made anew
 * before it ends. An uploaded pair lies in one file, so that it is replaced in one step.
 */
export class OwnCertificate implements PairSource {
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

  /** Says it once; the self-signed certificate is used meanwhile. */
  #complain(message: string, log: Log): void {
    if (message !== this.#complaint) log.warn('certificate.upload_unusable', { message });
    this.#complaint = message;
  }
}

function isMissing({ cause }: Error): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
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
