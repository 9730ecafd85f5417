import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce, SLICE_BYTES } from '../../lib/clock.ts';
import { Base64, type Json, jsonObject, writeJson } from './json-body.ts';

function parsed(value: Json): unknown {
  return JSON.parse(Buffer.concat(atOnce(writeJson(value))).toString());
}

const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary' }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.oneof(fc.string(), fc.constant('__proto__')), tie('json')), { maxLength: 4 })
      .map((fields) => new Map(fields)),
  ),
}));

/** What the platform's own writer makes of it. */
function plain(value: Json): unknown {
  if (value instanceof Map) {
    const fields = [...value].map(
      ([name, member]) => `${JSON.stringify(name)}:${JSON.stringify(plain(member))}`,
    );
    return JSON.parse(`{${fields.join(',')}}`);
  }
  return Array.isArray(value) ? value.map(plain) : value;
}

test('any value is read back as it was', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(parsed(value)).toEqual(plain(value));
    }),
  );
});

test('bytes are one string of base64, however many', () => {
  for (const length of [0, 1, 2, 3, SLICE_BYTES - 1, SLICE_BYTES, 2 * SLICE_BYTES + 1]) {
    const bytes = Buffer.alloc(length, 'aü€');
    expect(parsed([new Base64(bytes)])).toEqual([bytes.toString('base64')]);
  }
});

test('a long text is written in slices, and no character is lost where they are cut', () => {
  const text = `x${'😀"\\\n'.repeat(SLICE_BYTES)}`;
  const work = writeJson(text);
  let turns = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) turns++;
  expect(turns).toBeGreaterThanOrEqual(Math.floor(text.length / SLICE_BYTES));
  expect(JSON.parse(Buffer.concat(step.value).toString())).toBe(text);
});

test('a field without a value is no field', () => {
  expect(parsed(jsonObject({ a: undefined, b: null, c: '' }))).toEqual({ b: null, c: '' });
});
