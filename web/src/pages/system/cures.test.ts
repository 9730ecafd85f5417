import { expect, test } from 'vitest';
import { adviceOf, cureFor, pageFor, summaryOf, wordsOf } from './cures.ts';

test.each([
  ['relay out', 'Relay out'],
  ['quota of out', 'Relay out'],
  ['default relay', 'Add a relay'],
  ['captured', 'Add a relay'],
  ['all_captured', undefined],
  ['relays', 'Relays'],
  ['hold direct/example.com', 'Queue'],
  ['domain example.com', 'Domain example.com'],
  ['route to-the-inbox', 'Routes'],
  ['certificate order', 'Certificate'],
  ['tls reports', 'Domains'],
  ['disk', 'Storage'],
  ['disk flush', undefined],
  ['open relay', 'SMTP listener'],
  ['open files', undefined],
])('of %s the cure is behind %j', (name, label) => {
  expect(cureFor(name)?.label).toBe(label);
});

test.each([
  ['waybill queue resume direct/example.com', { to: '/queue', search: { relay: 'direct' } }],
  ['waybill relays enable out', { to: '/relays/$name', params: { name: 'out' } }],
  ['waybill relays list', { to: '/relays' }],
  ['waybill routes publish FILE', { to: '/routes' }],
  ['waybill doctor', { to: '/system', search: { tab: 'doctor' } }],
  ['waybill serve', undefined],
])('what %s does can be done on %j', (command, target) => {
  expect(pageFor(command)?.target).toEqual(target);
});

test('where there is a button, advice comes without its command line', () => {
  expect(wordsOf('refused us: 535. Correct the relay, then: waybill relays test out. Another.')).toBe(
    'refused us: 535. Correct the relay. Another.',
  );
  expect(wordsOf('Add it, or publish rules without it: waybill routes publish FILE.')).toBe(
    'Add it, or publish rules without it.',
  );
  expect(adviceOf('waybill relays enable out')).toBeNull();
  expect(adviceOf('correct its user name or secret, then: waybill relays test out')).toBe(
    'correct its user name or secret',
  );
  expect(adviceOf('show the whole conversation: waybill relays test out')).toBeNull();
  expect(
    adviceOf('put back the earlier secret.key; or remove it and add it again: waybill relays remove out'),
  ).toBe('put back the earlier secret.key; or remove it and add it again');
});

test.each([
  ['server: { public_url: "https://mail.example.com" }', null],
  ['listener: { require_auth: true }  # or put a proxy before it: listener.trusted_proxies', null],
  ['relays: [{ name: out, warmup_start: 2026-11-28 }]  # to begin today', null],
  [
    'relays: source_ips of out: 192.0.2.1; or give the address to an interface: sudo ip address add 192.0.2.2 dev eth0',
    'give the address to an interface: sudo ip address add 192.0.2.2 dev eth0',
  ],
  ['get one for mail.example.com, or: server: { hostname: … }', 'get one for mail.example.com'],
  [
    'let another relay send the rest, in its rule: via: [out, other]; or allow more: max_per_day of out',
    'let another relay send the rest, in its rule; or allow more: max_per_day of out',
  ],
])('of the advice %j what is no line of a file is told', (cure, advice) => {
  expect(adviceOf(cure)).toBe(advice);
});

test('of several faults each is told without the command line that a button stands for', () => {
  const relays = {
    name: 'relays',
    status: 'degraded',
    detail: 'It refuses us. Correct the relay, then: waybill relays test out.',
  } as const;
  const ports = { name: 'ports', status: 'degraded', detail: 'Port 25 is not bound.' } as const;
  const well = { name: 'disk', status: 'healthy', detail: 'There is space.' } as const;
  const message = `${relays.detail} ${ports.detail}`;
  expect(summaryOf({ message, checks: [relays, well, ports] })).toBe(
    'It refuses us. Correct the relay. Port 25 is not bound.',
  );
  expect(summaryOf({ message: 'All is well.', checks: [well] })).toBe('All is well.');
});
