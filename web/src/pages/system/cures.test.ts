import { expect, test } from 'vitest';
import { adviceOf, cureFor, pageFor, wordsOf } from './cures.ts';

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
