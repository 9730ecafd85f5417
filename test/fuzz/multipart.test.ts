import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MultipartParser } from '../../src/http/multipart.ts';
import { Problem } from '../../src/http/problem.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';

const LIMITS = { maxParts: 8, maxHeaderBytes: 200, maxHeaderLines: 3, maxFieldBytes: 64 };
const BOUNDARY = 'xYz';

type Parsed = { parts: unknown[] } | { status: number; code: string; detail: string };

/** Parses a form cut at the given places; what is thrown is only ever a problem. */
function parse(form: Buffer, cuts: readonly number[]): Parsed {
  const parser = new MultipartParser(BOUNDARY, LIMITS);
  const places = [...cuts.map((cut) => cut % (form.length + 1)), form.length].sort((a, b) => a - b);
  try {
    let from = 0;
    for (const to of places) {
      parser.push(form.subarray(from, to));
      from = to;
    }
    return { parts: parser.finish().map(describe) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { status: error.status, code: error.code, detail: error.detail };
  }
}

function describe(part: ReturnType<MultipartParser['finish']>[number]) {
  const body = Buffer.concat(part.chunks).toString('latin1');
  expect(body).toHaveLength(part.sizeBytes);
  return { name: part.name, filename: part.filename, contentType: part.contentType, body };
}

const cuts = fc.array(fc.nat(), { maxLength: 8 });
const everyByte = Array.from({ length: 2000 }, (_, i) => i);

/** Pieces a form is made of, so that random texts come close to real forms. */
const fragment = fc.oneof(
  fc.constantFrom(
    `--${BOUNDARY}`,
    `\r\n--${BOUNDARY}`,
    `\r\n--${BOUNDARY}--`,
    `\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\n`,
    `\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="f"; filename="g"\r\n\r\n`,
    'Content-Disposition: form-data',
    'Content-Type: text/plain',
    '; name="a"',
    '\r\n',
    '\r\n\r\n',
    '\r',
    '\n',
    '--',
    '-',
    'xYz',
    ' ',
    '"',
  ),
  fc.string({ maxLength: 80, unit: 'binary-ascii' }),
);
const almostForm = fc
  .array(fragment, { maxLength: 20 })
  .map((pieces) => Buffer.from(pieces.join(''), 'latin1'));

/** A whole part, so that some of the forms are good. */
const goodForm = fc
  .array(fc.constantFrom(`\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name=a\r\n\r\nx`), {
    maxLength: 3,
  })
  .map((parts) => Buffer.from(`${parts.join('')}\r\n--${BOUNDARY}--`));
const anyForm = fc.oneof({ weight: 9, arbitrary: almostForm }, { weight: 1, arbitrary: goodForm });
const forms = {
  made: fc.tuple(anyForm, cuts),
  // Short: each is also given byte by byte.
  corpus: corpus('multipart', (bytes, dice): [Buffer, number[]] => [bytes, dice.numbers(8)], 2000),
};

test('however a form is cut, it is understood or refused alike', () =>
  fuzz('multipart form', forms, ([form, places]) => {
    const whole = parse(form, []);
    expect(parse(form, places)).toEqual(whole);
    expect(parse(form, everyByte.slice(0, form.length))).toEqual(whole);
    return 'parts' in whole;
  }));

/** Bodies full of what looks like the beginning of a delimiter, but without one. */
const body = fc
  .array(fc.constantFrom('\r\n--xY', '\r\n--', '\r\n', '\r', '-', 'xYz', '\0', '\xff', 'text'), {
    maxLength: 12,
  })
  .map((pieces) => pieces.join(''))
  .filter((text) => !`\r\n${text}`.includes(`\r\n--${BOUNDARY}`));
const name = fc.string({ maxLength: 12, unit: 'grapheme' }).filter((text) => !/[\p{Cc}\\\p{Cs}]/u.test(text));
const part = fc.record({
  name,
  filename: fc.option(name),
  contentType: fc.option(fc.constantFrom('text/plain', 'image/png; name="x"')),
  body,
});

/** Writes a form as browsers do (WHATWG HTML §4.10.21.8). */
function write(
  parts: readonly { name: string; filename: string | null; contentType: string | null; body: string }[],
) {
  const quoted = (text: string) => `"${text.replaceAll('"', '%22')}"`;
  const pieces = parts.map((item) => {
    const filename = item.filename === null ? '' : `; filename=${quoted(item.filename)}`;
    const type = item.contentType === null ? '' : `\r\nContent-Type: ${item.contentType}`;
    const header = `Content-Disposition: form-data; name=${quoted(item.name)}${filename}${type}`;
    return Buffer.concat([
      Buffer.from(`--${BOUNDARY}\r\n${header}\r\n\r\n`),
      Buffer.from(`${item.body}\r\n`, 'latin1'),
    ]);
  });
  return Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

test('what is written is what is read', () => {
  const escaped = /%(22|0D|0A)/i;
  const parts = fc
    .array(part, { maxLength: 8 })
    .filter((items) => items.every((item) => !escaped.test(item.name + (item.filename ?? ''))));
  fc.assert(
    fc.property(parts, cuts, (items, places) => {
      expect(parse(write(items), places)).toEqual({ parts: items });
    }),
    { numRuns: 500 },
  );
});

test('a form cut short anywhere is refused, never understood in part', () => {
  const form = write([
    { name: 'to', filename: null, contentType: null, body: 'a@x' },
    { name: 'f', filename: 'g', contentType: 'text/plain', body: '\r\n--\r\n' },
  ]);
  const complete = form.length - '\r\n'.length;
  for (let length = 0; length < complete; length++)
    expect(parse(form.subarray(0, length), [])).toMatchObject({ status: 400 });
  expect(parse(form.subarray(0, complete), [])).toHaveProperty('parts');
});
