import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { portsOf } from '../config/roles.ts';
import type { Config, SettingKey } from '../config/schema.ts';
import { ListenError, type ListenErrorCode } from '../lib/listen.ts';
import type { PortsStatus } from '../observe/health.ts';
import type { SmtpPorts } from './smtp-ports.ts';

/** The ports really bound; null where a listener is switched off. */
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

/** A port that could not be bound, told by the setting that asks for it (contract §1). */
class PortError extends ListenError {
  constructor(key: SettingKey, cause: ListenError) {
    super(cause.code, cause.host, cause.port, { cause });
    this.name = 'PortError';
    this.message = `${key}: cannot listen on ${cause.host} port ${cause.port}: ${CURES[cause.code]}`;
  }
}

/** Binds a listener; null when it is switched off. Rejects with a `ListenError` that names the setting. */
export async function bindPort(
  key: SettingKey,
  server: { listen(): Promise<number> } | null,
): Promise<number | null> {
  try {
    return (await server?.listen()) ?? null;
  } catch (error) {
    throw error instanceof ListenError ? new PortError(key, error) : error;
  }
}

/** Writes `runtime.json` (contract §1), whole or not at all. Only when every listener accepts. */
export function writeRuntime(file: string, version: string, ports: BoundPorts): void {
  const draft = `${file}.new`;
  const { api, apiTls, webui, smtp, smtpTls } = ports;
  const content = { pid: process.pid, version, api, apiTls, webui, smtp, smtpTls };
  writeFileSync(draft, `${JSON.stringify(content)}\n`);
  renameSync(draft, file);
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
