import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { serve } from '../../test/peers/http.ts';
import { describeWith } from '../../test/peers/need.ts';
import { Budget } from '../lib/budget.ts';
import { joinBody, receiveBody } from './body.ts';
import { parseMediaType } from './media-type.ts';
import { boundaryOf, fieldText, MultipartParser, type MultipartPart } from './multipart.ts';

const LIMITS = { maxParts: 4, maxHeaderBytes: 400, maxHeaderLines: 4, maxFieldBytes: 100 };

function parse(form: string, limits = LIMITS, boundary = 'b'): readonly MultipartPart[] {
  const parser = new MultipartParser(boundary, limits);
  parser.push(Buffer.from(form, 'latin1'));
  return parser.finish();
}

/** A form of one part with these header lines. */
function withHeader(lines: string, body = 'x'): string {
  return `--b\r\n${lines}\r\n\r\n${body}\r\n--b--\r\n`;
}

/** A form of one part with this disposition. */
function withDisposition(params: string): string {
  return withHeader(`Content-Disposition: form-data; ${params}`);
}

function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** What a part is, for comparison. */
function summary(part: MultipartPart) {
  const body = joinBody(part.chunks).toString('latin1');
  return [part.name, part.filename, part.contentType, body];
}

const FIELD = 'Content-Disposition: form-data; name="a"';

test('fields and files come out in order, bodies byte for byte', () => {
  const form =
    `--b\r\n${FIELD}\r\n\r\none\r\n` +
    '--b\r\ncontent-disposition:form-data;name=f;filename="x.bin"\r\nContent-Type:  image/png \r\n\r\n\r\n--bx\n--b--\r\r\n--\r\n' +
    `--b\r\n${FIELD}\r\n\r\n\r\n--b--\r\n`;
  expect(() => parse(form)).toThrow(expect.objectContaining({ code: 'malformed_multipart' }));
  expect(parse(form.replace('\r\n--bx', '\r\n--c')).map(summary)).toEqual([
    ['a', null, null, 'one'],
    ['f', 'x.bin', 'image/png', '\r\n--c\n--b--\r\r\n--'],
    ['a', null, null, ''],
  ]);
});

test.each([
  ['nothing but the last boundary', '--b--', 0],
  ['no line end behind the last boundary', `--b\r\n${FIELD}\r\n\r\nx\r\n--b--`, 1],
  ['padding behind boundaries', `--b \t\r\n${FIELD}\r\n\r\nx\r\n--b--  \r\n`, 1],
  ['padding at the very end', `--b\r\n${FIELD}\r\n\r\nx\r\n--b-- `, 1],
  ['a preamble', `hello\r\n--c\r\n--b\r\n${FIELD}\r\n\r\nx\r\n--b--`, 1],
  ['an epilogue', `--b\r\n${FIELD}\r\n\r\nx\r\n--b--\r\nbye\r\n--c--\r\n`, 1],
  ['no blank line before a body that is empty', `--b\r\n${FIELD}\r\n\r\n--b--`, 1],
  ['identity encodings', withHeader(`${FIELD}\r\nContent-Transfer-Encoding: Binary`), 1],
  ['headers of other kinds', withHeader(`${FIELD}\r\nContent-ID: <x>`), 1],
  ['as many parts as allowed', `${`--b\r\n${FIELD}\r\n\r\nx\r\n`.repeat(4)}--b--`, 4],
  ['a field of exactly the limit', withHeader(FIELD, 'x'.repeat(100)), 1],
  ['as many header lines as allowed', withHeader(`${FIELD}\r\nA: 1\r\nB: 2\r\nC: 3`), 1],
])('%s is taken', (_, form, parts) => expect(parse(form)).toHaveLength(parts));

test.each([
  ['nothing', ''],
  ['no last boundary', `--b\r\n${FIELD}\r\n\r\nx\r\n`],
  ['half a last boundary', `--b\r\n${FIELD}\r\n\r\nx\r\n--b-`],
  ['a last boundary that goes on', `--b\r\n${FIELD}\r\n\r\nx\r\n--b--x`],
  ['something behind a boundary', `--b x\r\n${FIELD}\r\n\r\nx\r\n--b--`],
  ['something behind the last boundary', `--b\r\n${FIELD}\r\n\r\nx\r\n--b--x\r\n`],
  ['endless padding', `--b${' '.repeat(300)}\r\n${FIELD}\r\n\r\nx\r\n--b--`],
  ['endless padding at the end', `--b\r\n${FIELD}\r\n\r\nx\r\n--b--${' '.repeat(300)}`],
  ['parts behind the last boundary', `--b--\r\n--b\r\n${FIELD}\r\n\r\nx\r\n--b--`],
  ['lines that end in LF only', `--b\n${FIELD}\n\nx\n--b--\n`],
  ['a header line that ends in LF only', withHeader(`${FIELD}\nA: b`)],
  ['a lone CR in a header line', withHeader(`${FIELD}\r\nA: b\rc`)],
  ['NUL in a header line', withHeader(`${FIELD}\r\nA: b\0c`)],
  ['a folded header line', withHeader('Content-Disposition: form-data;\r\n name="a"')],
  ['a space before the colon', withHeader('Content-Disposition : form-data; name="a"')],
  ['a header line without colon', withHeader(`${FIELD}\r\nhello`)],
  ['a header without name', withHeader(`${FIELD}\r\n: x`)],
  ['a header twice', withHeader(`${FIELD}\r\n${FIELD.toUpperCase()}`)],
  ['a boundary inside a header', `--b\r\n${FIELD}\r\n--b\r\nA: b\r\n\r\nx\r\n--b--`],
  ['a last boundary inside a header', `--b\r\n--b--: x\r\n${FIELD}\r\n\r\nx\r\n--b--`],
  ['no header', '--b\r\n\r\nx\r\n--b--'],
  ['no Content-Disposition', withHeader('Content-Type: text/plain')],
  ['another disposition', withHeader('Content-Disposition: attachment; name="a"')],
  ['no name', withDisposition('filename="x"')],
  ['a name twice', withDisposition('name="a"; name="b"')],
  ['a filename twice', withDisposition('name="a"; filename="b"; FileName="c"')],
  ['an unclosed quote', withDisposition('name="a')],
  ['an unescaped quote in a name', withDisposition('name="a"b"')],
  ['a malformed parameter', withDisposition('name="a"; filename=a b')],
  ['name*', withDisposition("name*=UTF-8''a")],
  ['filename in pieces', withDisposition('name="a"; filename*0="a"; filename*1="b"')],
  ['a filename* in Latin-1', withDisposition("name=a; filename*=iso-8859-1''%e9")],
  ['a filename* that is not UTF-8', withDisposition("name=a; filename*=UTF-8''%e9")],
  ['a filename* without charset', withDisposition('name=a; filename*=x')],
  ['a malformed Content-Type', withHeader(`${FIELD}\r\nContent-Type: plain`)],
  ['a long preamble', `${'x'.repeat(70_000)}\r\n--b--`],
  ['a long epilogue', `--b--\r\n${'x'.repeat(70_000)}`],
])('%s is refused', (_, form) =>
  expect(() => parse(form)).toThrow(expect.objectContaining({ status: 400, code: 'malformed_multipart' })),
);

test.each([
  ['too many parts', `${`--b\r\n${FIELD}\r\n\r\nx\r\n`.repeat(5)}--b--`, 400, 'too_many_parts'],
  ['a header too large', withHeader(`${FIELD}\r\nA: ${'x'.repeat(400)}`), 400, 'part_header_too_large'],
  ['a header without end', `--b\r\n${FIELD}${'x'.repeat(1000)}`, 400, 'part_header_too_large'],
  [
    'too many header lines',
    withHeader(`${FIELD}\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 4`),
    400,
    'too_many_part_headers',
  ],
  ['a field too large', withHeader(FIELD, 'x'.repeat(101)), 413, 'field_too_large'],
  ['base64', withHeader(`${FIELD}\r\nContent-Transfer-Encoding: base64`), 400, 'unsupported_part_encoding'],
  ['Latin-1 in a header', withDisposition('name="\xe9"'), 400, 'invalid_utf8'],
])('%s is refused by its own code', (_, form, status, code) =>
  expect(() => parse(form)).toThrow(expect.objectContaining({ status, code })),
);

test('a header of exactly the limit is taken, however it arrives', () => {
  const padding = 'x'.repeat(LIMITS.maxHeaderBytes - `\r\n${FIELD}\r\nA: `.length);
  const form = Buffer.from(withHeader(`${FIELD}\r\nA: ${padding}`));
  for (let cut = 0; cut < form.length; cut++) {
    const parser = new MultipartParser('b', LIMITS);
    parser.push(form.subarray(0, cut));
    parser.push(form.subarray(cut));
    expect(parser.finish()).toHaveLength(1);
  }
});

test('a file may be larger than a field', () => {
  const form = withHeader('Content-Disposition: form-data; name="a"; filename=""', 'x'.repeat(101));
  expect(parse(form).map((part) => [part.filename, part.sizeBytes])).toEqual([['', 101]]);
});

test.each([
  ['a bare token', 'name=a; filename=b.txt', 'b.txt'],
  ['UTF-8', `name=a; filename="${utf8('né😀.txt')}"`, 'né😀.txt'],
  ['percent escapes of browsers', 'name=a; filename="a%22b%0D%0Ac%41%.txt"', 'a"b\r\nc%41%.txt'],
  ['backslash escapes', 'name=a; filename="a\\"b\\\\c.txt"', 'a"b\\c.txt'],
  ['a backslash that escapes nothing', 'name=a; filename="a\\b;c.txt"', 'a\\b;c.txt'],
  ['filename*', "name=a; filename*=utf-8'en'na%C3%AFve%20plan.txt", 'naïve plan.txt'],
  ['filename* beside filename', `name=a; filename="=?utf-8?B?w6k=?="; filename*=UTF-8''%C3%A9`, 'é'],
  ['other parameters', 'name=a; filename=b; size=3; creation-date="x"', 'b'],
])('a filename in %s', (_, params, filename) =>
  expect(parse(withDisposition(params)).map((part) => part.filename)).toEqual([filename]),
);

test('the text of a field is UTF-8, and what says or is otherwise is refused', () => {
  const textOf = (header: string, body: string) => parse(withHeader(header, body)).map(fieldText)[0];
  expect(textOf(FIELD, utf8('né\r\n'))).toBe('né\r\n');
  expect(textOf(`${FIELD}\r\nContent-Type: text/html; charset=UTF-8`, 'x')).toBe('x');
  const latin = `${FIELD}\r\nContent-Type: text/plain; charset=ISO-8859-1`;
  expect(textOf(latin, 'the same in ASCII')).toBe('the same in ASCII');
  expect(() => textOf(latin, '\xe9')).toThrow(refusalOf('/a', 'unsupported_charset'));
  expect(() => textOf(`${FIELD}\r\nContent-Type: text/plain; charset=utf-16`, 'x')).toThrow(
    refusalOf('/a', 'unsupported_charset'),
  );
  expect(() => textOf(FIELD, '\xe9')).toThrow(refusalOf('/a', 'invalid_utf8'));
});

test('a field too large is pointed to', () =>
  expect(() => parse(withHeader(FIELD, 'x'.repeat(101)))).toThrow(refusalOf('/a', 'field_too_large')));

test.each([
  ['by its name', '/a', withHeader(`${FIELD}\r\nContent-Type: plain`), 'malformed_multipart'],
  [
    'by its name',
    '/a',
    withHeader(`${FIELD}\r\nContent-Transfer-Encoding: base64`),
    'unsupported_part_encoding',
  ],
  ['by its name', '/a', withDisposition('name=a; filename*=x'), 'malformed_multipart'],
  ['by its place', '/1', `--b\r\n${FIELD}\r\n\r\nx\r\n--b\r\n\r\nx\r\n--b--`, 'malformed_multipart'],
  ['by its place', '/0', withHeader(`${FIELD}\r\nno colon`), 'malformed_multipart'],
  ['by its place', '/0', withHeader(`${FIELD}\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 4`), 'too_many_part_headers'],
  ['by its place', '/0', withHeader(`${FIELD}\r\nA: ${'x'.repeat(400)}`), 'part_header_too_large'],
])('a faulty part is pointed to %s: %s', (_, pointer, form, code) =>
  expect(() => parse(form)).toThrow(refusalOf(pointer, code)),
);

function refusalOf(pointer: string, code: string) {
  return expect.objectContaining({ code, errors: [expect.objectContaining({ pointer, code })] });
}

test('a boundary has 1 to 70 characters of RFC 2046, the last no space', () => {
  const boundary = (value: string) =>
    boundaryOf(parseMediaType(`multipart/form-data; boundary="${value}"`) ?? { type: '', params: new Map() });
  const odd = "0aZ'()+_,-./:=? x";
  expect(boundary(odd)).toBe(odd);
  expect(boundary('x'.repeat(70))).toHaveLength(70);
  for (const bad of ['', 'x '.repeat(2), 'x'.repeat(71), 'é', 'a;b', 'a*b'])
    expect(() => boundary(bad)).toThrow(expect.objectContaining({ code: 'malformed_multipart' }));
  expect(() => boundaryOf({ type: 'multipart/form-data', params: new Map() })).toThrow();
  expect(parse(`--${odd}\r\n${FIELD}\r\n\r\nx\r\n--${odd}--`, LIMITS, odd)).toHaveLength(1);
});

/** Bodies as clients sent them, recorded. */
test.each([
  [
    'Python requests 2.34',
    'd3e6d5d14b7fc19018e9fb9bcdcd6f4b',
    '--d3e6d5d14b7fc19018e9fb9bcdcd6f4b\r\nContent-Disposition: form-data; name="from"\r\n\r\na@x\r\n--d3e6d5d14b7fc19018e9fb9bcdcd6f4b\r\nContent-Disposition: form-data; name="tä"\r\n\r\nü\r\n--d3e6d5d14b7fc19018e9fb9bcdcd6f4b\r\nContent-Disposition: form-data; name="attachment"; filename="résu%22m\\é.txt"\r\nContent-Type: text/plain\r\n\r\na\r\nb\r\n--d3e6d5d14b7fc19018e9fb9bcdcd6f4b\r\nContent-Disposition: form-data; name="attachment"; filename="x.bin"\r\n\r\n\r\n--d3e6d5d14b7fc19018e9fb9bcdcd6f4b--\r\n',
    [
      ['from', null, null, 'a@x'],
      ['tä', null, null, utf8('ü')],
      ['attachment', 'résu"m\\é.txt', 'text/plain', 'a\r\nb'],
      ['attachment', 'x.bin', null, ''],
    ],
  ],
  [
    'form-data 4 (mailgun.js)',
    '--------------------------3ff0d585aba15aa3f3746dbd',
    '----------------------------3ff0d585aba15aa3f3746dbd\r\nContent-Disposition: form-data; name="from"\r\n\r\na@x\r\n----------------------------3ff0d585aba15aa3f3746dbd\r\nContent-Disposition: form-data; name="attachment"; filename="ré%22s\\.txt"\r\nContent-Type: text/plain\r\n\r\na\r\nb\r\n----------------------------3ff0d585aba15aa3f3746dbd--\r\n',
    [
      ['from', null, null, 'a@x'],
      ['attachment', 'ré"s\\.txt', 'text/plain', 'a\r\nb'],
    ],
  ],
  [
    '.NET HttpClient',
    '5a4c1f0e-0b1d-4c8e-9d55-5f0b8a3c9f10',
    '--5a4c1f0e-0b1d-4c8e-9d55-5f0b8a3c9f10\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=from\r\n\r\na@x\r\n--5a4c1f0e-0b1d-4c8e-9d55-5f0b8a3c9f10\r\nContent-Disposition: form-data; name=attachment; filename="=?utf-8?B?csOpLnR4dA==?="; filename*=utf-8\'\'r%C3%A9.txt\r\n\r\nhi\r\n--5a4c1f0e-0b1d-4c8e-9d55-5f0b8a3c9f10--\r\n',
    [
      ['from', null, 'text/plain; charset=utf-8', 'a@x'],
      ['attachment', 'ré.txt', null, 'hi'],
    ],
  ],
])('what %s sends', (_, boundary, form, parts) =>
  expect(parse(utf8(form), LIMITS, boundary).map(summary)).toEqual(parts),
);

/** A server that answers with what it understood of a form. */
function echo() {
  const budget = new Budget({ capacity: 1e7, maxWaiters: 1 });
  return serve(async (exchange) => {
    const type = parseMediaType(exchange.headers['content-type']);
    const boundary = boundaryOf(type ?? { type: '', params: new Map() });
    const parser = new MultipartParser(boundary, { ...LIMITS, maxParts: 10 });
    await receiveBody(exchange, { maxBytes: 1e6, budget: budget.share('a key') }, (chunk) =>
      parser.push(chunk),
    );
    exchange.json(200, parser.finish().map(summary));
  });
}

test('what fetch sends', async () => {
  const { origin } = await echo();
  const form = new FormData();
  const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => (i * 7) % 256);
  form.append('to', 'a@x');
  form.append('to', 'b@x\r\nc');
  form.append('attachment', new Blob([bytes], { type: 'image/png' }), 'a"\\é\n.png');
  form.append('none', new Blob([]), 'n');
  const response = await fetch(origin, { method: 'POST', body: form });
  expect(await response.json()).toEqual([
    ['to', null, null, 'a@x'],
    ['to', null, null, 'b@x\r\nc'],
    ['attachment', 'a"\\é\n.png', 'image/png', Buffer.from(bytes).toString('latin1')],
    ['none', 'n', 'application/octet-stream', ''],
  ]);
});

test('an empty form of fetch has no parts', async () => {
  const { origin } = await echo();
  const response = await fetch(origin, { method: 'POST', body: new FormData() });
  expect(await response.json()).toEqual([]);
});

describeWith(['curl'], 'curl', () => {
  const run = promisify(execFile);

  test('what it sends', async () => {
    const { origin } = await echo();
    const fields = ['from=a@x', 'html=é<p>;type=text/html', 'file=hi;filename="q\\"s é.txt"', 'empty='];
    const { stdout } = await run('curl', ['-s', ...fields.flatMap((field) => ['-F', field]), origin]);
    expect(JSON.parse(stdout)).toEqual([
      ['from', null, null, 'a@x'],
      ['html', null, 'text/html', utf8('é<p>')],
      ['file', 'q"s é.txt', 'text/plain', 'hi'],
      ['empty', null, null, ''],
    ]);
  });

  test('what it sends encoded is refused', async () => {
    const { origin } = await echo();
    const { stdout } = await run('curl', ['-s', '-F', 'a=abc;encoder=base64', origin]);
    expect(JSON.parse(stdout)).toMatchObject({ status: 400, code: 'unsupported_part_encoding' });
  });
});
