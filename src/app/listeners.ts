import type { CertificateKeeper } from '../acme/keeper.ts';
import { type NodePorts, portsOf } from '../config/roles.ts';
import type { Actor, Door } from '../control/door.ts';
import type { NodeReport } from '../control/nodes/report.ts';
import { outlookOf } from '../control/outlook.ts';
import { signingKeys } from '../control/signing-keys.ts';
import { maxRequestBytes } from '../dashboard/calls.ts';
import { Problem } from '../http/problem.ts';
import { faultyFields } from '../ingest/http/fields.ts';
import type { ReadWords } from '../ingest/http/inbox/captured-words.ts';
import type { AdminCaller, AdminDoor } from '../ingest/service.ts';
import { createShared } from '../ingest/shared.ts';
import type { Health } from '../observe/health.ts';
import { OperationError, type OperationErrorCode } from '../operations/call.ts';
import { PreviewError } from '../preview/parsed.ts';
import { startIngestThreads } from '../threads/ingest/threads.ts';
import type { Certificate } from '../tls/certificate.ts';
import { watchAlerts } from './alerts.ts';
import { certificateKeeper } from './certificates.ts';
import { dashboard } from './dashboard.ts';
import type { ListenerParts } from './listener-parts.ts';
import { createMailListeners, smtpPortPlan } from './mail-listeners.ts';
import { type IngestRooms, type MailListeners, sharedLimitsOf } from './mail-parts.ts';
import { observe } from './observation.ts';
import { type BoundPorts, bindPort, bindSmtpPorts } from './ports.ts';

/** Every port of the service. */
export interface Listeners {
  /** Binds them all. Rejects with `ListenError` when an HTTP port cannot be bound; SMTP ports may be missing. */
  listen(): Promise<BoundPorts>;
  reloadCertificate(): Promise<void>;
  /** See `MailListeners`. */
  configured(): Promise<void>;
  readonly health: Health;
  /** What this node tells the others of its health. */
  condition(): Pick<NodeReport, 'checks' | 'certificateEndsAt'>;
  /** Null if no port uses TLS. */
  readonly certificate: Certificate | null;
  /** Orders certificates by ACME; null with it. */
  readonly keeper: CertificateKeeper | null;
  /** The ports bound so far. */
  readonly ports: BoundPorts;
  /** Stops accepting at once. Work in progress ends, at the latest when the signal aborts. */
  close(deadline: AbortSignal): Promise<void>;
}

type Bound = { -readonly [K in keyof BoundPorts]: BoundPorts[K] };

/** Makes the configured listeners of this node's roles; they do not listen yet. */
export async function createListeners(parts: ListenerParts): Promise<Listeners> {
  const { live, log } = parts;
  const wanted = portsOf(live.config);
  const preferred = parts.dev?.preferredPorts;
  const bound: Bound = { api: null, apiTls: null, webui: null, smtp: [], smtpTls: [], faults: [] };
  const kept = needsCertificate(wanted) ? await certificateKeeper(parts) : null;
  const certificate = kept?.certificate ?? null;
  const offered = offersTls(parts, wanted) ? certificate : null;
  const mail = takesMail(wanted) ? mailListeners(parts, offered, bound) : null;
  offered?.onChange((pair) => mail?.setSecureContext(pair));
  kept?.desk.onChange((answers) => mail?.setChallenges(answers));
  const observation = observe(parts, bound, kept, {
    smtpConnections: () => mail?.connections ?? 0,
    bytesInFlight: () => mail?.bytesInFlight ?? 0,
  });
  await observation.health.start();
  const webui =
    wanted.webui === null || kept === null
      ? null
      : dashboard(parts, wanted.webui, kept.certificate, observation, bound, kept.desk);
  let alerts: Promise<void> = Promise.resolve();
  const api = (port: number | null, isTls: boolean) =>
    port === null || mail === null ? null : { listen: (another = port) => mail.listenApi(another, isTls) };
  return {
    listen: async () => {
      bound.webui = await bindPort('webui.port', webui, preferred);
      bound.apiTls = await bindPort('api.tls_port', api(wanted.apiTls, true));
      bound.api = await bindPort('api.port', api(wanted.api, false), preferred);
      // Last, so that no mail is accepted by a service whose start fails on another port.
      if (mail !== null && takesSmtp(wanted)) {
        const binder = { listen: mail.listenSmtp.bind(mail) };
        const plan = { ...smtpPortPlan(live), isPreferred: preferred?.has('listener.ports') === true };
        Object.assign(bound, await bindSmtpPorts(binder, plan, log));
      }
      await kept?.listen();
      alerts = watchAlerts(parts, observation, () => kept?.warnedEnd() ?? null);
      return bound;
    },
    reloadCertificate: async () => certificate?.reload(),
    configured: async () => {
      kept?.keeper.wake();
      await mail?.configured();
    },
    health: observation.health,
    condition: () => ({
      checks: observation.health.report().checks.filter(({ status }) => status !== 'healthy'),
      certificateEndsAt: kept?.warnedEnd() ?? null,
    }),
    certificate,
    keeper: kept?.keeper ?? null,
    ports: bound,
    close: async (deadline) => {
      await Promise.all([mail?.close(deadline), webui?.close(deadline), kept?.close(deadline)]);
      await alerts;
      certificate?.stop();
      observation.stop();
    },
  };
}

/** The mail listeners, on this thread or, with several `threads.ingest`, on those. */
function mailListeners(
  parts: ListenerParts,
  certificate: Certificate | null,
  bound: BoundPorts,
): MailListeners {
  const { live, events, clock, random, log, ready, signal, engine, storage, dev } = parts;
  const others = storage.cluster === null ? null : { cluster: storage.cluster, node: parts.node };
  const rooms = ingestRooms(parts);
  const tls = certificate?.current ?? null;
  const webuiPort = () => bound.webui;
  if (live.config.threads.ingest > 1) {
    const state = () => ({
      suspension: engine.intake.suspended(null),
      ready: ready(),
      webuiPort: webuiPort(),
    });
    const { onFailure: onDeath } = parts;
    return startIngestThreads({
      live,
      rooms,
      others,
      tls,
      state,
      events,
      clock,
      random,
      log,
      signal,
      onDeath,
    });
  }
  const { keyring, signing } = rooms;
  const shared = createShared(
    { keyring, signing, clock, log, others, threads: null },
    sharedLimitsOf(live.config, null),
    signal,
  );
  const keyless = dev === null ? {} : { keyless: dev.key };
  return createMailListeners(
    { live, rooms, shared, events, clock, random, log, ready, signal, webuiPort, crowd: null, ...keyless },
    tls,
  );
}

function takesMail(ports: NodePorts): boolean {
  return ports.api !== null || ports.apiTls !== null || takesSmtp(ports);
}

function takesSmtp({ smtp, smtpTls }: NodePorts): boolean {
  return smtp.length + smtpTls.length > 0;
}

/** Whether any port uses TLS, STARTTLS included. */
function needsCertificate(ports: NodePorts): boolean {
  return ports.webui !== null || ports.apiTls !== null || takesSmtp(ports);
}

/**
 * Whether the API and SMTP offer TLS. A developer's server does where the configuration speaks of it: applications use
 * STARTTLS wherever they see it, and then refuse a certificate that nobody vouches for.
 */
function offersTls({ dev, live }: ListenerParts, { apiTls, smtpTls }: NodePorts): boolean {
  return dev === null || live.config.tls.certFile !== null || apiTls !== null || smtpTls.length > 0;
}

/** What the API and SMTP need from the rest of the service. */
function ingestRooms(parts: ListenerParts): IngestRooms {
  const { engine, storage, live, clock } = parts;
  const { intake, acts } = engine;
  const { views, spool, keyring, suppressions, templates, requests } = storage;
  return {
    intake,
    acts,
    desk: engine.feedback,
    dmarcDesk: parts.dmarcDesk,
    spool,
    views,
    keyring,
    signing: signingKeys(keyring, () => live.loaded.vault),
    suppressions,
    templates,
    requests,
    readWords: readWordsOf(parts),
    preflight: parts.preflight,
    admin: adminForApi(parts.door, () => live.config.api.maxMessageBytes),
    outlook: outlookOf({ views, clock, queue: parts.queue, resolution: () => live.loaded }),
  };
}

/** Reads a message's text for the API: a refusal is a problem. */
function readWordsOf({ words }: ListenerParts): ReadWords {
  return async (message) => {
    try {
      return await words.readWords(message);
    } catch (error) {
      throw error instanceof PreviewError ? unreadable(error) : error;
    }
  };
}

function unreadable({ code, message }: PreviewError): Problem {
  return new Problem(code === 'busy' ? 503 : 409, 'unreadable_content', message);
}

/** An operation's refusals, as problems of the API. A key with the scope `admin` may do everything. */
const PROBLEMS: Readonly<Record<OperationErrorCode, readonly [status: number, code: string]>> = {
  invalid: [400, 'invalid_request'],
  not_found: [404, 'not_found'],
  refused: [409, 'refused'],
  unavailable: [503, 'unavailable'],
  forbidden: [403, 'scope_missing'],
};

/** The operations for the API: through the door, as the calling key. */
export function adminForApi(door: Door, maxMessageBytes: () => number): AdminDoor {
  const actorOf = ({ keyName: name, sourceAddress }: AdminCaller): Actor => {
    return { kind: 'key', name, role: 'admin', sourceAddress, sessionId: null };
  };
  return {
    maxRequestBytes: (operation) => maxRequestBytes(operation, maxMessageBytes()),
    call: async (caller, operation, request, progress) => {
      try {
        return await door.call(actorOf(caller), operation, request, progress);
      } catch (error) {
        throw asProblem(error);
      }
    },
    act: async (caller, operation, request) => {
      try {
        return await door.call(actorOf(caller), operation, request);
      } catch (error) {
        const ours = error instanceof OperationError && error.cause instanceof Problem;
        throw ours ? error.cause : asProblem(error);
      }
    },
  };
}

/** An operation's refusal as a problem of the API; any other error unchanged. */
function asProblem(error: unknown): unknown {
  if (!(error instanceof OperationError)) return error;
  if (error.faults.length > 0) return faultyFields('invalid_request', error.faults);
  const [status, code] = PROBLEMS[error.code];
  return new Problem(status, code, error.message);
}
