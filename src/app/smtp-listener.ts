import type { Config } from '../config/schema.ts';
import { localPostmaster, serverName } from '../config/server-name.ts';
import type { NamedSource } from '../domain/source.ts';
import type { IngestShared } from '../ingest/shared.ts';
import { createSmtpListener, type SmtpListener } from '../ingest/smtp/listener.ts';
import type { SmtpOptions } from '../ingest/smtp/options.ts';
import type { Certificate } from '../tls/certificate.ts';
import { cidrs } from './cidr-sets.ts';
import type { ListenerParts } from './listener-parts.ts';
import type { LiveConfig } from './live-config.ts';
import type { BoundPorts } from './ports.ts';
import type { SmtpPortPlan } from './smtp-ports.ts';

/** Makes the SMTP listener, which takes no port yet. */
export function smtpListener(
  parts: ListenerParts,
  shared: IngestShared,
  certificate: Certificate | null,
  bound: BoundPorts,
): SmtpListener {
  const { engine, storage, events, clock, random, log, live } = parts;
  const deps = { intake: engine.intake, views: storage.views, shared, events, clock, random, log };
  const listener = createSmtpListener(deps, smtpOptions(live, bound), certificate?.current ?? null);
  certificate?.onChange((pair) => listener.setSecureContext(pair));
  return listener;
}

/** The ports to bind. */
export function smtpPortPlan({ config, loaded }: LiveConfig): SmtpPortPlan {
  const { bind, ports, implicitTlsPorts } = config.listener;
  const setting = loaded.effective.find(({ key }) => key === 'listener.ports');
  return { bind, ports, implicitTlsPorts, set: setting?.origin !== 'default' };
}

/** The listener's options, read from the configuration each time so that keys apply live. */
function smtpOptions(live: LiveConfig, bound: BoundPorts): SmtpOptions {
  return {
    get webuiPort() {
      return bound.webui;
    },
    get hostname() {
      return serverName(live.config);
    },
    get postmaster() {
      return live.config.server.postmaster ?? localPostmaster(live.config);
    },
    get settings() {
      return live.config.listener;
    },
    get limits() {
      return live.config.api;
    },
    get allowedCidrs() {
      return cidrs(live.config.listener.allowedCidrs);
    },
    get trustedProxies() {
      return cidrs(live.config.listener.trustedProxies);
    },
    get domains() {
      return namesOf(live.config.domains);
    },
    get sources() {
      return withCidrs(live.config.listener.sources);
    },
  };
}

const names = new WeakMap<Config['domains'], ReadonlySet<string>>();

/** The names of registered domains, gathered once for each list. */
function namesOf(list: Config['domains']): ReadonlySet<string> {
  const known = names.get(list) ?? new Set(list.map(({ name }) => name));
  names.set(list, known);
  return known;
}

type SourceRows = SmtpOptions['sources'];

const parsed = new WeakMap<readonly NamedSource[], SourceRows>();

/** Rows that the configuration has checked, with their ranges parsed once for each list. */
function withCidrs(list: readonly NamedSource[]): SourceRows {
  const known = parsed.get(list);
  if (known) return known;
  const rows = list.map((source) => ({ source, cidrs: cidrs([source.cidr]) }));
  parsed.set(list, rows);
  return rows;
}
