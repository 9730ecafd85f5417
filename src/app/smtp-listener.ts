import type { SecureContextOptions } from 'node:tls';
import type { Config } from '../config/schema.ts';
import { localPostmaster, serverName } from '../config/server-name.ts';
import type { NamedSource } from '../domain/source.ts';
import { createSmtpListener, type SmtpListener } from '../ingest/smtp/listener.ts';
import type { SmtpOptions } from '../ingest/smtp/options.ts';
import { cidrs } from './cidr-sets.ts';
import type { LiveConfig } from './live-config.ts';
import type { MailParts } from './mail-parts.ts';
import type { SmtpPortPlan } from './smtp-ports.ts';

/** Makes the SMTP listener, which takes no port yet. */
export function smtpListener(parts: MailParts, tls: SecureContextOptions | null): SmtpListener {
  const { intake, views } = parts.rooms;
  return createSmtpListener({ ...parts, intake, views }, smtpOptions(parts), tls);
}

/** The ports to bind. */
export function smtpPortPlan({ config, loaded }: LiveConfig): SmtpPortPlan {
  const { bind, ports, implicitTlsPorts } = config.listener;
  const setting = loaded.effective.find(({ key }) => key === 'listener.ports');
  return { bind, ports, implicitTlsPorts, set: setting?.origin !== 'default' };
}

/** The listener's options, read from the configuration each time so that keys apply live. */
function smtpOptions({ live, webuiPort }: Pick<MailParts, 'live' | 'webuiPort'>): SmtpOptions {
  return {
    get webuiPort() {
      return webuiPort();
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
