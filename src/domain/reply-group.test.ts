import { expect, test } from 'vitest';
import type { Reply } from './outcome.ts';
import { replyGroupOf } from './reply-group.ts';

const reply = (text: string, more: Partial<Reply> = {}): Reply => ({
  code: 550,
  enhanced: '5.1.1',
  cause: 'smtp_reply',
  text,
  ...more,
});
const groupOf = (...args: Parameters<typeof reply>) => replyGroupOf(reply(...args)).group;

test.each([
  ['<ann@example.org>: Recipient address rejected', '<bob@other.example>: Recipient address rejected'],
  [
    'The account does not exist. qt21-20020a170906ecf5b00a2f si4523 - gsmtp',
    'The account does not exist. a640c23a62f3a-abb7f0a1c2d si9981234 - gsmtp',
  ],
  ['Throttled 198.51.100.7 for 300s (try 2)', 'Throttled 2001:db8::17 for 60s (try 11)'],
  [
    'host mx1.example.org said: mailbox full, id=4F3A9C21',
    'host in-7.mail.example.com said: mailbox full, id=99AB00CC',
  ],
  ['see https://example.org/a?b=1', 'see https://example.org/c'],
])('replies that differ only in details are one group: %s', (one, other) => {
  expect(groupOf(one)).toBe(groupOf(other));
});

test('what a reply says stays', () => {
  expect(groupOf('5.1.1 User unknown in RFC5321 mailbox table')).toBe(
    '550 5.1.1 User unknown in RFC5321 mailbox table',
  );
  expect(groupOf('User unknown')).not.toBe(groupOf('User unknown', { code: 450, enhanced: '4.1.1' }));
  const none = { code: null, enhanced: '4.4.1', cause: 'connect_refused' };
  expect(groupOf('mx.example.org:25 refused the connection', none)).toBe(
    'connect_refused [host] refused the connection',
  );
  expect(groupOf('')).toBe('550 5.1.1');
});

test('an example keeps details, but no addresses', () => {
  const { example } = replyGroupOf(reply('<ann@example.org>:   over quota by 17\tMB'));
  expect(example).toBe('550 5.1.1 <[address]>: over quota by 17 MB');
});

test('a long and hostile text is cut, and costs little', () => {
  const texts = ['a.'.repeat(500), '1:'.repeat(500), 'x-'.repeat(500), 'word '.repeat(200)];
  for (const text of texts) {
    const { group, example } = replyGroupOf(reply(text));
    expect(group.length).toBeLessThanOrEqual(200);
    expect(example.length).toBeLessThanOrEqual(300);
  }
});
