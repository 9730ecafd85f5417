import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../src/http/json.ts';
import { Problem } from '../../src/http/problem.ts';
import { BatchSplitter } from '../../src/ingest/http/batch-splitter.ts';
import { fieldsFromJson } from '../../src/ingest/http/schema.ts';
import { cutAt, fuzz, textOf } from './fuzz.ts';

const LIMITS = { maxDepth: 6, maxValues: 40 };

/** What `read` gives; undefined for what it refuses. What else is thrown is a bug. */
function orRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect(error.status).toBe(400);
    return undefined;
  }
}

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
  fuzz('JSON text', almostJson, (text) => {
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
    fc.oneof(
      fc.uint8Array({ maxLength: 12 }),
      almostJson.map((text) => Buffer.from(text)),
    ),
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

test('any JSON value is read as a submission, or its faults told with pointers into it', () =>
  fuzz('submission', submission, (json) => {
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

test('a batch is JSON exactly when what it is cut into is, however it arrives', () =>
  fuzz('batch', fc.tuple(batch, fc.array(fc.nat(), { maxLength: 6 })), ([text, places]) => {
    const bytes = Buffer.from(text);
    const whole = split([bytes]);
    expect(split(cutAt(bytes, places))).toEqual(whole);
    expect(split(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(whole);
    if (whole === undefined) return false;
    const isJson = whole.messages.every((message) => isJsonText(message)) && isJsonText(whole.frame);
    expect(isJson).toBe(isJsonText(bytes.toString()));
    if (isJson) {
      const lists = Object.values(Object(JSON.parse(bytes.toString())));
      const messages = whole.messages.map((message): unknown => JSON.parse(message));
      expect(
        whole.messages.length === 0 ||
          lists.some((list) => JSON.stringify(list) === JSON.stringify(messages)),
      ).toBe(true);
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
  for (const unit of ['"', '\\', '{', '[', '"\\\\', '{"a":', '"a":1,', '[]', ',', '"\\"'])
    orRefused(() => parseJson(Buffer.from(unit.repeat(400_000 / unit.length)), wide));
});
