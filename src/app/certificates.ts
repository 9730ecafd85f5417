import { Connection } from '../acme/https.ts';
import { CertificateKeeper, type IssuingTerms } from '../acme/keeper.ts';
import { serverName } from '../config/names.ts';
import { isShortAndWell } from '../domain/certificate.ts';
import { Problem } from '../http/problem.ts';
import { createHttpServer, type HttpLimits, type HttpServer } from '../http/server.ts';
import { type Certificate, loadCertificate } from '../tls/certificate.ts';
import { ChallengeDesk } from '../tls/challenge-desk.ts';
import type { ListenerParts } from './listener-parts.ts';
import type { LiveConfig } from './live-config.ts';
import { bindPort } from './ports.ts';

/** The certificate in use, and what keeps it. */
export interface KeptCertificate {
  readonly certificate: Certificate;
  readonly keeper: CertificateKeeper;
  /** What the dashboard's port answers authorities; other listeners are told of its changes. */
  readonly desk: ChallengeDesk;
  /**
   * When the certificate ends, for those who warn of that: wall ms. Null: it is meant to be that short, and renewed in
   * time.
   */
  warnedEnd(): number | null;
  /** Binds the port for challenges, if there is one, and begins to order. Rejects with `ListenError`. */
  listen(): Promise<void>;
  close(deadline: AbortSignal): Promise<void>;
}

/** Loads the certificate. Rejects with `CertificateError` or `StoreError`. */
export async function certificateKeeper(parts: ListenerParts): Promise<KeptCertificate> {
  const { live, dataDir, clock, random, log, storage, node, version, signal } = parts;
  const desk = new ChallengeDesk(clock, random);
  let certificate: Certificate | null = null;
  const keeper = new CertificateKeeper({
    issuing: storage.issuing,
    desk,
    clock,
    random,
    log,
    node,
    isShared: storage.cluster !== null,
    connect: (ca) => new Connection(ca, `Waybill/${version}`, clock, signal),
    terms: () => termsOf(live),
    isOverruled: () => certificate?.origin === 'file' || certificate?.origin === 'uploaded',
    vault: () => live.loaded.vault,
    changed: () => void certificate?.reload(),
    stopping: signal,
  });
  await keeper.load();
  const { certFile, keyFile, acme } = live.config.tls;
  certificate = await loadCertificate({
    files: certFile !== null && keyFile !== null ? { certFile, keyFile } : null,
    directory: dataDir,
    hostname: serverName(live.config),
    issued: () => keeper.pair,
    clock,
    random,
    log,
  });
  let running: Promise<void> = Promise.resolve();
  const port = acme.httpPort === null ? null : challengePort(parts, acme.httpPort, desk);
  return {
    certificate,
    keeper,
    desk,
    warnedEnd: () => {
      const { origin, life, expiresAt } = certificate;
      return origin === 'acme' && isShortAndWell(life, keeper.view.renewal) ? null : expiresAt;
    },
    listen: async () => {
      await bindPort('tls.acme.http_port', port);
      running = keeper.run();
    },
    close: async (deadline) => {
      await Promise.all([port?.close(deadline), running]);
    },
  };
}

/** What the settings ask for; null: nothing. */
function termsOf({ config, loaded }: LiveConfig): IssuingTerms | null {
  const { domains, agreeTerms, contact, challenge, directory, caFile, keyType, renewPercent, ...eab } =
    config.tls.acme;
  if (domains.length === 0 || loaded.vault === null) return null;
  const { eabKeyId: keyId, eabHmac: hmacKey } = eab;
  return {
    names: domains,
    agreesToTerms: agreeTerms,
    contact,
    challenge,
    directory,
    caFile,
    binding: keyId === null || hmacKey === null ? null : { keyId, hmacKey },
    keyType,
    renewPercent,
  };
}

/** For authorities alone, which come a few times a month. */
const LIMITS: HttpLimits = {
  maxConnections: 128,
  headerTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  keepAliveMs: 5_000,
  maxHeaderBytes: 16_384,
  maxHeaders: 100,
  maxPipelinedRequests: 4,
  minBodyBytesPerSecond: 500,
  maxUnsentBytes: 1024 * 1024,
};

/** The port that answers http-01, and nothing else. */
function challengePort(
  { clock, random, log }: ListenerParts,
  port: number,
  challenges: ChallengeDesk,
): HttpServer {
  return createHttpServer({
    hosts: ['::'],
    port,
    tls: null,
    challenges,
    limits: LIMITS,
    clock,
    random,
    log,
    handler: (exchange) =>
      exchange.problem(new Problem(404, 'not_found', 'This port only answers authorities (http-01).')),
  });
}
