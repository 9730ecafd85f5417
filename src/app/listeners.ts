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
import { smtpListener, smtpPortPlan, wantsSmtp } from './smtp-listener.ts';
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

/** Makes the listeners the configuration asks for; they listen once told to. */
export async function createListeners(parts: ListenerParts): Promise<Listeners> {
  const { live, log } = parts;
  const { api: apiConfig, webui: webuiConfig, limits } = live.config;
  const bound: Bound = { api: null, apiTls: null, webui: null, smtp: [], smtpTls: [], faults: [] };
  const certificate = needsCertificate(live.config) ? await loadCertificate(certificateOptions(parts)) : null;
  const shared = createShared({ ...parts, ...parts.storage }, limits, parts.signal);
  const smtp = wantsSmtp(live.config) ? smtpListener(parts, shared, certificate) : null;
  const observation = observe(parts, bound, certificate, () => smtp?.connections ?? 0);
  await observation.health.start();
  const handler = apiHandler(parts, shared);
  const api = apiConfig.port === null ? null : apiServer(parts, apiConfig.port, null, handler);
  const apiTls =
    apiConfig.tlsEnabled && apiConfig.tlsPort !== null && certificate !== null
      ? apiServer(parts, apiConfig.tlsPort, certificate, handler)
      : null;
  const webui =
    webuiConfig.port === null || certificate === null
      ? null
      : dashboard(parts, webuiConfig.port, certificate, observation, bound);
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
function needsCertificate(config: ListenerParts['live']['config']): boolean {
  const { api, webui } = config;
  return webui.port !== null || (api.tlsEnabled && api.tlsPort !== null) || wantsSmtp(config);
}

function certificateOptions({ live, dataDir, clock, random, log }: ListenerParts) {
  const { certFile, keyFile } = live.config.tls;
  const files = certFile !== null && keyFile !== null ? { certFile, keyFile } : null;
  return { files, directory: dataDir, hostname: serverName(live.config), clock, random, log };
}
