/** What a hop does not take is converted for it, or refused by name; never sent as it is. */
import { expect, test } from 'vitest';
import { MAX_CONVERTED_BYTES } from '../../../src/transport/smtp/hop-forms.ts';
import { SINK_EXTENSIONS } from '../../peers/smtp-sink-script.ts';
import { linesOf, type Mail, only, type Rig, startRig } from './rig.ts';

const without = (...words: string[]) =>
  SINK_EXTENSIONS.filter((offered) => !words.some((word) => offered.startsWith(word)));
const HEADER = 'MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n';
const EIGHT_BIT: Mail = {
  content: `Subject: x\r\n${HEADER}Content-Transfer-Encoding: 8bit\r\n\r\nü\r\n`,
  flags: { eightBit: true },
};
const UTF8: Mail = { content: `Subject: ü\r\n${HEADER}\r\nü\r\n`, flags: { eightBit: true, utf8: true } };
const SIGNED: Mail = {
  content: 'Content-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\nü\r\n--b--\r\n',
  flags: { eightBit: true },
};
const ENCODED = `Subject: x\r\n${HEADER}Content-Transfer-Encoding: quoted-printable\r\n\r\n=C3=BC\r\n`;
const LONG = `Subject: x\r\n${HEADER}\r\n${'x'.repeat(999)}\r\n`;

const sent = (rig: Rig) => rig.sink.messages.at(-1)?.content.toString();
const began = (rig: Rig) => rig.sink.commands.some(({ line }) => line.startsWith('MAIL'));

test('8-bit content goes as it is where 8BITMIME is offered, and is declared', async () => {
  const rig = await startRig();
  expect(only(await rig.deliver(EIGHT_BIT)).kind).toBe('delivered');
  expect(rig.sink.messages[0]?.from).toMatch(/ BODY=8BITMIME$/);
  expect(sent(rig)).toBe(EIGHT_BIT.content);
});

test('else it is converted, with its new size declared, the same way every time', async () => {
  const rig = await startRig({ sink: { extensions: without('8BITMIME', 'SMTPUTF8') } });
  for (let time = 0; time < 2; time++) {
    expect(only(await rig.deliver(EIGHT_BIT)).kind).toBe('delivered');
    expect(sent(rig)).toBe(ENCODED);
    expect(rig.sink.messages.at(-1)?.from).toBe(`<sender@example.org> SIZE=${ENCODED.length}`);
  }
});

test.each([
  ['without SMTPUTF8 the header is written in ASCII, and the body stays', without('SMTPUTF8'), 'ü'],
  ['without 8BITMIME the body is encoded too', without('SMTPUTF8', '8BITMIME'), '=C3=BC'],
  ['SMTPUTF8 without 8BITMIME counts as neither', without('8BITMIME'), '=C3=BC'],
])('%s', async (_what, extensions, body) => {
  const rig = await startRig({ sink: { extensions } });
  expect(only(await rig.deliver(UTF8)).kind).toBe('delivered');
  expect(sent(rig)).toContain('Subject: =?utf-8?B?w7w=?=\r\n');
  expect(sent(rig)).toContain(`\r\n\r\n${body}\r\n`);
  expect(rig.sink.messages[0]?.from).not.toContain('SMTPUTF8');
});

test('a header of unknown charset needs 8BITMIME only, as from any device', async () => {
  const content = [Buffer.from('Subject: \xfc\r\n\r\nx\r\n', 'latin1')];
  const rig = await startRig({ sink: { extensions: without('SMTPUTF8') } });
  expect(only(await rig.deliver({ content, flags: { eightBit: true } })).kind).toBe('delivered');
  expect(rig.sink.messages[0]?.content).toEqual(content[0]);
});

test.each<[string, string[], Mail, string, string, boolean]>([
  ['a signed part', without('8BITMIME', 'SMTPUTF8'), SIGNED, '5.6.3', 'no_8bitmime', true],
  [
    'an address in a header that is not ASCII',
    without('SMTPUTF8'),
    { content: 'From: jürgen@x.test\r\n\r\nx\r\n', flags: { eightBit: true, utf8: true } },
    '5.6.7',
    'no_smtputf8',
    true,
  ],
  [
    'a signed part with a long line',
    SINK_EXTENSIONS,
    {
      content: `Content-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\n${'x'.repeat(999)}\r\n--b--\r\n`,
    },
    '5.6.0',
    'line_too_long',
    // By every hop, so that there is no other to go to.
    false,
  ],
])('%s fails by name, and nothing is said', async (_what, extensions, mail, enhanced, cause, hopBound) => {
  const rig = await startRig({ sink: { extensions }, pool: { maxConnections: 1 } });
  expect(only(await rig.deliver(mail))).toMatchObject({
    kind: 'rejected',
    hopFailed: false,
    enhanced,
    cause,
    hopBound,
  });
  expect(began(rig)).toBe(false);
  expect(only(await rig.deliver()).kind).toBe('delivered');
  expect(rig.sink.connections).toBe(1);
});

test('lines of 998 bytes go as they are, longer ones are encoded', async () => {
  const rig = await startRig();
  const short = LONG.replace('xx', 'x');
  await rig.deliver({ content: short });
  expect(sent(rig)).toBe(short);
  expect(only(await rig.deliver({ content: LONG })).kind).toBe('delivered');
  expect(sent(rig)).toContain('Content-Transfer-Encoding: quoted-printable\r\n');
  expect(sent(rig)?.replaceAll('=\r\n', '')).toContain(`\r\n\r\n${'x'.repeat(999)}\r\n`);
});

test('a long line is found wherever the chunks are cut, in a large content too', async () => {
  const rig = await startRig();
  const content = [Buffer.from('Subject: x\r\n\r\n'), linesOf(100_000)];
  for (let piece = 0; piece < 9; piece++) content.push(Buffer.from('y'.repeat(111)));
  await rig.deliver({ content: [...content, Buffer.from('\r\n')] });
  expect(sent(rig)).toContain('quoted-printable');
  await rig.deliver({
    content: [...content.slice(1), Buffer.from('\r\n')].with(-2, Buffer.from('y'.repeat(110))),
  });
  expect(sent(rig)).not.toContain('quoted-printable');
});

test('what has outgrown the declared SIZE by being converted is refused with 5.3.4', async () => {
  const rig = await startRig({ sink: { extensions: ['SIZE 2000'] } });
  const mail = { content: `Subject: x\r\n\r\n${'ü'.repeat(400)}\r\n`, flags: { eightBit: true } };
  const expected = { kind: 'rejected', enhanced: '5.3.4', hopBound: true };
  expect(only(await rig.deliver(mail))).toMatchObject(expected);
  expect(began(rig)).toBe(false);
});

test('a content too large to be converted is refused by name', async () => {
  const rig = await startRig({ sink: { extensions: without('8BITMIME', 'SMTPUTF8') } });
  const content = [Buffer.from('Subject: x\r\n\r\nü\r\n'), linesOf(MAX_CONVERTED_BYTES)];
  const answer = only(await rig.deliver({ content, flags: { eightBit: true } }));
  expect(answer).toMatchObject({
    kind: 'rejected',
    enhanced: '5.6.3',
    cause: 'no_8bitmime',
    hopBound: true,
  });
  expect(answer.text).toContain(`${MAX_CONVERTED_BYTES} bytes`);
});

test('only so many are converted at once; the others wait', async () => {
  const waiting = Promise.withResolvers<void>();
  const script = { MAIL: { after: waiting.promise, reply: '250 2.1.0 ok' } };
  const rig = await startRig({
    sink: { extensions: without('8BITMIME', 'SMTPUTF8', 'SIZE'), script, keep: 'envelope' },
  });
  const content = [Buffer.from('Subject: x\r\n\r\nü\r\n'), linesOf(12 * 1024 * 1024)];
  const mail = { content, flags: { eightBit: true } };
  const deliveries = Array.from({ length: 6 }, () => rig.deliver(mail));
  const refused = await Promise.race(deliveries);
  expect(only(refused)).toMatchObject({ kind: 'deferred', cause: 'conversion_busy', hopFailed: false });
  waiting.resolve();
  const kinds = (await Promise.all(deliveries)).map((result) => only(result).kind);
  expect(kinds).toContain('delivered');
  expect(only(await rig.deliver(mail)).kind).toBe('delivered');
});
