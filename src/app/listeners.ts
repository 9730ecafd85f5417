import { type NodePorts, portsOf } from '../config/roles.ts';
import { serverName } from '../config/server-name.ts';
import { createShared } from '../ingest/shared.ts';
import type { Health } from '../observe/health.ts';
import { startIngestThreads } from '../threads/ingest/threads.ts';
import { type Certificate, loadCertificate } from '../tls/certificate.ts';
import { dashboard } from './dashboard.ts';
import { ingestRooms } from './ingest-rooms.ts';
import type { ListenerParts } from './listener-parts.ts';
import { createMailListeners } from './mail-listeners.ts';
import { type MailListeners, sharedLimitsOf } from './mail-parts.ts';
import { observe } from './observation.ts';
import { type BoundPorts, bindPort } from './ports.ts';
import { smtpPortPlan } from './smtp-listener.ts';
import { bindSmtpPorts } from './smtp-ports.ts';

/** Every port of the service. */
export interface Listeners {
  /** Binds them all. Rejects with `ListenError` when one of HTTP cannot be bound; those of SMTP may be missing. */
  listen(): Promise<BoundPorts>;
  reloadCertificate(): Promise<void>;
  /** See `MailListeners`. */
  configured(): Promise<void>;
  readonly health: Health;
  /** Null where no port speaks TLS. */
  readonly certificate: Certificate | null;
  /** Those that are bound by now. */
  readonly ports: BoundPorts;
  /** Stops accepting at once; ends what is under way, at the latest when the signal aborts. */
  close(deadline: AbortSignal): Promise<void>;
}

type Bound = { -readonly [K in keyof BoundPorts]: BoundPorts[K] };

/** Makes the listeners of this node's roles that the configuration asks for; they listen once told to. */
export async function createListeners(parts: ListenerParts): Promise<Listeners> {
  const { live, log } = parts;
  const wanted = portsOf(live.config);
  const bound: Bound = { api: null, apiTls: null, webui: null, smtp: [], smtpTls: [], faults: [] };
  const certificate = needsCertificate(wanted) ? await loadCertificate(certificateOptions(parts)) : null;
  const mail = takesMail(wanted) ? mailListeners(parts, certificate, bound) : null;
  certificate?.onChange((pair) => mail?.setSecureContext(pair));
  const observation = observe(parts, bound, certificate, {
    smtpConnections: () => mail?.connections ?? 0,
    bytesInFlight: () => mail?.bytesInFlight ?? 0,
  });
  await observation.health.start();
  const webui =
    wanted.webui === null || certificate === null
      ? null
      : dashboard(parts, wanted.webui, certificate, observation, bound);
  const api = (port: number | null, isTls: boolean) =>
    port === null || mail === null ? null : { listen: () => mail.listenApi(port, isTls) };
  return {
    listen: async () => {
      bound.webui = await bindPort('webui.port', webui);
      bound.apiTls = await bindPort('api.tls_port', api(wanted.apiTls, true));
      bound.api = await bindPort('api.port', api(wanted.api, false));
      // Last, so that no mail is taken by a service whose start another port ends.
      if (mail !== null && takesSmtp(wanted)) {
        const binder = { listen: mail.listenSmtp.bind(mail) };
        Object.assign(bound, await bindSmtpPorts(binder, smtpPortPlan(live), log));
      }
      return bound;
    },
    reloadCertificate: async () => certificate?.reload(),
    configured: async () => mail?.configured(),
    ...{ health: observation.health, certificate, ports: bound },
    close: async (deadline) => {
      await Promise.all([mail?.close(deadline), webui?.close(deadline)]);
      certificate?.stop();
      observation.stop();
    },
  };
}

/** What takes mail, on this thread or, with more of `threads.ingest`, on those. */
function mailListeners(
  parts: ListenerParts,
  certificate: Certificate | null,
  bound: BoundPorts,
): MailListeners {
  const { live, events, clock, random, log, ready, signal, engine, storage } = parts;
  const others = storage.cluster === null ? null : { cluster: storage.cluster, node: parts.node };
  const rooms = ingestRooms(parts);
  const tls = certificate?.current ?? null;
  const webuiPort = () => bound.webui;
  if (live.config.threads.ingest > 1) {
    const state = () => ({
      ...{ suspension: engine.intake.suspended(null), ready: ready(), webuiPort: webuiPort() },
    });
    const { onFailure: onDeath } = parts;
    return startIngestThreads({
      ...{ live, rooms, others, tls, state, events, clock, random, log, signal, onDeath },
    });
  }
  const { keyring } = storage;
  const shared = createShared(
    { keyring, clock, log, others, threads: null },
    sharedLimitsOf(live.config, null),
    signal,
  );
  return createMailListeners(
    { live, rooms, shared, events, clock, random, log, ready, signal, webuiPort, crowd: null },
    tls,
  );
}

function takesMail(ports: NodePorts): boolean {
  return ports.api !== null || ports.apiTls !== null || takesSmtp(ports);
}

function takesSmtp({ smtp, smtpTls }: NodePorts): boolean {
  return smtp.length + smtpTls.length > 0;
}

/** Whether any port speaks TLS, STARTTLS included. */
function needsCertificate(ports: NodePorts): boolean {
  return ports.webui !== null || ports.apiTls !== null || takesSmtp(ports);
}

function certificateOptions({ live, dataDir, clock, random, log }: ListenerParts) {
  const { certFile, keyFile } = live.config.tls;
  const files = certFile !== null && keyFile !== null ? { certFile, keyFile } : null;
  return { files, directory: dataDir, hostname: serverName(live.config), clock, random, log };
}
