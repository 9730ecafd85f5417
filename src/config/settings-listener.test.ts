import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { resolve } from './resolve.ts';
import { LISTENER_SETTINGS } from './settings-listener.ts';

const FILE = { path: '/etc/waybill.yaml', text: '' };

function read(environment: string) {
  const { config, faults } = resolve({
    environment: { WAYBILL_LISTENER__ALLOWED_CIDRS: '192.0.2.0/24', WAYBILL_LISTENER__SOURCES: environment },
    file: FILE,
    stored: { settings: new Map(), relays: [] },
    readSecret: () => '',
  });
  const here = ' (environment WAYBILL_LISTENER__SOURCES)';
  const lines = faults.map(formatFault);
  for (const line of lines) expect(line.endsWith(here)).toBe(true);
  return lines.length > 0 ? lines.map((line) => line.slice(0, -here.length)) : config.listener.sources;
}

const GOOD = { name: 'printer-2', cidr: '192.0.2.7' };

test('a row of two members is a source without limits', () => {
  expect(read(JSON.stringify([GOOD]))).toEqual([{ ...GOOD, senderDomains: [], ratePerMinute: 0, tags: [] }]);
});

test('domains are compared as addresses have them, and a row is shown as the file would have it', () => {
  const row = {
    ...GOOD,
    cidr: '2001:db8::/32',
    sender_domains: ['Example.ORG', 'bücher.example'],
    rate_per_minute: 60,
    tags: ['scan'],
  };
  const [source] = resolve({
    environment: {},
    file: { ...FILE, text: `listener: { sources: ${JSON.stringify([row])} }` },
    stored: { settings: new Map(), relays: [] },
    readSecret: () => '',
  }).config.listener.sources;
  expect(source).toEqual({
    name: 'printer-2',
    cidr: '2001:db8::/32',
    senderDomains: ['example.org', 'xn--bcher-kva.example'],
    ratePerMinute: 60,
    tags: ['scan'],
  });
  const { kind } = LISTENER_SETTINGS['listener.sources'];
  expect(source && kind.inFile?.([source])).toEqual([
    { ...row, sender_domains: ['example.org', 'xn--bcher-kva.example'] },
  ]);
});

test('an empty text and an empty list name nobody', () => {
  expect([read(''), read('[]')]).toEqual([[], []]);
});

const ROW =
  'a map of name, cidr, sender_domains, rate_per_minute, tags, of which name and cidr must be given';

test.each<[string, unknown, string]>([
  ['a row that is no map', ['10.0.0.1'], `[0]: must be ${ROW}`],
  ['a row that is a list', [[GOOD]], `[0]: must be ${ROW}`],
  ['no list', { name: 'a' }, ` = {"name":"a"}: must be a list in which each element is ${ROW}`],
  ['no name', [{ cidr: '10.0.0.1' }], '[0].name: must be given'],
  ['no range', [GOOD, { name: 'b' }], '[1].cidr: must be given'],
  ['a bad name', [{ ...GOOD, name: 'Printer' }], '[0].name = "Printer": must be 1 to 64 of a-z 0-9 - _'],
  [
    'bits behind the prefix',
    [{ ...GOOD, cidr: '10.1.2.3/8' }],
    '[0].cidr = "10.1.2.3/8": has bits set behind its first 8; write 10.0.0.0/8 for all of it, or 10.1.2.3 for one host',
  ],
  ['a member that is none', [{ ...GOOD, tag: 'x' }], '[0].tag: no such field; did you mean tags?'],
  [
    'a domain that is none',
    [{ ...GOOD, sender_domains: ['example.org', 'a b'] }],
    '[0].sender_domains[1] = "a b": must be a domain',
  ],
  [
    'a rate that is none',
    [{ ...GOOD, rate_per_minute: '60' }],
    '[0].rate_per_minute = "60": must be a whole number from 0 to 10000000',
  ],
  [
    'too many tags',
    [{ ...GOOD, tags: Array.from({ length: 101 }, () => 'x') }],
    `[0].tags = ${JSON.stringify(Array.from({ length: 101 }, () => 'x')).slice(0, 100)}…: must be a list in which each element is 1 to 128 printable characters; at most 100`,
  ],
])('a fault names row, member and rule: %s', (_case, rows, line) => {
  expect(read(JSON.stringify(rows))).toEqual([`listener.sources${line}`]);
});

test('what is no JSON is refused as a whole', () => {
  expect(read('name: a, cidr: 10.0.0.1')).toEqual([
    `listener.sources = "name: a, cidr: 10.0.0.1": must be a list in which each element is ${ROW}`,
  ]);
});

test('every fault of every row is told at once', () => {
  const rows = [{ name: 'A', cidr: 'x' }, GOOD, { nmae: 'b', cidr: '10.0.0.1' }];
  const lines = read(JSON.stringify(rows));
  expect(lines).toHaveLength(4);
  expect(lines).toContain('listener.sources[2].nmae: no such field; did you mean name?');
});

test('more than a thousand rows are refused as a whole', () => {
  const rows = Array.from({ length: 1001 }, (_, index) => ({
    name: `n${index}`,
    cidr: `10.0.${index >> 8}.${index & 255}`,
  }));
  expect(read(JSON.stringify(rows))).toEqual([
    expect.stringMatching(/^listener\.sources = .*…: must be a list/),
  ]);
  expect(read(JSON.stringify(rows.slice(1)))).toHaveLength(1000);
});

test('more than a thousand sender domains of a row are refused', () => {
  const domains = Array.from({ length: 1001 }, (_, index) => `n${index}.example`);
  expect(read(JSON.stringify([{ ...GOOD, sender_domains: domains }]))).toEqual([
    expect.stringMatching(/^listener\.sources\[0\]\.sender_domains = .*…: must be a list/),
  ]);
  expect(read(JSON.stringify([{ ...GOOD, sender_domains: domains.slice(1) }]))).toHaveLength(1);
});
