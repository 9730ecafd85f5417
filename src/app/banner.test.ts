import { expect, test } from 'vitest';
import type { HealthCheck, PortFault } from '../domain/health.ts';
import { COMMAND } from '../lib/command.ts';
import { banner, type Condition, statusLine } from './banner.ts';
import type { BoundPorts } from './ports.ts';

const PORTS: BoundPorts = { api: 8025, apiTls: null, webui: 8420, smtp: [2525], smtpTls: [], faults: [] };
const WELL: HealthCheck = { name: 'disk', status: 'healthy', detail: 'There is enough disk space.' };
const FULL: HealthCheck = { name: 'disk', status: 'critical', detail: 'The disk is full.' };
const HELD: HealthCheck = { name: 'restored', status: 'degraded', detail: 'Mail is held.' };
const FAULT: PortFault = {
  key: 'listener.ports',
  port: 25,
  reason: 'no_privilege',
  set: false,
  fallback: 2525,
};
const PORT_25 = /Port 25 of listener\.ports is not bound/g;

const config = { delivery: { defaultRelay: 'out' } };

function head(condition: Condition, ports = PORTS): string {
  const text = banner('0.1.0', '/data', config, ports, condition, null);
  return text.slice(0, text.indexOf('\n\n'));
}

test('a start that is well says that it is running, and no more', () => {
  expect(head({ checks: [WELL], suspension: null })).toBe('Waybill 0.1.0 is running.');
});

test.for<[string, Condition, string]>([
  [
    'health that is critical',
    { checks: [WELL, HELD, FULL], suspension: 'No room.' },
    'Waybill 0.1.0 is running, but refuses mail:\n  Mail is held.\n  The disk is full.',
  ],
  [
    'intake that is suspended, which no check says',
    { checks: [WELL, HELD], suspension: 'The queue is full.' },
    'Waybill 0.1.0 is running, but refuses mail:\n  The queue is full.\n  Mail is held.',
  ],
  [
    'health that is degraded',
    { checks: [HELD], suspension: null },
    'Waybill 0.1.0 is running, but something is wrong:\n  Mail is held.',
  ],
])('the first lines, and the line for systemd, say it of %s', ([, condition, told]) => {
  expect(head(condition)).toBe(told);
  const clause = told.replace('Waybill 0.1.0 is running', '').replace(/\n {2}/g, ' ');
  expect(statusLine(PORTS, condition)).toBe(
    `API 8025, SMTP 2525, dashboard 8420${clause} See: ${COMMAND} doctor`,
  );
});

test.for<HealthCheck['status']>(['healthy', 'degraded'])(
  'a port that is missing is told once where health is %s by it',
  (status) => {
    const detail = 'Port 25 of listener.ports is not bound: why.';
    const condition = { checks: [{ name: 'ports', status, detail }], suspension: null };
    const ports = { ...PORTS, faults: [FAULT] };
    expect(banner('0.1.0', '/data', config, ports, condition, null).match(PORT_25)).toHaveLength(1);
    expect(statusLine(ports, condition).match(PORT_25)).toHaveLength(1);
  },
);
