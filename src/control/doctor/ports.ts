import { portsOf } from '../../config/roles.ts';
import type { SettingKey } from '../../config/schema.ts';
import type { ListenErrorCode } from '../../lib/listen.ts';
import type { Finding } from '../../operations/system.ts';
import { fail, ok, skipped, warn } from './finding.ts';
import type { Check, Machine, Premises } from './premises.ts';

/** A port that the configuration requires for this node's roles. */
interface WantedPort {
  readonly key: SettingKey;
  readonly hosts: readonly string[];
  readonly port: number;
  /** Whether the running server has it; null while none runs. */
  readonly isBound: boolean | null;
  /** The running server's ports for the setting. */
  readonly had: readonly number[];
  /** Configured by an operator; false for a default. */
  readonly set: boolean;
}

/** The fallback for port 25. */
const FALLBACK = 2525;

/** Whether every port is bound, or could be; and which program is in the way. */
export const portsCheck: Check = async (premises) => {
  const { bound } = premises;
  const running =
    bound === null ? [] : [ok('server', `Running, version ${bound.version}, process ${bound.pid}.`)];
  const wanted = wantedPorts(premises);
  const found = await Promise.all(wanted.map((port) => lookAt(port, premises.machine)));
  const idle = bound === null ? [skipped('server', 'Not running. To start it: waybill serve')] : [];
  return [...running, ...idle, ...found];
};

function wantedPorts({ loaded, bound }: Premises): WantedPort[] {
  const { config, effective } = loaded;
  const { api, webui, listener } = config;
  const ports = portsOf(config);
  const isSet = (key: SettingKey) => effective.find((setting) => setting.key === key)?.origin !== 'default';
  const wish = (
    key: SettingKey,
    hosts: readonly string[],
    port: number | null,
    has: readonly (number | null)[],
  ) =>
    port === null
      ? []
      : [
          {
            key,
            hosts,
            port,
            set: isSet(key),
            isBound: bound === null ? null : isThere(port, has),
            had: has.flatMap((other) => other ?? []),
          },
        ];
  return [
    ...ports.smtp.flatMap((port) => wish('listener.ports', listener.bind, port, bound?.smtp ?? [])),
    ...ports.smtpTls.flatMap((port) =>
      wish('listener.implicit_tls_ports', listener.bind, port, bound?.smtpTls ?? []),
    ),
    ...wish('api.port', api.bind, ports.api, [bound?.api ?? null]),
    ...wish('api.tls_port', api.bind, ports.apiTls, [bound?.apiTls ?? null]),
    ...wish('webui.port', webui.bind, ports.webui, [bound?.webui ?? null]),
  ];
}

/** Port 0 means any. */
function isThere(port: number, bound: readonly (number | null)[]): boolean {
  return port === 0 ? bound.some((other) => other !== null) : bound.includes(port);
}

function portsText(ports: readonly number[]): string {
  return `, port ${ports.join(', ')}`;
}

async function lookAt(wanted: WantedPort, machine: Machine): Promise<Finding> {
  const { key, port, isBound, hosts, had } = wanted;
  const name = port === 0 ? `${key} (any)` : `port ${port}`;
  if (isBound === true) return ok(name, `Listening (${key}${port === 0 ? portsText(had) : ''}).`);
  if (port === 0) return skipped(name, 'A free port is chosen at start.');
  const state = await machine.tryPort(hosts, port);
  if (state !== 'free') return await hindered(name, wanted, state, machine);
  if (isBound === null) return ok(name, `Free (${key}).`);
  return warn(
    name,
    `The running server does not use it (${key}), though it is free now.`,
    'sudo systemctl restart waybill  # or end it, and: waybill serve',
  );
}

async function hindered(
  name: string,
  { key, port, hosts, set }: WantedPort,
  reason: ListenErrorCode,
  machine: Machine,
): Promise<Finding> {
  const tell = set ? fail : warn;
  const instead = port === 25 ? `; ${FALLBACK} is used instead` : '';
  if (reason === 'permission_denied') {
    const first = machine.firstFreePort();
    const below = first === null ? '' : `, as below ${first}`;
    return tell(
      name,
      `Not bound (${key}): this user may not${below}${instead}.`,
      `AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit, or: sudo sysctl -w net.ipv4.ip_unprivileged_port_start=${Math.min(port, 25)}`,
    );
  }
  if (reason === 'address_in_use') {
    const owner = await machine.portOwner(port);
    return tell(
      name,
      `Not bound (${key}): ${owner ?? 'another program'} has it${instead}.`,
      owner === null
        ? `see which program it is: sudo ss -ltnp 'sport = :${port}'`
        : `stop ${owner}, or choose another port in ${key}`,
    );
  }
  if (reason === 'address_unavailable')
    return tell(
      name,
      `Not bound (${key}): this machine does not have all of ${hosts.join(', ')}.`,
      `${key.split('.')[0]}: { bind: ["::"] }`,
    );
  return tell(name, `Not bound (${key}): the system refuses it.`, `see why: waybill serve`);
}
