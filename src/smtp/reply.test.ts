import { expect, test } from 'vitest';
import {
  describeReply,
  MAX_TEXT,
  providerMessageId,
  REPLY_LIMITS,
  ReplyParser,
  type SmtpReply,
} from './reply.ts';

function parse(wire: string | Buffer): { replies: SmtpReply[]; fault: string | null } {
  const parser = new ReplyParser();
  parser.push(Buffer.from(wire as string));
  const replies: SmtpReply[] = [];
  for (let reply = parser.next(); reply; reply = parser.next()) replies.push(reply);
  return { replies, fault: parser.fault };
}

test('one line, several lines, several replies', () => {
  const { replies, fault } = parse('220 hello\r\n250-one\r\n250-two\r\n250 three\r\n354\r\n');
  expect(fault).toBeNull();
  expect(replies.map(({ code, text }) => [code, text])).toEqual([
    [220, 'hello'],
    [250, 'one two three'],
    [354, ''],
  ]);
  expect(replies[1]?.lines).toEqual(['one', 'two', 'three']);
});

test.each([
  ['250 2.1.5 ok', '2.1.5', 'ok'],
  ['550-5.1.1 no\r\n550 5.1.1 such user', '5.1.1', 'no such user'],
  ['550 5.1.1', '5.1.1', ''],
  ['550 4.1.1 class of another code', null, 'class of another code'],
  ['250 2.1.5.7 no code', null, '2.1.5.7 no code'],
  ['354 3.0.0 no such class', null, '3.0.0 no such class'],
])('%j: enhanced code %j', (wire, enhanced, text) => {
  expect(parse(`${wire}\r\n`).replies[0]).toMatchObject({ enhanced, text });
});

test('a line may end in LF alone', () => {
  expect(parse('250-a\n250 b\n').replies[0]?.text).toBe('a b');
});

test.each([
  ['hello\r\n', 'malformed'],
  ['\r\n', 'malformed'],
  ['150 early\r\n', 'malformed'],
  ['600 late\r\n', 'malformed'],
  ['2500 four\r\n', 'malformed'],
  ['250-a\r\n251 b\r\n', 'mixed_codes'],
  ['250-a\r\n'.repeat(REPLY_LIMITS.maxLines + 1), 'too_many_lines'],
  [`250 ${'x'.repeat(REPLY_LIMITS.maxLineBytes)}`, 'line_too_long'],
  [`250 ${'x'.repeat(REPLY_LIMITS.maxLineBytes - 3)}\r\n`, 'line_too_long'],
])('%j is a fault: %s', (wire, fault) => {
  expect(parse(wire)).toEqual({ replies: [], fault });
});

test('exactly as much as is allowed is read', () => {
  const line = `250 ${'x'.repeat(REPLY_LIMITS.maxLineBytes - 4)}\r\n`;
  expect(parse(line).replies).toHaveLength(1);
  const many = `${'250-a\r\n'.repeat(REPLY_LIMITS.maxLines - 1)}250 b\r\n`;
  expect(parse(many).replies).toHaveLength(1);
});

test('replies before a fault are still given', () => {
  expect(parse('250 ok\r\nnonsense\r\n')).toMatchObject({ replies: [{ code: 250 }], fault: 'malformed' });
});

test('text is decoded, cleaned and bounded', () => {
  expect(parse('550 grüße\u0007\u202e!\r\n').replies[0]?.text).toBe('grüße  !');
  expect(parse(Buffer.from('550 \xff\r\n', 'latin1')).replies[0]?.text).toBe('\ufffd');
  const long = parse(`550-${'x'.repeat(900)}\r\n550 ${'😀'.repeat(200)}\r\n`).replies[0];
  expect(long?.text.length).toBeLessThanOrEqual(MAX_TEXT);
  expect(long?.text.isWellFormed()).toBe(true);
});

test('a reply can be put in one line', () => {
  const [reply] = parse('550-5.1.1 no\r\n550 5.1.1 such user\r\n').replies;
  if (!reply) throw new Error('no reply');
  expect(describeReply(reply, 100)).toBe('550 5.1.1 no such user');
  expect(describeReply(reply, 12)).toBe('550 5.1.1 no');
});

test.each([
  ['Postfix', 'Ok: queued as 4Q2xYz1abcD', '4Q2xYz1abcD'],
  ['Waybill', 'Ok: queued as msg_01k9f8z7c6v5b4n3m2a1s0d9f8', 'msg_01k9f8z7c6v5b4n3m2a1s0d9f8'],
  ['Haraka', 'Message Queued (ok) queued as 5A1B-2', '5A1B-2'],
  ['Exim', 'OK id=1rAbCd-0001aB-2C', '1rAbCd-0001aB-2C'],
  [
    'Exchange',
    '<m@x.test> [InternalId=103079215105, Hostname=A.B.C] 8118 bytes in 0.1, 50 KB/sec Queued mail for delivery',
    '103079215105',
  ],
  ['Gmail', 'OK  1700000000 a1-20020a05620a.123 - gsmtp', 'a1-20020a05620a.123'],
  ['sendmail', '3AB1cD2e012345 Message accepted for delivery', '3AB1cD2e012345'],
  ['OpenSMTPD', 'a1b2c3d4: Message accepted for delivery', 'a1b2c3d4'],
  ['qmail', 'ok 1700000000 qp 12345', 'qp 12345'],
  ['Amazon SES', 'Ok 0102018c0f1e2d3c-4b5a6978-1234-000000', '0102018c0f1e2d3c-4b5a6978-1234-000000'],
])('%s', (_server, text, id) => {
  expect(providerMessageId(text)).toBe(id);
});

test.each(['Ok', 'Great success', 'Message accepted for delivery', ''])('no id in %j', (text) => {
  expect(providerMessageId(text)).toBeNull();
});
