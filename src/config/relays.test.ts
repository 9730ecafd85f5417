import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { readRelay } from './relays.ts';

function read(raw: unknown, secret = 'pw') {
  const reading = readRelay({
    raw,
    key: 'relays[0]',
    source: 'file',
    origin: 'file',
    readSecret: (path) => {
      if (path === '/gone') throw new Error('no such file');
      return secret;
    },
  });
  return reading.relay ?? reading.faults.map(formatFault);
}

const LIMITS = {
  maxRatePerSecond: 0,
  maxMessageBytes: 0,
  maxRecipients: 100,
  maxPerDay: 0,
  reservePercent: 5,
  warmUp: null,
};
const GOOD = { name: 'out', type: 'smtp', host: 'smtp.example.net' };

test('a definition of three fields is a relay with the defaults', () => {
  expect(read(GOOD)).toEqual({
    name: 'out',
    type: 'smtp',
    limits: { maxConcurrency: 20, ...LIMITS },
    origin: 'file',
    disabled: false,
    smtp: {
      host: 'smtp.example.net',
      port: 587,
      tls: 'required',
      verify: true,
      username: null,
      password: null,
      helo: null,
      sourceIps: [],
      ipFamily: 'any',
      returnPath: 'auto',
    },
    mx: null,
    provider: null,
  });
});

const MX = { name: 'direct', type: 'mx' };

test('type mx needs no host, and has port 25, opportunistic TLS and no private hosts', () => {
  expect(read(MX)).toEqual({
    name: 'direct',
    type: 'mx',
    limits: { maxConcurrency: 100, ...LIMITS },
    origin: 'file',
    disabled: false,
    smtp: null,
    mx: {
      port: 25,
      tls: 'opportunistic',
      allowPrivate: false,
      maxPerDomain: 20,
      presets: true,
      helo: null,
      sourceIps: [],
      ipFamily: 'any',
      returnPath: 'auto',
    },
    provider: null,
  });
});

test('type mx may be given all that it knows', () => {
  const given = {
    port: 2525,
    tls: 'required',
    allow_private: true,
    max_per_domain: 5,
    max_concurrency: 7,
    helo: 'out.example.net',
    source_ips: ['192.0.2.1', '192.0.2.2'],
    ip_family: 'ipv4',
  };
  expect(read({ ...MX, ...given })).toMatchObject({
    limits: { maxConcurrency: 7 },
    mx: {
      port: 2525,
      tls: 'required',
      allowPrivate: true,
      maxPerDomain: 5,
      helo: 'out.example.net',
      sourceIps: ['192.0.2.1', '192.0.2.2'],
      ipFamily: 'ipv4',
    },
  });
});

test('private hosts are allowed by the file alone: who may add relays may not reach into the network', () => {
  const raw = { ...MX, allow_private: true };
  const readSecret = () => '';
  const reading = readRelay({ raw, key: 'relay', source: 'stored relay', origin: 'stored', readSecret });
  expect(reading.relay === null ? reading.faults.map(formatFault) : reading.relay).toEqual([
    'relay.allow_private = true: can be set in the configuration file only (stored relay)',
  ]);
});

test('implicit TLS has its own usual port, and a given port wins', () => {
  expect(read({ ...GOOD, tls: 'implicit' })).toMatchObject({ smtp: { port: 465 } });
  expect(read({ ...GOOD, tls: 'implicit', port: 2465 })).toMatchObject({ smtp: { port: 2465 } });
});

test('the password may lie in a file', () => {
  expect(read({ ...GOOD, username: 'u', password_file: '/p' })).toMatchObject({ smtp: { password: 'pw' } });
  expect(read({ ...GOOD, username: 'u', password_file: '/gone' })).toEqual([
    'relays[0].password_file = "/gone": cannot be read: no such file (file)',
  ]);
});

test.each([
  [7, 'relays[0]: must be a map of fields (file)'],
  [{ type: 'smtp', host: 'h' }, 'relays[0].name: must be given (file)'],
  [{ ...GOOD, name: 'Out!' }, 'relays[0].name = "Out!": must be 1 to 64 of a-z 0-9 - _ (file)'],
  [{ ...GOOD, name: 'inbox' }, 'relays[0].name = "inbox": is built in and cannot be declared (file)'],
  [{ ...GOOD, hots: 'h' }, 'relays[0].hots: no such field; did you mean host? (file)'],
  [{ ...GOOD, port: 0 }, 'relays[0].port = 0: must be a whole number from 1 to 65535, or null (file)'],
  [
    { ...GOOD, type: 'pigeon' },
    'relays[0].type = "pigeon": must be smtp or mx or ses or mailgun or postmark or sendgrid or resend or graph or webhook (file)',
  ],
  [
    { ...GOOD, tls: 'none', username: 'u' },
    'relays[0].tls = "none": must not be none with a username: no AUTH without TLS (file)',
  ],
  [{ name: 'out', type: 'smtp' }, 'relays[0].host: must be given (file)'],
  [{ ...MX, host: 'h' }, 'relays[0].host = "h": has no meaning for type mx; it is for type smtp (file)'],
  [{ ...MX, password: 'p' }, 'relays[0].password: has no meaning for type mx; it is for type smtp (file)'],
  [
    { ...MX, verify: false },
    'relays[0].verify = false: has no meaning for type mx; it is for type smtp (file)',
  ],
  [
    { ...GOOD, max_per_domain: 3 },
    'relays[0].max_per_domain = 3: has no meaning for type smtp; it is for type mx (file)',
  ],
  [{ ...GOOD, warmup_per_day: [50] }, 'relays[0].warmup_start: must be given with warmup_per_day (file)'],
  [
    { ...GOOD, warmup_start: '2026-02-30' },
    'relays[0].warmup_start = "2026-02-30": must be a day such as 2026-12-01, or null (file)',
  ],
  [
    { ...GOOD, quota_reserve_percent: 51 },
    'relays[0].quota_reserve_percent = 51: must be a whole number from 0 to 50 (file)',
  ],
  [{ ...MX, tls: 'none' }, 'relays[0].tls = "none": must be opportunistic or required with type mx (file)'],
  [
    { ...MX, source_ips: ['192.0.2.1'], ip_family: 'ipv6' },
    'relays[0].source_ips[0] = "192.0.2.1": is never used with ip_family: ipv6 (file)',
  ],
  [{ ...GOOD, password: 'p' }, 'relays[0].username: must be given with a password (file)'],
  [
    { ...GOOD, username: 'u', password: 'p', password_file: '/p' },
    'relays[0].password_file: password is given too; keep only one of them (file)',
  ],
])('a bad definition is refused: %j', (raw, line) => {
  expect(read(raw)).toEqual([line]);
});

test('a bad password is not shown', () => {
  expect(JSON.stringify(read({ ...GOOD, username: 'u', password: 'hunter2\n' }))).not.toContain('hunter2');
});
