import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { portsOf } from '../config/roles.ts';
import type { Config, SettingKey } from '../config/schema.ts';
import type { PortFault } from '../domain/health.ts';
import { ListenError, type ListenErrorCode } from '../lib/listen.ts';
import type { Log } from '../lib/log.ts';
import type { PortsStatus } from '../observe/health.ts';

/** The bound ports; null where a listener is switched off. */
export interface BoundPorts extends SmtpPorts {
  readonly api: number | null;
  readonly apiTls: number | null;
  readonly webui: number | null;
}

const CURES: Readonly<Record<ListenErrorCode, string>> = {
  address_in_use: 'another program uses it; stop that program, or choose another port',
  permission_denied:
    'it needs CAP_NET_BIND_SERVICE, or a lower sysctl net.ipv4.ip_unprivileged_port_start; or choose a port from 1024 on',
  address_unavailable: 'this machine has no such address; change the bind setting of the same section',
  listen_failed: 'the system refuses it',
};

/** A port that could not be bound, named by its setting (contract §1). */
class PortError extends ListenError {
  constructor(key: SettingKey, cause: ListenError) {
    super(cause.code, cause.host, cause.port, { cause });
    this.name = 'PortError';
    this.message = `${key}: cannot listen on ${cause.host} port ${cause.port}: ${CURES[cause.code]}`;
  }
}

/**
 * Binds a listener; null if it is switched off. Its port gives way to any free one if it is only `preferred`. Rejects
 * with a `ListenError` that names the setting.
 */
export async function bindPort(
  key: SettingKey,
  server: { listen(port?: number): Promise<number> } | null,
  preferred: ReadonlySet<SettingKey> = NONE,
): Promise<number | null> {
  if (server === null) return null;
  const listen = server.listen.bind(server);
  try {
    return await (preferred.has(key) ? orAnyPort(listen) : listen());
  } catch (error) {
    throw error instanceof ListenError ? new PortError(key, error) : error;
  }
}

const NONE: ReadonlySet<SettingKey> = new Set();

/** Binds the port that is wanted; any free one, if another program has that. Rejects with `ListenError`. */
async function orAnyPort(listen: (port?: number) => Promise<number>): Promise<number> {
  try {
    return await listen();
  } catch (error) {
    if (error instanceof ListenError && error.code === 'address_in_use') return await listen(0);
    throw error;
  }
}

/** Writes `runtime.json` (contract §1), whole or not at all. Call it only when every listener accepts. */
export function writeRuntime(file: string, version: string, ports: BoundPorts): void {
  const draft = `${file}.new`;
  const { api, apiTls, webui, smtp, smtpTls } = ports;
  const content = { pid: process.pid, version, api, apiTls, webui, smtp, smtpTls };
  writeFileSync(draft, `${JSON.stringify(content)}\n`);
  renameSync(draft, file);
}

/** The bound ports as the log tells them. */
export function loggedPorts({ api, apiTls, webui, smtp, smtpTls }: BoundPorts) {
  return { api, apiTls, webui, smtp: smtp.join(' '), smtpTls: smtpTls.join(' ') };
}

/** Removes `runtime.json` when the service stops listening. */
export function removeRuntime(file: string): void {
  rmSync(file, { force: true });
}

/** The listeners as health shows them. */
export function portsStatus(config: Config, bound: BoundPorts): PortsStatus {
  const { smtp, smtpTls } = portsOf(config);
  return {
    smtp: { configured: smtp, listening: bound.smtp },
    smtpTls: { configured: smtpTls, listening: bound.smtpTls },
    api: { port: bound.api, tlsPort: bound.apiTls },
    faults: bound.faults,
  };
}

/** Binds the ports of the SMTP listener. */
export interface SmtpBinder {
  /** Binds one port on every host, or on none. Rejects with `ListenError`. Resolves to the bound port. */
  listen(hosts: readonly string[], port: number, implicitTls: boolean): Promise<number>;
}

/** The result for the configured ports. */
export interface SmtpPorts {
  /** Bound, with STARTTLS. */
  readonly smtp: readonly number[];
  /** Bound, with TLS from the first byte. */
  readonly smtpTls: readonly number[];
  /** Not bound. */
  readonly faults: readonly PortFault[];
}

/** The ports to bind, and where. */
export interface SmtpPortPlan extends Pick<Config['listener'], 'bind' | 'ports' | 'implicitTlsPorts'> {
  /** Whether an operator set `listener.ports`; false for its default. */
  readonly set: boolean;
  /** `listener.ports` is only preferred: any free port does as well. */
  readonly isPreferred?: boolean;
}

type PortKey = 'listener.ports' | 'listener.implicit_tls_ports';

const SMTP_PORT = 25;
/** Replaces a port 25 that is unavailable (contract §1). */
const FALLBACK_PORT = 2525;

const REASONS: Readonly<Record<ListenErrorCode, PortFault['reason']>> = {
  address_in_use: 'in_use',
  permission_denied: 'no_privilege',
  address_unavailable: 'unavailable',
  listen_failed: 'failed',
};

/**
 * Binds every port it can, in order. A port that cannot be bound is logged, reported in `faults` and skipped; 25 is
 * replaced by 2525, unless that is listed anyway. Rejects only with errors other than `ListenError`.
 */
export async function bindSmtpPorts(binder: SmtpBinder, plan: SmtpPortPlan, log: Log): Promise<SmtpPorts> {
  const smtp: number[] = [];
  const smtpTls: number[] = [];
  const faults: PortFault[] = [];
  const listed = [...plan.ports, ...plan.implicitTlsPorts];
  const attempt = async (key: PortKey, port: number): Promise<number | ListenError> => {
    const isTls = key === 'listener.implicit_tls_ports';
    const listen = (another = port) => binder.listen(plan.bind, another, isTls);
    try {
      return await (plan.isPreferred === true && !isTls ? orAnyPort(listen) : listen());
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      log.warn('smtp.port_not_bound', { code: error.code, key, port, host: error.host });
      return error;
    }
  };
  const bindOne = async (key: PortKey, port: number, bound: number[]): Promise<void> => {
    const first = await attempt(key, port);
    if (typeof first === 'number') {
      bound.push(first);
      return;
    }
    const falls = key === 'listener.ports' && port === SMTP_PORT && !listed.includes(FALLBACK_PORT);
    const second = falls ? await attempt(key, FALLBACK_PORT) : first;
    const fallback = typeof second === 'number' ? second : null;
    if (fallback !== null) {
      bound.push(fallback);
      log.warn('smtp.port_fallback', { key, port, bound: fallback });
    }
    const set = plan.set || key !== 'listener.ports';
    faults.push({ key, port, reason: REASONS[first.code], set, fallback });
  };
  for (const port of plan.ports) await bindOne('listener.ports', port, smtp);
  for (const port of plan.implicitTlsPorts) await bindOne('listener.implicit_tls_ports', port, smtpTls);
  return { smtp, smtpTls, faults };
}
