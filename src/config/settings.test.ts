import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { resolve } from './resolve.ts';
import { SETTING_KEYS, type SettingKey } from './schema.ts';
import { SETTINGS } from './settings.ts';

function resolved(servers: string) {
  const environment = { WAYBILL_DNS__SERVERS: servers };
  return resolve({
    environment,
    file: null,
    stored: { settings: new Map(), relays: [] },
    readSecret: (path) => {
      throw new Error(`no file ${path}`);
    },
  });
}

test("without a word the system's servers are asked, and trusted only on this host", () => {
  expect(resolved('').config.dns).toEqual({
    servers: null,
    trustAd: 'auto',
    timeoutMs: 3000,
    attempts: 2,
    cacheEntries: 10_000,
  });
});

test('a DNS server is an address, with a port or without', () => {
  const all = ['127.0.0.1', '192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]:5353'];
  expect(resolved(all.join(',')).config.dns.servers).toEqual(all);
});

test.each([
  'dns.example.net',
  '192.0.2.1:0',
  '192.0.2.1:65536',
  '192.0.2.256',
  '[2001:db8::1]',
  '2001:db8::1:5353:',
  'fe80::1%eth0',
])('what names no server is refused by its key: %s', (server) => {
  expect(resolved(server).faults.map(formatFault)).toEqual([
    expect.stringMatching(/^dns\.servers(\[0\])? = .* an IP address, with a port/),
  ]);
});

test.each<[SettingKey, string, string]>([
  ['api.rate_limit_per_key', 'Rate limit per key', 'http-api'],
  ['api.tls_enabled', 'TLS enabled', 'http-api'],
  ['webui.allowed_cidrs', 'Allowed ranges', 'security'],
  ['bounces.domain', 'Bounces domain', 'smtp'],
  ['retention.content_days', 'Content days', 'retention'],
  ['dns.trust_ad', 'Trust AD', 'delivery'],
])('%s is called %s and shown in %s', (key, label, group) => {
  expect(SETTINGS[key]).toMatchObject({ label, group });
});

test('what most change is not among what is seldom changed', () => {
  const seldom = SETTING_KEYS.filter((key) => SETTINGS[key].seldom);
  expect(seldom).toContain('api.max_json_depth');
  for (const key of ['api.max_message_bytes', 'api.max_recipients', 'retention.content_max_bytes'])
    expect(seldom).not.toContain(key);
});
