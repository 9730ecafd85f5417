import { expect, test } from 'vitest';
import { shownHello, shownReply } from './session-note.ts';

/** No address of anybody is in the log of requests. */

test.each([
  ['<bob@example.org> is suppressed: hard_bounce', '<…> is suppressed: hard_bounce'],
  ['Syntax: MAIL FROM:<address>, then parameters', 'Syntax: MAIL FROM:<…>, then parameters'],
  ['strangers may send only to <postmaster>', 'strangers may send only to <postmaster>'],
  ['"ann smith"@example.org is no address', '… is no address'],
  ['bob+tag@example.org, ann@[192.0.2.1]', '…, …'],
  ['bound by <ann@example.org', 'bound by <…>'],
])('%s', (text, shown) => {
  expect(shownReply(text)).toBe(shown);
});

test('a name and a reply have a length', () => {
  expect(shownHello('printer.office')).toBe('printer.office');
  expect(shownHello('[192.168.7.20]')).toBe('[192.168.7.20]');
  expect(shownHello('x'.repeat(500))).toHaveLength(80);
  expect(shownReply('x'.repeat(500))).toHaveLength(200);
});
