import { type Fault, showValue } from './fault.ts';
import type { Config, SettingKey } from './schema.ts';
import { ROLES, type Role } from './settings-database.ts';
import type { Effective } from './sources.ts';

/** The ports that a node's roles require; null for one that is switched off, or not this node's. */
export interface NodePorts {
  readonly api: number | null;
  readonly apiTls: number | null;
  readonly webui: number | null;
  readonly smtp: readonly number[];
  readonly smtpTls: readonly number[];
}

/** This node's roles: `node.roles`, of which SMTP also needs a port. In the table's order. */
export function rolesOf({ node, listener }: Pick<Config, 'node' | 'listener'>): readonly Role[] {
  const hasPort = listener.ports.length + listener.implicitTlsPorts.length > 0;
  return ROLES.filter((role) => node.roles.includes(role) && (role !== 'smtp' || hasPort));
}

/** See {@link NodePorts}. */
export function portsOf({
  node,
  api,
  webui,
  listener,
}: Pick<Config, 'node' | 'api' | 'webui' | 'listener'>): NodePorts {
  const isApi = node.roles.includes('api');
  const isSmtp = node.roles.includes('smtp');
  return {
    api: isApi ? api.port : null,
    apiTls: isApi && api.tlsEnabled ? api.tlsPort : null,
    webui: node.roles.includes('webui') ? webui.port : null,
    smtp: isSmtp ? listener.ports : [],
    smtpTls: isSmtp ? listener.implicitTlsPorts : [],
  };
}

/** With its own database a node is the only one: nobody does what it leaves out. */
export function roleFaults({ database, node }: Config, effective: readonly Effective[]): Fault[] {
  const idle = ROLES.filter((role) => !node.roles.includes(role));
  if (database.url !== '' || idle.length === 0) return [];
  const key: SettingKey = 'node.roles';
  const found = effective.find((setting) => setting.key === key);
  const rule = `leaves out ${idle.join(' and ')}, which no other node does: without database.url this node is the only one`;
  return [{ key, value: showValue(found?.value), rule, source: found?.source ?? 'default' }];
}
