import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { resolve } from './resolve.ts';
import { portsOf, rolesOf } from './roles.ts';

function read(environment: Readonly<Record<string, string>>) {
  const none = { settings: new Map<string, string>(), relays: [] };
  return resolve({ environment, file: null, stored: none, readSecret: () => '' });
}

function faultLines(environment: Readonly<Record<string, string>>): string[] {
  return read(environment).faults.map(formatFault);
}

const POSTGRES = { WAYBILL_DATABASE__URL: 'postgres://u@db.example/waybill' };

test('a node over PostgreSQL may do a part of the work, and must do some', () => {
  expect(faultLines({ ...POSTGRES, WAYBILL_NODE__ROLES: 'delivery' })).toEqual([]);
  expect(faultLines({ ...POSTGRES, WAYBILL_NODE__ROLES: '[]' })[0]).toContain('node.roles');
  expect(faultLines({ ...POSTGRES, WAYBILL_NODE__ROLES: 'mail' })[0]).toContain('node.roles');
});

test('the only process there is does everything', () => {
  expect(faultLines({ WAYBILL_NODE__ROLES: 'webui,delivery,smtp,api' })).toEqual([]);
  const [fault] = faultLines({ WAYBILL_NODE__ROLES: 'api,webui' });
  expect(fault).toContain('leaves out smtp and delivery, which no other node does');
});

test("only the ports of its roles are a node's", () => {
  const all = { api: 8025, apiTls: null, webui: 8420, smtp: [25, 587], smtpTls: [] };
  expect(portsOf(read(POSTGRES).config)).toEqual(all);
  const tls = { ...POSTGRES, WAYBILL_API__TLS_ENABLED: 'true' };
  const partOf = (roles: string) => portsOf(read({ ...tls, WAYBILL_NODE__ROLES: roles }).config);
  expect(partOf('api')).toEqual({ api: 8025, apiTls: 8026, webui: null, smtp: [], smtpTls: [] });
  expect(partOf('smtp,webui')).toEqual({ ...all, api: null });
  expect(partOf('delivery')).toEqual({ api: null, apiTls: null, webui: null, smtp: [], smtpTls: [] });
});

test('a node without a port of SMTP does not do it', () => {
  expect(rolesOf(read(POSTGRES).config)).toEqual(['api', 'smtp', 'delivery', 'webui']);
  const { config } = read({ ...POSTGRES, WAYBILL_LISTENER__PORTS: '[]' });
  expect(rolesOf(config)).toEqual(['api', 'delivery', 'webui']);
});
