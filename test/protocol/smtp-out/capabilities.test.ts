/** What the peer's EHLO allows, and what is refused on our side because of it. */
import { expect, test } from 'vitest';
import { SINK_EXTENSIONS } from '../../peers/smtp-sink-script.ts';
import { kinds, type Mail, only, startRig } from './rig.ts';

const without = (word: string) => SINK_EXTENSIONS.filter((offered) => !offered.startsWith(word));
const transactions = (commands: readonly { line: string }[]) =>
  commands.filter(({ line }) => line.startsWith('MAIL')).map(({ line }) => line);

test('a message larger than the declared SIZE is rejected without being sent', async () => {
  const rig = await startRig({ sink: { extensions: ['SIZE 1000'] } });
  expect(only(await rig.deliver({ content: 'x'.repeat(1001) }))).toMatchObject({
    kind: 'rejected',
    enhanced: '5.3.4',
    hopBound: true,
  });
  expect(transactions(rig.sink.commands)).toEqual([]);
  expect(only(await rig.deliver({ content: `${'x'.repeat(998)}\r\n` })).kind).toBe('delivered');
});

test.each(['SIZE', 'SIZE 0', 'SIZE lots'])('%j declares no limit', async (size) => {
  const rig = await startRig({ sink: { extensions: [size] } });
  expect(only(await rig.deliver()).kind).toBe('delivered');
});

test.each<[string, Mail]>([
  ['the message', { flags: { utf8: true }, content: 'Subject: ü\r\n\r\nx\r\n' }],
  ['the sender', { from: 'jürgen@example.org' }],
  ['a recipient', { to: ['jürgen@example.net'] }],
])('SMTPUTF8 is asked for when %s needs it', async (_what, mail) => {
  const rig = await startRig();
  expect(only(await rig.deliver(mail)).kind).toBe('delivered');
  expect(rig.sink.messages[0]?.from).toMatch(/ SMTPUTF8$/);
  expect(rig.sink.messages[0]?.to).toEqual(mail.to ?? ['one@example.net']);
});

test.each<[string, Mail]>([
  ['the sender', { from: 'jürgen@example.org' }],
  ['a recipient', { to: ['jürgen@example.net'] }],
])('where SMTPUTF8 is not offered, %s that needs it makes it fail with 5.6.7', async (_what, mail) => {
  const rig = await startRig({ sink: { extensions: without('SMTPUTF8') } });
  const expected = { kind: 'rejected', enhanced: '5.6.7', cause: 'no_smtputf8', hopBound: true };
  expect(only(await rig.deliver(mail))).toMatchObject(expected);
  expect(transactions(rig.sink.commands)).toEqual([]);
});

test('parameters are not written for extensions that are not offered', async () => {
  const rig = await startRig({ sink: { extensions: [] } });
  await rig.deliver();
  expect(transactions(rig.sink.commands)).toEqual(['MAIL FROM:<sender@example.org>']);
});

test('the null reverse-path is written as such', async () => {
  const rig = await startRig({ sink: { extensions: [] } });
  await rig.deliver({ from: '' });
  expect(transactions(rig.sink.commands)).toEqual(['MAIL FROM:<>']);
});

test.each([
  'a@x.test>\r\nRCPT TO:<b@x.test',
  'a b@x.test',
  'a<b@x.test',
  'a\u0000@x.test',
  '',
  'a\u0085@x.test',
])('an address that would break the command never reaches the wire: %j', async (address) => {
  const rig = await startRig();
  const result = await rig.deliver({ to: [address, 'good@x.test'] });
  expect(kinds(result)).toEqual(['rejected', 'delivered']);
  expect(result.outcomes[0]).toEqual({
    kind: 'rejected',
    reply: expect.objectContaining({ enhanced: '5.1.3' }),
  });
  expect(rig.sink.messages[0]?.to).toEqual(['good@x.test']);
  if (address === '') return;
  const expected = { kind: 'rejected', enhanced: '5.1.7', hopBound: false };
  expect(only(await rig.deliver({ from: address }))).toMatchObject(expected);
  expect(rig.sink.taken).toBe(1);
});

test('with PIPELINING one write carries MAIL, every RCPT and DATA', async () => {
  const rig = await startRig();
  const waiting = Promise.withResolvers<void>();
  rig.sink.script.MAIL = { after: waiting.promise, reply: '250 2.1.0 ok' };
  const delivery = rig.deliver({ to: ['a@x.test', 'b@x.test'] });
  await rig.sink.until(() => transactions(rig.sink.commands).length === 1);
  waiting.resolve();
  expect(kinds(await delivery)).toEqual(['delivered', 'delivered']);
});

test('without PIPELINING no command is sent before the last one is answered', async () => {
  const rig = await startRig({ sink: { extensions: without('PIPELINING') } });
  const waiting = Promise.withResolvers<void>();
  rig.sink.script.RCPT = ({ session }) =>
    session.to.length === 0 ? { after: waiting.promise, reply: '250 2.1.5 ok' } : undefined;
  const delivery = rig.deliver({ to: ['a@x.test', 'b@x.test'] });
  await rig.sink.until(() => rig.sink.commands.at(-1)?.line === 'RCPT TO:<a@x.test>');
  waiting.resolve();
  expect(kinds(await delivery)).toEqual(['delivered', 'delivered']);
});

test('a server that knows only HELO is spoken to in plain SMTP', async () => {
  const rig = await startRig({ sink: { script: { EHLO: '502 5.5.1 unknown' } } });
  expect(only(await rig.deliver()).kind).toBe('delivered');
  expect(rig.sink.commands.slice(0, 3).map(({ line }) => line)).toEqual([
    'EHLO client.example',
    'HELO client.example',
    'MAIL FROM:<sender@example.org>',
  ]);
});

test('a relay may have a name of its own for EHLO', async () => {
  const rig = await startRig({ smtp: { helo: 'other.example' } });
  await rig.deliver();
  expect(rig.sink.commands[0]?.line).toBe('EHLO other.example');
});

test('a name of our own that cannot be written is refused before we connect', async () => {
  const rig = await startRig({ smtp: { helo: 'two words' } });
  await expect(rig.deliver()).rejects.toThrow(RangeError);
  expect(rig.sink.connections).toBe(0);
});
