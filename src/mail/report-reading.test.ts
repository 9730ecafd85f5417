import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  MAX_FIELD_VALUE,
  MAX_GROUP_FIELDS,
  MAX_REPORT_BYTES,
  MAX_REPORT_DEPTH,
  MAX_REPORT_GROUPS,
  MAX_REPORT_HEADER,
  MAX_REPORT_PARTS,
  parameterOf,
  readFieldGroups,
  readReportParts,
  returnedHeader,
} from './report-reading.ts';

const REPORT = `From: MAILER-DAEMON@mx.test
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

This is no part.
--b

Your message failed.
--b
Content-Type: message/delivery-status
Content-Transfer-Encoding: quoted-printable

Reporting-MTA: dns; mx.test

Final-Recipient: rfc822; ann=40y.test
--b
Content-Type: message/rfc822

Return-Path: <b-token@x.test>
Message-ID: <1@x.test>
Content-Type: multipart/mixed; boundary=c

--c
Content-Type: text/plain

Hello.
--c--
--b--
`;

function typesOf(text: string | Buffer): string[] {
  return readReportParts(Buffer.from(text)).map(({ type, level }) => `${type} ${level}`);
}

function partsOf(text: string) {
  return readReportParts(Buffer.from(text));
}

function bodyOf(headerAndBody: string): string | undefined {
  return partsOf(headerAndBody)[0]?.body.toString('latin1');
}

function inMultiparts(depth: number, inner: string): string {
  let text = inner;
  for (let level = 0; level < depth; level++)
    text = `Content-Type: multipart/mixed; boundary=b${level}.\n\n--b${level}.\n${text}\n--b${level}.--\n`;
  return text;
}

test.each([
  ['LF', '\n'],
  ['CRLF', '\r\n'],
])('the parts of a report come in order, with lines ended by %s', (_, end) => {
  const parts = partsOf(REPORT.replaceAll('\n', end));
  expect(parts.map(({ type, level }) => `${type} ${level}`)).toEqual([
    'multipart/report 0',
    'text/plain 0',
    'message/delivery-status 0',
    'message/rfc822 0',
    'multipart/mixed 1',
    'text/plain 1',
  ]);
  expect(parts[0] && parameterOf(parts[0], 'report-type')).toBe('delivery-status');
  expect(parts[2]?.body.toString()).toBe(
    'Reporting-MTA: dns; mx.test\r\n\r\nFinal-Recipient: rfc822; ann@y.test',
  );
  expect(returnedHeader(parts, 0)).toEqual({ messageId: '<1@x.test>', returnPath: 'b-token@x.test' });
});

test.each([
  ['multipart/mixed; boundary==_a/b', '=_a/b'],
  ['multipart/mixed (a comment); boundary="a b"', 'a b'],
  ['multipart/mixed; stray; boundary=----=_Part:1 ;x=y', '----=_Part:1'],
  ['Multipart/Mixed; BOUNDARY=b;', 'b'],
])('a boundary is found in %s', (contentType, boundary) => {
  const text = `Content-Type: ${contentType}\n\n--${boundary}\nContent-Type: text/html\n\nx\n--${boundary}--\n`;
  expect(typesOf(text)).toEqual(['multipart/mixed 0', 'text/html 0']);
});

test.each([
  ['', 'text/plain 0'],
  ['\n', 'text/plain 0'],
  ['no header\n', 'text/plain 0'],
  ['Content-Type: rubbish\n\nx', 'text/plain 0'],
  ['Content-Type: multipart/mixed\n\n--b\n\nx\n--b--', 'multipart/mixed 0'],
  ['Content-Type: multipart/mixed; boundary=b\n\nno boundary', 'multipart/mixed 0'],
])('what has no parts is one: %j', (text, type) => {
  expect(typesOf(text)).toEqual([type]);
});

test.each([
  ['Content-Transfer-Encoding: base64\n\naGVs\nbG8K\n', 'hello\r\n'],
  ['Content-Transfer-Encoding: BASE64 (Exchange)\n\naGVsbG8K', 'hello\r\n'],
  ['Content-Transfer-Encoding: quoted-printable\n\na=3Db=\nc', 'a=bc'],
  // Not what it says: as it stands.
  ['Content-Transfer-Encoding: base64\n\nplain text!', 'plain text!'],
  ['Content-Transfer-Encoding: x-uuencode\n\nbegin 644', 'begin 644'],
  ['Subject: x\nno field\n\nbody', 'no field\r\n\r\nbody'],
  ['\nbody\n\nmore', 'body\r\n\r\nmore'],
])('the body of %j is decoded', (text, body) => {
  expect(bodyOf(text)).toBe(body);
});

test('a part may be a header alone', () => {
  const [, part] = partsOf(
    'Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n--b--\n',
  );
  expect(part).toMatchObject({ type: 'text/html', body: Buffer.alloc(0) });
});

test.each([
  ['text/rfc822-headers', { messageId: '<2@x.test>', returnPath: null }],
  ['message/global', { messageId: '<2@x.test>', returnPath: null }],
  ['message/global-headers', { messageId: '<2@x.test>', returnPath: null }],
  ['text/plain', null],
])('a returned header is found as %s', (type, expected) => {
  const parts = partsOf(
    `Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: ${type}\n\nMessage-ID:\n <2@x.test>\n--b--\n`,
  );
  expect(returnedHeader(parts, 0)).toEqual(expected);
  expect(returnedHeader(parts, 5)).toBeNull();
});

test.each([
  ['Return-Path: <>\nMessage-ID: none\n', { messageId: null, returnPath: '' }],
  ['Return-Path: a@x.test\n', { messageId: null, returnPath: 'a@x.test' }],
  ['Return-Path: <a b>\n', { messageId: null, returnPath: null }],
  [
    `Return-Path: <${'a'.repeat(321)}>\nMessage-ID: <${'a'.repeat(997)}>\n`,
    { messageId: null, returnPath: null },
  ],
])('of a returned header, %j is read', (header, expected) => {
  expect(returnedHeader(partsOf(`Content-Type: text/rfc822-headers\n\n${header}`), 0)).toEqual(expected);
});

function groupsOf(text: string) {
  const groups = readFieldGroups(Buffer.from(text.replaceAll('\n', '\r\n')));
  return groups.map((group) => group.map(({ lowerName, value }) => `${lowerName}=${value}`));
}

test('blank lines separate groups; fields are unfolded, and lines that are none continue the one before', () => {
  const text =
    '\n\nReporting-MTA: dns; mx.test\n \n\nFinal-Recipient : rfc822;\n\tann@y.test\nDiagnostic-Code: smtp; 550-no\n550 user\nno field:\n';
  expect(groupsOf(text)).toEqual([
    ['reporting-mta=dns; mx.test'],
    ['final-recipient=rfc822; ann@y.test', 'diagnostic-code=smtp; 550-no 550 user no field:'],
  ]);
  expect(groupsOf('no field at all\n\n folded\n')).toEqual([]);
});

test('values are UTF-8, else Latin-1', () => {
  expect(readFieldGroups(Buffer.from('A: ü'))[0]?.[0]?.value).toBe('ü');
  expect(readFieldGroups(Buffer.from('A: ü', 'latin1'))[0]?.[0]?.value).toBe('ü');
});

test('no more bytes are read than the limit', () => {
  const filler = 'x'.repeat(MAX_REPORT_BYTES);
  const text = `Content-Type: multipart/mixed; boundary=b\n\n${filler}\n--b\n\nx\n--b--\n`;
  expect(typesOf(text)).toEqual(['multipart/mixed 0']);
  expect(typesOf(text.replace(filler, filler.slice(200)))).toHaveLength(2);
});

test('no more levels are opened than the limit, of multiparts or of messages', () => {
  expect(typesOf(inMultiparts(MAX_REPORT_DEPTH, '\nx'))).toHaveLength(MAX_REPORT_DEPTH + 1);
  expect(typesOf(inMultiparts(MAX_REPORT_DEPTH + 1, '\nx'))).toHaveLength(MAX_REPORT_DEPTH + 1);
  const messages = typesOf('Content-Type: message/rfc822\n\n'.repeat(1000));
  expect(messages).toHaveLength(MAX_REPORT_DEPTH + 1);
  expect(messages.at(-1)).toBe(`message/rfc822 ${MAX_REPORT_DEPTH}`);
});

test('no more parts are read than the limit', () => {
  const parts = (count: number) =>
    `Content-Type: multipart/mixed; boundary=b\n\n${'--b\n\nx\n'.repeat(count)}--b--\n`;
  expect(typesOf(parts(MAX_REPORT_PARTS - 1))).toHaveLength(MAX_REPORT_PARTS);
  expect(typesOf(parts(MAX_REPORT_PARTS))).toHaveLength(MAX_REPORT_PARTS);
  expect(typesOf(parts(5000))).toHaveLength(MAX_REPORT_PARTS);
  // So many that nobody means them.
  expect(typesOf(parts(50_000))).toHaveLength(1);
});

test('of a header above the limit, the first fields are read', () => {
  const header = `Content-Type: text/html\n${'X: y\n'.repeat(MAX_REPORT_HEADER / 5)}Late: 1\n`;
  const [part] = partsOf(`${header}\nbody`);
  expect(part?.type).toBe('text/html');
  expect(part?.body.toString()).toBe('body');
  expect(part?.fields.some(({ lowerName }) => lowerName === 'late')).toBe(false);
  expect(partsOf(`X: ${'y'.repeat(MAX_REPORT_HEADER)}\n\nbody`)[0]).toMatchObject({ fields: [] });
});

test('groups, their fields and the length of values have limits', () => {
  expect(groupsOf('A: 1\n\n'.repeat(MAX_REPORT_GROUPS + 1))).toHaveLength(MAX_REPORT_GROUPS);
  expect(groupsOf('A: 1\n'.repeat(MAX_GROUP_FIELDS + 1))[0]).toHaveLength(MAX_GROUP_FIELDS);
  const long = 'y'.repeat(MAX_FIELD_VALUE + 1);
  expect(readFieldGroups(Buffer.from(`A: ${long}`))[0]?.[0]?.value).toHaveLength(MAX_FIELD_VALUE);
  expect(readFieldGroups(Buffer.from(`A: y\r\n ${long}\r\n z`))[0]?.[0]?.value).toHaveLength(MAX_FIELD_VALUE);
});

/** Whatever its bytes are, a message is one part at least, in levels that rise by one at most. */
test('any bytes are read', () => {
  const piece = fc.constantFrom(
    ...['\n', '\r\n', '\r', ' ', ':', '--b', '--b--', '--b\n', 'x', '\xff', '=3D', 'QUJD', '<a@x.test>'],
    ...['Content-Type: multipart/report; boundary=b\n', 'Content-Type: message/rfc822\n'],
    ...['Content-Type: message/delivery-status\n', 'Content-Transfer-Encoding: base64\n', 'Message-ID: '],
  );
  const bytes = fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join(''), 'latin1'));
  fc.assert(
    fc.property(bytes, (message) => {
      const parts = readReportParts(message);
      expect(parts.length).toBeGreaterThan(0);
      expect(parts[0]?.level).toBe(0);
      for (const [index, { body, level }] of parts.entries()) {
        expect(level).toBeLessThanOrEqual((parts[index - 1]?.level ?? 0) + 1);
        for (const group of readFieldGroups(body)) expect(group.length).toBeGreaterThan(0);
        returnedHeader(parts, level);
      }
    }),
    { numRuns: 2000 },
  );
});
