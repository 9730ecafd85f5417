import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../src/http/json.ts';
import { BatchSplitter } from '../../src/ingest/http/batch-splitter.ts';
import { fieldsFromJson } from '../../src/ingest/http/schema.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { cutAt, eachByte, orRefused, textOf } from './inputs.ts';
import { inLinearTime } from './processor-time.ts';

const LIMITS = { maxDepth: 6, maxValues: 40 };

const piece = ['{', '}', '[', ']', ',', ':', '"', '\\', '\\"', '\\u', 'd83d', '\\ude00'] as const;
const value = [
  'null',
  'true',
  '1',
  '-0',
  '1e400',
  '"a"',
  '"b":',
  '"__proto__":',
  '"constructor":',
  '{}',
] as const;
const almostJson = fc.oneof(
  textOf(...piece, ...value),
  fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.stringify(json)),
  fc
    .tuple(fc.jsonValue({ maxDepth: 3 }), fc.nat(), fc.constantFrom(...piece, ...value))
    .map(([json, at, more]) => {
      const text = JSON.stringify(json);
      const place = at % (text.length + 1);
      return text.slice(0, place) + more + text.slice(place);
    }),
);

test('JSON text is taken as JSON.parse takes it, or refused', () =>
  fuzz('JSON text', { made: almostJson, corpus: corpus('json', (bytes) => bytes.toString()) }, (text) => {
    const parsed = orRefused(() => parseJson(Buffer.from(text), LIMITS));
    if (parsed === undefined) return false;
    expect(parsed).toEqual(JSON.parse(Buffer.from(text).toString()));
    const written = JSON.stringify(parsed);
    expect(JSON.stringify(parseJson(Buffer.from(written), LIMITS))).toBe(written);
    return true;
  }));

test('any bytes are taken or refused', () =>
  fuzz(
    'JSON bytes',
    {
      made: fc.oneof(
        fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
        almostJson.map((text) => Buffer.from(text)),
      ),
      corpus: corpus('json', (bytes) => bytes),
    },
    (bytes) => orRefused(() => parseJson(Buffer.from(bytes), LIMITS)) !== undefined,
  ));

const FIELDS = [
  'from',
  'to',
  'cc',
  'text',
  'headers',
  'attachments',
  'tags',
  'metadata',
  'dryRun',
  'htm',
] as const;
const members = fc.dictionary(fc.constantFrom<string>(...FIELDS), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 4,
});
const submission = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc
    .tuple(members, fc.boolean())
    .map(([more, good]) => (good ? { from: 'a@x', to: 'b@x', text: 'x' } : more)),
);
/** The value of an example; its text where it is no JSON. */
function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return bytes.toString();
  }
}

test('any JSON value is read as a submission, or its faults told with pointers into it', () =>
  fuzz('submission', { made: submission, corpus: corpus('json', jsonOf) }, (json) => {
    const { faults, fields } = fieldsFromJson(json);
    expect(Array.isArray(fields.attachments)).toBe(true);
    for (const { pointer, detail } of faults) {
      expect(pointer).toMatch(/^$|^\//);
      expect(detail.length).toBeLessThan(300);
    }
    return faults.length === 0;
  }));

const item = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }).map((json) => JSON.stringify(json)),
  textOf(...piece, ...value),
);
const batch = fc
  .tuple(
    fc.constantFrom('{"messages":[', ' { "messages" : [ ', '[[', '{"a":[],"messages":['),
    fc.array(item, { maxLength: 4 }),
  )
  .chain(([open, items]) =>
    fc.constantFrom(']}', ' ] } ', '],"more":1}', ']', '').map((close) => open + items.join(',') + close),
  );
const batches = {
  made: fc.tuple(batch, fc.array(fc.nat(), { maxLength: 6 })),
  corpus: corpus('json', (bytes, dice): [string, number[]] => [bytes.toString(), dice.numbers(6)], 4000),
};

test('a batch is JSON exactly when what it is cut into is, however it arrives', () =>
  fuzz('batch', batches, ([text, places]) => {
    const bytes = Buffer.from(text);
    const whole = split([bytes]);
    expect(split(cutAt(bytes, places))).toEqual(whole);
    expect(split(eachByte(bytes))).toEqual(whole);
    if (whole === undefined) return false;
    const isJson = whole.messages.every((message) => isJsonText(message)) && isJsonText(whole.frame);
    expect(isJson).toBe(isJsonText(bytes.toString()));
    // Of a name that is there twice, a parser knows one value only.
    if (isJson && JSON.stringify(JSON.parse(text)) === text) {
      const value: unknown = JSON.parse(text);
      // Which list is that of the messages is for the frame to tell.
      const lists = Array.isArray(value) ? [] : Object.values(Object(value)).filter(Array.isArray);
      expect(whole.messages.map((message): unknown => JSON.parse(message))).toEqual(lists.flat(1));
    }
    return isJson;
  }));

function split(chunks: readonly Buffer[]): { frame: string; messages: string[] } | undefined {
  return orRefused(() => {
    const splitter = new BatchSplitter({ maxMessages: 3 });
    for (const chunk of chunks) splitter.push(chunk);
    const { frame, messages } = splitter.finish();
    return { frame: frame.toString(), messages: messages.map((pieces) => Buffer.concat(pieces).toString()) };
  });
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('long hostile text takes linear time', () => {
  const wide = { maxDepth: 1e6, maxValues: 1e7 };
  inLinearTime(['"', '\\', '{', '[', '"\\\\', '{"a":', '"a":1,', '[]', ',', '"\\"'], (text) =>
    orRefused(() => parseJson(Buffer.from(text), wide)),
  );
});
