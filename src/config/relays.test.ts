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

const GOOD = { name: 'out', type: 'smtp', host: 'smtp.example.net' };

test('a definition of three fields is a relay with the defaults', () => {
  expect(read(GOOD)).toEqual({
    name: 'out',
    type: 'smtp',
    limits: { maxConcurrency: 20, maxRatePerSecond: 0, maxMessageBytes: 0, maxRecipients: 100 },
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
    },
  });
});

test('implicit TLS has its own usual port, and a given port wins', () => {
  expect(read({ ...GOOD, tls: 'implicit' })).toMatchObject({ smtp: { port: 465 } });
  expect(read({ ...GOOD, tls: 'implicit', port: 2465 })).toMatchObject({ smtp: { port: 2465 } });
});

test('the password may lie in a file', () => {
  expect(read({ ...GOOD, username: 'u', password_file: '/p' })).toMatchObject({ smtp: { password: 'pw' } });
  expect(read({ ...GOOD, username: 'u', password_file: '/gone' })).toEqual([
    'relays[0].password_file = "/gone": cannot be read: Error: no such file (file)',
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
    { ...GOOD, type: 'ses' },
    'relays[0].type = "ses": is not in this version; it knows smtp and the built-in inbox (file)',
  ],
  [{ ...GOOD, type: 'pigeon' }, 'relays[0].type = "pigeon": must be smtp (file)'],
  [
    { ...GOOD, tls: 'none', username: 'u' },
    'relays[0].tls = "none": must not be none with a username: no AUTH without TLS (file)',
  ],
  [{ ...GOOD, password: 'p' }, 'relays[0].username: must be given with a password (file)'],
  [
    { ...GOOD, username: 'u', password: 'p', password_file: '/p' },
    'relays[0].password_file: password is given too; keep one of them (file)',
  ],
])('a bad definition is refused: %j', (raw, line) => {
  expect(read(raw)).toEqual([line]);
});

test('a bad password is not shown', () => {
  expect(JSON.stringify(read({ ...GOOD, username: 'u', password: 'hunter2\n' }))).not.toContain('hunter2');
});
