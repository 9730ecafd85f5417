import { expect, test } from 'vitest';
import { ListenError, type ListenErrorCode } from '../lib/listen.ts';
import { type Log, type LogFields, silentLog } from '../lib/log.ts';
import { bindPort, bindSmtpPorts, type SmtpBinder, type SmtpPortPlan } from './ports.ts';

/** A machine on which some ports cannot be had; what it was asked for, in order. */
class Machine implements SmtpBinder {
  readonly asked: string[] = [];
  readonly #missing: ReadonlyMap<number, ListenErrorCode>;

  constructor(missing: Readonly<Record<number, ListenErrorCode>>) {
    this.#missing = new Map(Object.entries(missing).map(([port, code]) => [Number(port), code]));
  }

  async listen(hosts: readonly string[], port: number, implicitTls: boolean): Promise<number> {
    this.asked.push(`${hosts.join(' ')} ${port}${implicitTls ? ' tls' : ''}`);
    const code = this.#missing.get(port);
    if (code !== undefined) throw new ListenError(code, hosts[0] ?? '', port);
    return port === 0 ? 40_000 + this.asked.length : port;
  }
}

const DEFAULTS: SmtpPortPlan = { bind: ['::'], ports: [25, 587], implicitTlsPorts: [], set: false };

test('every port is bound on every address, in order, and 0 is what the machine gives', async () => {
  const machine = new Machine({});
  const plan = { bind: ['127.0.0.1', '::1'], ports: [2525, 0, 0], implicitTlsPorts: [465], set: true };
  expect(await bindSmtpPorts(machine, plan, silentLog)).toEqual({
    smtp: [2525, 40_002, 40_003],
    smtpTls: [465],
    faults: [],
  });
  expect(machine.asked).toEqual([
    '127.0.0.1 ::1 2525',
    '127.0.0.1 ::1 0',
    '127.0.0.1 ::1 0',
    '127.0.0.1 ::1 465 tls',
  ]);
});

test('25 falls back to 2525; another port is skipped', async () => {
  const machine = new Machine({ 25: 'address_in_use', 587: 'permission_denied' });
  expect(await bindSmtpPorts(machine, DEFAULTS, silentLog)).toEqual({
    smtp: [2525],
    smtpTls: [],
    faults: [
      { key: 'listener.ports', port: 25, reason: 'in_use', set: false, fallback: 2525 },
      { key: 'listener.ports', port: 587, reason: 'no_privilege', set: false, fallback: null },
    ],
  });
});

test('a port that is only preferred gives way to any other, if another program has taken it', async () => {
  const machine = new Machine({ 2525: 'address_in_use', 8420: 'address_in_use', 80: 'permission_denied' });
  const plan = { ...DEFAULTS, ports: [2525], isPreferred: true };
  const smtp = await bindSmtpPorts(machine, plan, silentLog);
  expect(smtp).toEqual({ smtp: [40_002], smtpTls: [], faults: [] });
  const webui = (port: number) => ({ listen: (another = port) => machine.listen([''], another, false) });
  const preferred = new Set(['webui.port' as const]);
  expect(await bindPort('webui.port', webui(8420), preferred)).toBe(40_004);
  await expect(bindPort('webui.port', webui(8420))).rejects.toThrow('webui.port: cannot listen');
  await expect(bindPort('webui.port', webui(80), preferred)).rejects.toThrow('CAP_NET_BIND_SERVICE');
  await expect(bindPort('api.port', webui(8420), preferred)).rejects.toThrow('api.port: cannot listen');
});

test.each<[string, Partial<SmtpPortPlan>]>([
  ['a port with STARTTLS', { ports: [25, 2525] }],
  ['a port with STARTTLS that comes before', { ports: [2525, 25] }],
  ['a port of implicit TLS', { ports: [25], implicitTlsPorts: [2525] }],
])('25 does not fall back to 2525 where that is listed as %s', async (_case, plan) => {
  const machine = new Machine({ 25: 'permission_denied' });
  const { smtp, smtpTls, faults } = await bindSmtpPorts(machine, { ...DEFAULTS, ...plan }, silentLog);
  expect([...smtp, ...smtpTls]).toEqual([2525]);
  expect(faults).toEqual([
    { key: 'listener.ports', port: 25, reason: 'no_privilege', set: false, fallback: null },
  ]);
  expect(machine.asked.filter((asked) => asked.includes('2525'))).toHaveLength(1);
});

test('where 2525 cannot be had either, what is told is why 25 could not', async () => {
  const machine = new Machine({ 25: 'permission_denied', 2525: 'address_in_use' });
  const { smtp, faults } = await bindSmtpPorts(machine, { ...DEFAULTS, ports: [25], set: true }, silentLog);
  expect(smtp).toEqual([]);
  expect(faults).toEqual([
    { key: 'listener.ports', port: 25, reason: 'no_privilege', set: true, fallback: null },
  ]);
});

test('implicit TLS has no other port to fall back to, and is never a default', async () => {
  const machine = new Machine({ 25: 'address_unavailable' });
  const plan = { ...DEFAULTS, ports: [], implicitTlsPorts: [25] };
  expect(await bindSmtpPorts(machine, plan, silentLog)).toEqual({
    smtp: [],
    smtpTls: [],
    faults: [
      { key: 'listener.implicit_tls_ports', port: 25, reason: 'unavailable', set: true, fallback: null },
    ],
  });
});

test('the log has a line for each port that could not be bound, and for the one in its place', async () => {
  const lines: [string, LogFields | undefined][] = [];
  const log: Log = { ...silentLog, warn: (event, fields) => lines.push([event, fields]) };
  await bindSmtpPorts(new Machine({ 25: 'address_in_use' }), DEFAULTS, log);
  const key = 'listener.ports';
  expect(lines).toEqual([
    ['smtp.port_not_bound', { code: 'address_in_use', key, port: 25, host: '::' }],
    ['smtp.port_fallback', { key, port: 25, bound: 2525 }],
  ]);
});

test('what is no trouble with a port ends the start', async () => {
  const binder = { listen: () => Promise.reject(new Error('bug')) };
  await expect(bindSmtpPorts(binder, DEFAULTS, silentLog)).rejects.toThrow('bug');
});
