import fc from 'fast-check';
import { BOUNDARY } from './multipart-readers.ts';

/** Forms for the parsers to read: well-formed ones, and such ones damaged. */

/** Text that all conventions of escaping leave alone. */
const plainText = fc
  .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
  .filter((text) => !/[\p{Cc}\p{Cs}\\"%]/u.test(text));
const body = fc
  .array(
    fc.constantFrom(
      '\r\n--xY',
      '\r\n--',
      '\r\n',
      '\r',
      '\n',
      '-',
      'xYz',
      '\0',
      '\xff',
      'text',
      ' ',
      '\r\n\r\n',
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''))
  .filter((text) => !`\r\n${text}`.includes(`\r\n--${BOUNDARY}`));

const part = fc.record({
  name: plainText,
  filename: fc.option(plainText),
  type: fc.option(fc.constantFrom('text/plain', 'image/png', 'Text/HTML', 'application/x-thing; a="b"')),
  dispositionFirst: fc.boolean(),
  headerCase: fc.constantFrom('Content-Disposition', 'content-disposition', 'CONTENT-DISPOSITION'),
  more: fc.option(
    fc.constantFrom('Content-ID: <x>', 'X-Y: a: b; c="d"', 'Content-Transfer-Encoding: binary'),
  ),
  body,
});

type Part = typeof part extends fc.Arbitrary<infer T> ? T : never;

function writePart(item: Part): Buffer {
  const filename = item.filename === null ? '' : `; filename="${item.filename}"`;
  const disposition = `${item.headerCase}: form-data; name="${item.name}"${filename}`;
  const type = item.type === null ? [] : [`Content-Type: ${item.type}`];
  const lines = item.dispositionFirst ? [disposition, ...type] : [...type, disposition];
  const header = [`--${BOUNDARY}`, ...lines, ...(item.more === null ? [] : [item.more])].join('\r\n');
  return Buffer.concat([Buffer.from(`${header}\r\n\r\n`), Buffer.from(`${item.body}\r\n`, 'latin1')]);
}

/** Forms as RFC 7578 and browsers write them; nothing in them is open to two readings. */
export const wellFormed = fc
  .array(part, { minLength: 1, maxLength: 5 })
  .map((parts) => Buffer.concat([...parts.map(writePart), Buffer.from(`--${BOUNDARY}--\r\n`)]));

/** Bytes that mean something to a parser, to be put anywhere. */
const poison = fc.constantFrom(
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\0',
  '"',
  '\\',
  ';',
  '=',
  ':',
  ' ',
  '\t',
  '--',
  '%22',
  '%0d%0a',
  '\xff',
  '*',
  "'",
  `--${BOUNDARY}`,
  `\r\n--${BOUNDARY}`,
  `\r\n--${BOUNDARY}--`,
  `--${BOUNDARY}\r\n`,
  `\r\n--${BOUNDARY} \r\n`,
  '; name="b"',
  '; filename="f"',
  '; filename=""',
  "; filename*=UTF-8''%C3%A9",
  'name*=x',
  'form-data',
  'attachment',
  '\r\n folded',
  '\r\nContent-Disposition: form-data; name="c"',
  '\r\nContent-Type: application/octet-stream',
  '\r\nContent-Type: text/plain; charset=utf-16',
  '\r\nContent-Transfer-Encoding: base64',
  '\r\nX: y',
);

const damage = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.nat(6),
  insert: fc.option(poison),
  jump: fc.constantFrom(
    'anywhere',
    'after a header name',
    'before a line end',
    'behind a boundary',
    'in quotes',
  ),
});

type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

const PLACES: Readonly<Record<Damage['jump'], RegExp | null>> = {
  anywhere: null,
  'after a header name': /form-data/g,
  'before a line end': /\r\n/g,
  'behind a boundary': /xYz/g,
  'in quotes': /="/g,
};

function spoil(form: Buffer, { at, cut, insert, jump }: Damage): Buffer {
  const text = form.toString('latin1');
  const pattern = PLACES[jump];
  const ends =
    pattern === null
      ? []
      : [...text.matchAll(pattern)].map(
          (match) => match.index + (jump === 'before a line end' ? 0 : match[0].length),
        );
  const place = ends[Math.floor(at * (ends.length - 1))] ?? Math.floor(at * text.length);
  return Buffer.from(
    text.slice(0, place) + (insert ?? '') + text.slice(place + (insert === null ? cut : 0)),
    'latin1',
  );
}

/** Well-formed forms with one to three damages. */
export const damaged = fc
  .tuple(wellFormed, fc.array(damage, { minLength: 1, maxLength: 3 }))
  .map(([form, damages]) => damages.reduce(spoil, form));
