/** Lists in the configuration: what is said of an element that is wrong. */
import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { integer, type Kind, orNull } from './kinds.ts';
import { resolve } from './resolve.ts';

function firstFault(yaml: string): string | undefined {
  const { faults } = resolve({
    environment: {},
    file: { path: '/etc/waybill.yaml', text: yaml },
    stored: { settings: new Map(), relays: [] },
    readSecret: () => '',
  });
  return faults.map(formatFault)[0];
}

test.each([
  [
    'listener: { allowed_cidrs: [10.0.0.0/8, 10.0.0.300/8] }',
    'listener.allowed_cidrs[1] = "10.0.0.300/8": not an IP address or range such as 10.0.0.0/8 or fd00::/8: 300 is more than 255',
  ],
  [
    'api: { allowed_cidrs: [10.1.2.3/8] }',
    'api.allowed_cidrs[0] = "10.1.2.3/8": has bits set behind its first 8; write 10.0.0.0/8 for all of it, or 10.1.2.3 for one host',
  ],
  [
    'webui: { allowed_cidrs: [10.0.0.0/8, "2001:db8::1/200"] }',
    'webui.allowed_cidrs[1] = "2001:db8::1/200": the prefix may have at most 128 bits',
  ],
  ['listener: { ports: [25, 99999] }', 'listener.ports[1] = 99999: must be a port from 0 to 65535'],
  [
    'api: { cors_origins: ["https://a.example", "b.example/x"] }',
    'api.cors_origins[1] = "b.example/x": must be an origin such as https://app.example.com, without a path',
  ],
])('%j is refused by the element that is wrong, with why', (yaml, line) => {
  expect(firstFault(yaml)).toContain(`${line} (`);
});

test.each<[kind: Kind<number | null>, text: string, value: number | undefined]>([
  [integer(0, 1e15, 'bytes'), '500GiB', 500 * 1024 ** 3],
  [integer(0, 1e15, 'bytes'), '10 MB', 10_000_000],
  [integer(0, 1e15, 'bytes'), '7B', 7],
  [integer(0, 1e15, 'bytes'), '10mb', undefined],
  [integer(0, 1e15, 'bytes'), '1.5GiB', undefined],
  [integer(0, 1e15, 'bytes'), '2h', undefined],
  [integer(0, 1e15, 'bytes'), '999999999TiB', undefined],
  [integer(1, 3600, 'seconds'), '1h', 3600],
  [integer(1, 3600, 'seconds'), '2h', undefined],
  [integer(1, 3600, 'seconds'), '1500ms', undefined],
  [integer(1, 3600, 'seconds'), '2000ms', 2],
  [integer(1, 3600, 'seconds'), '75', 75],
  [integer(1, 3600, 'seconds'), '-1s', undefined],
  [integer(1, 100, 'minutes'), '90s', undefined],
  [integer(1, 100, 'minutes'), '1min', 1],
  [integer(0, 100, 'ms'), '5ms', 5],
  [integer(0, 100, 'hours'), '2d', 48],
  [integer(0, 100, 'days'), '48h', 2],
  [orNull(integer(0, 100, 'days')), '7d', 7],
  [integer(0, 100, 'streams'), '7d', undefined],
  [integer(0, 100), '7B', undefined],
])('of a size or a time, a whole number with a unit is read: %#', (kind, text, value) => {
  expect(kind.read(kind.fromText(text))).toBe(value);
});
