import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type HandedIn,
  MAX_HANDED_IN_HEADER,
  passOn,
  readHandedIn,
  recipientKinds,
  wholeAddresses,
} from './handed-in.ts';

const never = () => false;

function read(text: string | Buffer): HandedIn {
  const found = readHandedIn([Buffer.from(text)], MAX_HANDED_IN_HEADER);
  if (found === null) throw new Error('the header is too large');
  return found;
}

/** What goes on of a message, with nothing put on top. */
const sent = (text: string, isDropped: Parameters<typeof passOn>[2] = never) =>
  Buffer.concat(passOn(read(text), '', isDropped).chunks).toString();

describe('the header ends', () => {
  test.each([
    ['at the empty line', 'A: 1\r\nB: 2\r\n\r\nC: 3\r\n', ['A', 'B']],
    ['with the message', 'A: 1\r\n', ['A']],
    ['before anything, when an empty line is first', '\r\nA: 1\r\n', []],
    ['not at a continuation that is blank', 'A: 1\r\n \t\r\nB: 2\r\n\r\n', ['A', 'B']],
    ['not at a blank before a colon', 'A : 1\r\nB\t: 2\r\n\r\n', ['A', 'B']],
    ['not at a control character in a value', 'A: \x01\x7f\r\nB: 2\r\n\r\n', ['A', 'B']],
  ])('%s', (_, text, names) => {
    expect(read(text).header.fields.map(({ name }) => name)).toEqual(names);
    expect(sent(text)).toBe(text);
  });

  test.each([
    ['plain text', 'Hello\r\nBob: hi\r\n', '\r\nHello\r\nBob: hi\r\n'],
    ['text that begins with a blank', ' A: 1\r\n\r\nx\r\n', '\r\n A: 1\r\n\r\nx\r\n'],
    [
      'text that only looks like a mailbox file',
      'From now on\r\nNote: x\r\n',
      '\r\nFrom now on\r\nNote: x\r\n',
    ],
    ['a line that is no field', 'A: 1\r\nhello\r\nB: 2\r\n', 'A: 1\r\n\r\nhello\r\nB: 2\r\n'],
    ['a name that is not ASCII', 'A: 1\r\nÄ: 2\r\n\r\nx\r\n', 'A: 1\r\n\r\nÄ: 2\r\n\r\nx\r\n'],
    ['a colon without a name', 'A: 1\r\n: 2\r\n\r\nx\r\n', 'A: 1\r\n\r\n: 2\r\n\r\nx\r\n'],
  ])('before %s, and an empty line is put in between', (_, text, whole) => {
    expect(read(text).header.brokenOff).toBe(true);
    expect(sent(text)).toBe(whole);
  });

  test('behind the line of a mailbox file, which is dropped', () => {
    const line = 'From a@x.test Fri Nov 20 11:15:00 2026\r\n';
    expect(sent(`${line}A: 1\r\n\r\nx\r\n`)).toBe('A: 1\r\n\r\nx\r\n');
    expect(sent(`>${line}A: 1\r\n\r\nx\r\n`)).toBe('A: 1\r\n\r\nx\r\n');
    expect(sent(`A: 1\r\n${line}\r\nx\r\n`)).toBe(`A: 1\r\n\r\n${line}\r\nx\r\n`);
  });
});

test('of nothing, nothing goes on', () => {
  expect(sent('')).toBe('');
  expect(readHandedIn([], 10)).toMatchObject({ subject: '', from: null, messageId: null });
});

test('a header may have as many bytes as allowed, and not one more, wherever it is cut', () => {
  const cut = (text: string, at: number) => [Buffer.from(text.slice(0, at)), Buffer.from(text.slice(at))];
  for (const rest of ['', '\r\n', '\r\nlong body\r\n'])
    for (const at of [0, 3, 6, 7, 8]) {
      expect(readHandedIn(cut(`A: b\r\n${rest}`, at), 6)?.header.sizeBytes, `${rest} ${at}`).toBe(6);
      expect(readHandedIn(cut(`A: bc\r\n${rest}`, at), 6), `${rest} ${at}`).toBeNull();
    }
});

describe('who it is shown to be from', () => {
  test.each([
    ['From: Jane <jane@x.test>\r\n', 'Jane <jane@x.test>'],
    ['From: jane@x.test (Jane)\r\n', 'jane@x.test'],
    ['From: Jane (Sales) <jane@x.test>\r\n', '"Jane (Sales)" <jane@x.test>'],
    ['From: =?utf-8?q?J=C3=B6rg?= <j@x.test>\r\n', 'Jörg <j@x.test>'],
    ['From: Jörg <j@x.test>\r\n', 'Jörg <j@x.test>'],
    ['from : a@x.test\r\nFROM: b@y.test\r\n', 'a@x.test'],
    ['From:\r\nFrom: b@y.test\r\n', 'b@y.test'],
    ['From: a@x.test, b@y.test\r\nSender:\r\n c@z.test\r\n', 'a@x.test'],
    ['Sender: c@z.test\r\nSubject: x\r\n', null],
    ['Subject: x\r\n', null],
    ['From:\r\n', null],
    ['From: root\r\n', null],
    ['From: Doe, Jane <j@x.test>\r\n', null],
    [`From: ${Array(51).fill('a@x.test').join(', ')}\r\n`, null],
  ])('%j', (text, from) => expect(read(text).from).toBe(from));
});

test('Subject and Message-ID are told on one line and cut, whatever they are; the first one counts', () => {
  const found = read(
    `Subject: =?utf-8?q?a=0Db?=\r\nSubject: c\r\nMessage-ID:\r\nMessage-ID: odd\x01id\r\n\r\n`,
  );
  expect(found).toMatchObject({ subject: 'a b', messageId: 'odd id' });
  const long = read(`Subject: ${'ä'.repeat(5000)}\r\nMessage-ID: <${'a'.repeat(5000)}>\r\n\r\n`);
  expect([long.subject.length, long.messageId?.length]).toEqual([2000, 900]);
});

test('an empty Date and an empty Message-ID are as good as none, and are dropped; odd ones stay', () => {
  expect(read('Date: \r\nMessage-ID:\r\n')).toMatchObject({ hasDate: false, messageId: null });
  expect(sent('Date: \r\nMessage-ID:\r\nA: 1\r\n\r\n')).toBe('A: 1\r\n\r\n');
  const odd = 'Date: tomorrow\r\nDate:\r\nMessage-ID: x\r\nMessage-ID:\r\n\r\n';
  expect(read(odd)).toMatchObject({ hasDate: true, messageId: 'x' });
  expect(sent(odd)).toBe(odd);
});

test('Received fields are counted', () =>
  expect(read('Received: a\r\nX: b\r\nRECEIVED : c\r\n\r\nReceived: d\r\n').received).toBe(2));

test('a recipient is of the kind that To and Cc say, by the whole address', () => {
  const kind = recipientKinds(
    read('To: B <b@y.test>, "C" <c@y.test>\r\nCc: D@Y.test (x),\r\n b@y.test\r\n\r\n'),
  );
  expect(['b@y.test', 'c@y.test', 'd@y.test', 'bb@y.test', 'y.test'].map((address) => kind(address))).toEqual(
    ['to', 'to', 'cc', 'bcc', 'bcc'],
  );
});

describe('8-bit text', () => {
  const flags = (text: string | Buffer) => {
    const { eightBit, eightBitHeader } = passOn(
      read(text),
      'Received: x\r\n',
      ({ name }) => name === 'X-Drop',
    );
    return [eightBit, eightBitHeader];
  };

  test.each([
    ['A: b\r\n\r\nx\r\n', [false, false]],
    ['A: b\r\n\r\né\r\n', [true, false]],
    ['A: é\r\n\r\nx\r\n', [true, true]],
    ['A: b\r\né\r\n', [true, false]],
    ['Bcc: é\r\nX-Drop: é\r\n\r\nx\r\n', [false, false]],
    ['X-Drop: é\r\nA: b\r\n\r\né\r\n', [true, false]],
    ['Subject: é', [true, true]],
  ])('%j', (text, expected) => expect(flags(`${text.replace(/\r\n$/, '')}\r\n`)).toEqual(expected));

  test('in no charset that can be told is passed on byte by byte', () => {
    const bytes = Buffer.from('Subject: Gr\xfc\xdfe\r\n\r\n\xe4\r\n', 'latin1');
    expect(read(bytes).subject).toBe('Gr\ufffd\ufffde');
    expect(Buffer.concat(passOn(read(bytes), '', never).chunks).equals(bytes)).toBe(true);
  });
});

const line = fc.constantFrom(
  'A: b',
  'Bcc: c@x.test',
  ' folded',
  'X-Drop: d',
  'no field',
  '',
  'É: é',
  'body',
  '.',
);
const message = fc
  .array(line, { maxLength: 10 })
  .map((lines) => Buffer.from(lines.map((text) => `${text}\r\n`).join('')));

test('in whatever cuts a message comes, the same goes on, and its body is a view of what came', () => {
  const property = fc.property(message, fc.array(fc.nat(60), { maxLength: 6 }), (bytes, places) => {
    const ends = [...places.map((place) => Math.min(place, bytes.length)), bytes.length].sort(
      (a, b) => a - b,
    );
    const chunks = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
    const cut = readHandedIn(chunks, MAX_HANDED_IN_HEADER);
    if (cut === null) throw new Error('the header is too large');
    const { header, subject, from } = read(bytes);
    expect(cut.header).toEqual(header);
    expect(cut).toMatchObject({ subject, from });
    const on = passOn(cut, 'Z: z\r\n', ({ name }) => name === 'X-Drop');
    const whole = passOn(read(bytes), 'Z: z\r\n', ({ name }) => name === 'X-Drop');
    expect(Buffer.concat(on.chunks).equals(Buffer.concat(whole.chunks))).toBe(true);
    expect([on.eightBit, on.eightBitHeader]).toEqual([whole.eightBit, whole.eightBitHeader]);
    for (const piece of cut.rest) expect(chunks.some(({ buffer }) => buffer === piece.buffer)).toBe(true);
  });
  fc.assert(property, { numRuns: 5000 });
});

test.each([
  ['root', 'root@h', ['root@h']],
  ['root (Cron Daemon)', 'root@h (Cron Daemon)', ['root@h']],
  ['Jane <jane>, b@x.example', 'Jane <jane@h>, b@x.example', ['jane@h', 'b@x.example']],
  ['"A, (B" <a@x.example>,c', '"A, (B" <a@x.example>,c@h', ['a@x.example', 'c@h']],
  ['"odd name"', '"odd name"@h', ['"odd name"@h']],
  ['"odd@name"@x.example', '"odd@name"@x.example', ['"odd@name"@x.example']],
  [
    'staff: jane, joe@x.example; root',
    'staff: jane@h, joe@x.example; root@h',
    ['jane@h', 'joe@x.example', 'root@h'],
  ],
  ['undisclosed-recipients:;', 'undisclosed-recipients:;', []],
  ['<@relay.example:a@x.example>', '<@relay.example:a@x.example>', ['a@x.example']],
  ['Nobody <>', 'Nobody <>', []],
  ['a (b (c) "), d', 'a@h (b (c) "), d@h', ['a@h', 'd@h']],
  ['', '', []],
])('an address without a domain gets one, whatever surrounds it: %j', (value, text, addresses) => {
  expect(wholeAddresses(value, 'h')).toEqual({ text, addresses });
});

test('what is no address list stays as it is, in linear time', () => {
  for (const value of ['('.repeat(50_000), '"'.repeat(50_001), '<'.repeat(50_000), '\\'.repeat(50_000)])
    expect(wholeAddresses(value, 'h').text.replace('@h', '')).toBe(value);
});
