import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseForm } from '../../src/http/form.ts';
import { parseMediaType, parseParameterized } from '../../src/http/media-type.ts';
import { pointerToken } from '../../src/http/problem.ts';
import { type FormEntry, fieldsFromForm } from '../../src/ingest/http/form-fields.ts';
import { LIST_PARAMETERS } from '../../src/ingest/http/list.ts';
import { readParameters } from '../../src/ingest/http/query.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { orRefused, textOf } from './inputs.ts';
import { inLinearTime } from './processor-time.ts';

/** The small grammars of HTTP: forms, media types and parameters, queries. */

const QUERIES = corpus('query', (bytes) => bytes.toString());

const urlencoded = textOf(
  '&',
  '=',
  '%',
  '%20',
  '%C3%A9',
  '%E9',
  '%00',
  '+',
  'a',
  'to',
  'o:tag',
  '%25',
  '__proto__',
);

test('an urlencoded form is taken and written back the same, or refused', () =>
  fuzz('urlencoded form', { made: urlencoded, corpus: QUERIES }, (text) => {
    const fields = orRefused(() => parseForm(Buffer.from(text), { maxFields: 6 }));
    if (fields === undefined) return false;
    const written = new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value]));
    expect(parseForm(Buffer.from(written.toString()), { maxFields: 6 })).toEqual(fields);
    return fields.length > 0;
  }));

const names: fc.Arbitrary<string> = fc.constantFrom(
  'from',
  'to',
  'text',
  'o:tag',
  'o:dry-run',
  'h:X',
  'v:a',
  'o:deliverytime',
  'attachment',
  'x',
);
const entry = fc.oneof(
  fc.record({ name: names, value: textOf('yes', 'no', 'a@x', 'Fri, 20 Nov 2026 11:15:00 +0000') }),
  fc.record({
    name: names,
    file: fc.record({
      filename: textOf('a.txt', '/', '..', '"'),
      contentType: fc.constant(null),
      contentId: fc.constant(null),
      bytes: fc.uint8Array({ maxLength: 2 }),
    }),
  }),
);
/** The pairs of an example, every third as a file. */
function entriesOf(bytes: Buffer): FormEntry[] {
  return [...new URLSearchParams(bytes.toString())]
    .slice(0, 50)
    .map(([name, value], place) =>
      place % 3 < 2
        ? { name, value }
        : { name, file: { filename: value, contentType: null, contentId: null, bytes: Buffer.from(value) } },
    );
}

test('any entries of a form become fields, or faults at their own names', () =>
  fuzz(
    'form fields',
    { made: fc.array(entry, { maxLength: 5 }), corpus: corpus('query', entriesOf) },
    (entries) => {
      const { faults, pointTo } = fieldsFromForm(entries);
      const given = new Set(entries.map(({ name }) => `/${pointerToken(name)}`));
      for (const { pointer } of faults) expect(given).toContain(pointer);
      expect(pointTo('from')).toBe('/from');
      return faults.length === 0;
    },
  ));

const header = textOf(
  'text/plain',
  'form-data',
  ';',
  ' ; ',
  '=',
  '"',
  '\\',
  '\\"',
  'name',
  'charset',
  'utf-8',
  '*',
  '/',
  'a',
);
const headers = { made: header, corpus: corpus('parameters', (bytes) => bytes.toString('latin1')) };

test('a value with parameters is read, or is none; written plainly it reads the same', () =>
  fuzz('parameters', headers, (text) => {
    const parsed = parseParameterized(text, (quoted) => quoted.replace(/\\(.)/gs, '$1'));
    if (parsed === null) return false;
    const written = [...parsed.params].map(
      ([name, value]) => `; ${name}="${value.replace(/["\\]/g, '\\$&')}"`,
    );
    const again = parseParameterized(parsed.value + written.join(''), (quoted) =>
      quoted.replace(/\\(.)/gs, '$1'),
    );
    expect(again).toEqual(parsed);
    return true;
  }));

test('a media type has a type and a subtype, or is none', () =>
  fuzz('media type', headers, (text) => {
    const parsed = parseMediaType(text);
    if (parsed === null) return false;
    expect(parsed.type).toMatch(/^[^/\s]+\/[^/\s]+$/);
    return true;
  }));

const queryPart = fc.constantFrom(
  'limit=5',
  'limit=0',
  'limit=99999999999999999999',
  'status=queued',
  'status=x',
  'all=true',
  'tag=a',
  'tag=',
  'to=a@x.test',
  'from=@x.test',
  'subject=%20',
  'since=2026-11-20T11:15:00Z',
  'until=x',
  'cursor=AA',
  'cursor=%00',
  'statuss=1',
  '%ff=%fe',
  '&',
  '=',
);
const query = fc.oneof(
  fc.array(queryPart, { maxLength: 5 }).map((parts) => parts.join('&')),
  urlencoded,
);

test('any query is read by its table, or its faults told at their names', () =>
  fuzz('query', { made: query, corpus: QUERIES }, (text) => {
    const values = orRefused(() => readParameters(new URLSearchParams(text), LIST_PARAMETERS));
    if (values === undefined) return false;
    expect(values.limit).toBeGreaterThanOrEqual(1);
    expect(values.limit).toBeLessThanOrEqual(200);
    return true;
  }));

test('long hostile text takes linear time', () => {
  inLinearTime(['a=1;', ';', '"', '\\', 'a="', ';a=', ' ', '; ', 'a/'], (text) => {
    parseParameterized(`a/b${text}`, (quoted) => quoted);
    parseMediaType(text);
  });
  inLinearTime(['&', '=', '%', '+', '%20', 'a=b&'], (text) =>
    orRefused(() => parseForm(Buffer.from(text), { maxFields: 5000 })),
  );
});
