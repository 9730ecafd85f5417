import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BatchSplitter } from './batch-splitter.ts';

/** The texts and the frame of a body that comes in pieces of these lengths, the last one repeated. */
function split(body: string | Buffer, lengths: readonly number[] = [1e9], maxMessages = 1000) {
  const splitter = new BatchSplitter({ maxMessages });
  const bytes = Buffer.from(body);
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const length = lengths[Math.min(piece, lengths.length - 1)] ?? 1;
    splitter.push(bytes.subarray(at, at + length));
    at += length;
  }
  const { frame, messages } = splitter.finish();
  return { frame: frame.toString(), messages: messages.map((pieces) => Buffer.concat(pieces).toString()) };
}

test.each([
  ['{"messages":[]}', '{"messages":[]}', []],
  ['{"messages":[ ]}', '{"messages":[]}', []],
  ['{"messages":[{"a":1},{"b":[2,{"c":3}]}]}', '{"messages":[0,0]}', ['{"a":1}', '{"b":[2,{"c":3}]}']],
  [' { "messages" : [ 1 , "x" ] } ', ' { "messages" : [0,0] } ', [' 1 ', ' "x" ']],
  ['{"a":"]}[,","messages":["\\"],\\\\",2]}', '{"a":"]}[,","messages":[0,0]}', ['"\\"],\\\\"', '2']],
  ['[{"a":1}]', '[{"a":1}]', []],
  ['{"messages":[1],"other":[2]}', '{"messages":[0],"other":[0]}', ['1', '2']],
  ['{"messages":{"a":[1]}}', '{"messages":{"a":[1]}}', []],
  ['{"messages":[1,]}', '{"messages":[0,]}', ['1']],
  ['{"messages":[1}', '{"messages":[0}', ['1']],
  ['{"messages":[{"a":1]}]}', '{"messages":[0}]}', ['{"a":1]']],
  ['{"messages":[1', '{"messages":[', []],
  ['{"messages":["', '{"messages":[', []],
])('%s', (body, frame, messages) => {
  expect(split(body)).toEqual({ frame, messages });
  expect(split(body, [1])).toEqual({ frame, messages });
});

const json = fc.json({ maxDepth: 5 });

test('what comes out, put back, is what went in, however it is cut', () => {
  const property = fc.property(
    fc.array(json, { maxLength: 20 }),
    fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
    (texts, lengths) => {
      const { frame, messages } = split(`{"messages":[${texts.join(',')}]}`, lengths);
      expect(messages).toEqual(texts);
      expect(JSON.parse(frame)).toEqual({ messages: texts.map(() => 0) });
    },
  );
  fc.assert(property, { numRuns: 1000 });
});

test('a body is JSON exactly when its frame and every piece of it are', () => {
  const isJson = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const noise = fc.string({ unit: fc.constantFrom(...'{}[]",:\\ 01'), maxLength: 12 });
  const property = fc.property(noise, (text) => {
    const body = `{"messages":[${text}`;
    const { frame, messages } = split(body);
    expect(isJson(frame) && messages.every(isJson)).toBe(isJson(body));
  });
  fc.assert(property, { numRuns: 20_000 });
});

describe('bounds', () => {
  test('as many messages as allowed, and not one more', () => {
    expect(split('{"messages":[1,2]}', [1], 2).messages).toHaveLength(2);
    expect(() => split('{"messages":[1,2,3]}', [1], 2)).toThrow(
      expect.objectContaining({ status: 400, code: 'invalid_submission' }),
    );
  });

  test('what is no batch is refused before it is all kept', () => {
    expect(() => split(`[${'1,'.repeat(40_000)}1]`)).toThrow(expect.objectContaining({ status: 400 }));
    expect(() => split(`{"text":"${'x'.repeat(70_000)}"}`, [1000])).toThrow(
      expect.objectContaining({ status: 400 }),
    );
  });

  test('a string of backslashes is looked at once', () => {
    const text = `"${'\\\\'.repeat(500_000)}"`;
    expect(split(`{"messages":[${text}]}`, [997]).messages).toEqual([text]);
  });
});
