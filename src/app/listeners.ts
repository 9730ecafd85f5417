import { type NodePorts, portsOf } from '../config/roles.ts';
import { serverName } from '../config/server-name.ts';
import type { Dashboard } from '../dashboard/server.ts';
import { createShared } from '../ingest/shared.ts';
import type { SmtpListener } from '../ingest/smtp/listener.ts';
import type { Health } from '../observe/health.ts';
import { type Certificate, loadCertificate } from '../tls/certificate.ts';
import { apiHandler, apiServer } from './api-listener.ts';
import { dashboard } from './dashboard.ts';
import type { ListenerParts } from './listener-parts.ts';
import { observe } from './observation.ts';
import { type BoundPorts, bindPort } from './ports.ts';
import { smtpListener, smtpPortPlan } from './smtp-listener.ts';
import { bindSmtpPorts } from './smtp-ports.ts';

/** Every port of the service. */
export interface Listeners {
  /** Binds them all. Rejects with `ListenError` when one of HTTP cannot be bound; those of SMTP may be missing. */
  listen(): Promise<BoundPorts>;
  reloadCertificate(): Promise<void>;
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
  const { limits } = live.config;
  const wanted = portsOf(live.config);
  const bound: Bound = { api: null, apiTls: null, webui: null, smtp: [], smtpTls: [], faults: [] };
  const certificate = needsCertificate(wanted) ? await loadCertificate(certificateOptions(parts)) : null;
  const { cluster } = parts.storage;
  const others = cluster === null ? null : { cluster, node: parts.node };
  const shared = createShared({ ...parts, ...parts.storage, others }, limits, parts.signal);
  const takesSmtp = wanted.smtp.length + wanted.smtpTls.length > 0;
  const smtp = takesSmtp ? smtpListener(parts, shared, certificate, bound) : null;
  const observation = observe(parts, bound, certificate, {
    smtpConnections: () => smtp?.connections ?? 0,
    bytesInFlight: () => shared.budget.taken,
  });
  await observation.health.start();
  const handler = apiHandler(parts, shared, bound);
  const api = wanted.api === null ? null : apiServer(parts, wanted.api, null, handler, bound);
  const apiTls =
    wanted.apiTls === null || certificate === null
      ? null
      : apiServer(parts, wanted.apiTls, certificate, handler, bound);
  const webui =
    wanted.webui === null || certificate === null
      ? null
      : dashboard(parts, wanted.webui, certificate, observation, bound);
  return {
    listen: async () => {
      bound.webui = await bindPort('webui.port', webui);
      bound.apiTls = await bindPort('api.tls_port', apiTls);
      bound.api = await bindPort('api.port', api);
      // Last, so that no mail is taken by a service whose start another port ends.
      if (smtp !== null) Object.assign(bound, await bindSmtpPorts(smtp, smtpPortPlan(live), log));
      return bound;
    },
    reloadCertificate: async () => certificate?.reload(),
    ...{ health: observation.health, certificate, ports: bound },
    close: async (deadline) => {
      const all: readonly (SmtpListener | Dashboard | null)[] = [smtp, api, apiTls, webui];
      await Promise.all(all.map((listener) => listener?.close(deadline)));
      certificate?.stop();
      observation.stop();
    },
  };
}

/** Whether any port speaks TLS, STARTTLS included. */
function needsCertificate({ webui, apiTls, smtp, smtpTls }: NodePorts): boolean {
  return webui !== null || apiTls !== null || smtp.length + smtpTls.length > 0;
}

function certificateOptions({ live, dataDir, clock, random, log }: ListenerParts) {
  const { certFile, keyFile } = live.config.tls;
  const files = certFile !== null && keyFile !== null ? { certFile, keyFile } : null;
  return { files, directory: dataDir, hostname: serverName(live.config), clock, random, log };
}
