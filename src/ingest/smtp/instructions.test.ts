import { describe, expect, test } from 'vitest';
import { MAX_HANDED_IN_HEADER, readHandedIn } from '../../mail/handed-in.ts';
import { isInstruction, NO_INSTRUCTIONS, readInstructions } from './instructions.ts';

const NOW = Date.UTC(2026, 10, 20, 11, 15);
const LIMITS = { maxTags: 3, maxMetadata: 2 };

function read(...lines: readonly string[]) {
  const text = lines.map((line) => `${line}\r\n`).join('');
  const message = readHandedIn([Buffer.from(text)], MAX_HANDED_IN_HEADER);
  return readInstructions(message?.header.fields ?? [], LIMITS, NOW);
}

function refused(...lines: readonly string[]): string {
  const found = read(...lines);
  if (found.ok) return 'not refused';
  const { code, enhanced, text } = found.refusal.reply;
  expect(found.refusal.denied).toBeNull();
  return `${code} ${enhanced} ${text}`;
}

test('a message without instructions asks for nothing', () =>
  expect(read('Subject: X-Waybill-Tag: a', 'X-Tag: b')).toEqual({ ok: true, instructions: NO_INSTRUCTIONS }));

test('all of them are read, in any letter case', () =>
  expect(
    read(
      'X-Waybill-Tag: first',
      'x-waybill-tag : =?utf-8?q?zw=C3=B6lf?=',
      'X-WAYBILL-TAG: first',
      'X-Waybill-Send-At: 2026-11-20T12:15:00+00:00',
      'X-Waybill-Metadata-orderId: 47\r\n 11',
      'X-Waybill-Metadata-a.b: =?utf-8?q?=C3=A4?=',
      'X-Waybill-Priority: bulk',
      'Idempotency-Key: order 4711',
      'X-Waybill-Stream: NEWS',
      'X-Waybill-Unsubscribe: News',
      'X-Waybill-Suppression: ignore',
      'X-Waybill-Box: worker-1',
    ),
  ).toEqual({
    ok: true,
    instructions: {
      tags: ['first', 'zwölf'],
      metadata: { orderId: '47 11', 'a.b': 'ä' },
      sendAt: NOW + 3_600_000,
      priority: 'bulk',
      idempotencyKey: 'order 4711',
      stream: 'news',
      unsubscribe: 'News',
      ignoresSuppression: true,
      box: 'worker-1',
    },
  }));

test('an empty one is as good as none, and a time in the past means now', () =>
  expect(
    read(
      'X-Waybill-Tag:',
      'X-Waybill-Send-At: ',
      'X-Waybill-Metadata-a:',
      'X-Waybill-Priority:',
      'Idempotency-Key:',
      'X-Waybill-Send-At: 2020-01-01T00:00:00Z',
    ),
  ).toEqual({ ok: true, instructions: NO_INSTRUCTIONS }));

describe('refused by name and rule', () => {
  test.each([
    [[`X-Waybill-Tag: ${'x'.repeat(129)}`], 'X-Waybill-Tag: A tag is 1 to 128 printable characters.'],
    [['X-Waybill-Tag: a', 'X-Waybill-Tag: b', 'X-Waybill-Tag: c', 'X-Waybill-Tag: d'], 'raise api.max_tags'],
    [
      ['X-Waybill-Metadata-a: 1', 'X-Waybill-Metadata-b: 2', 'X-Waybill-Metadata-c: 3'],
      'raise api.max_metadata',
    ],
    [['X-Waybill-Metadata-a: 1', 'X-Waybill-Metadata-a: 2'], 'X-Waybill-Metadata-a: May appear only once'],
    [['X-Waybill-Metadata-a/b: 1'], 'such as "a_b"'],
    [[`X-Waybill-Stream: ${'x'.repeat(256)}`], 'X-Waybill-Stream: A stream is 1 to 255 printable characters'],
    [['X-Waybill-Suppression: none'], 'X-Waybill-Suppression: Must be "ignore"'],
    [
      ['X-Waybill-Unsubscribe: our news'],
      'X-Waybill-Unsubscribe: A stream that can be unsubscribed from is 1 to 64',
    ],
    [['X-Waybill-Unsubscribe: a', 'X-Waybill-Unsubscribe: a'], 'X-Waybill-Unsubscribe: May appear only once'],
    [['X-Waybill-Stream: a', 'X-Waybill-Unsubscribe: b'], 'X-Waybill-Unsubscribe: A message has one stream'],
    [['X-Waybill-Unsubscribe: b', 'X-Waybill-Stream: a'], 'X-Waybill-Stream: A message has one stream'],
    [['X-Waybill-Box: Worker 1'], 'X-Waybill-Box: Must be 1 to 64 characters'],
    [['X-Waybill-Box: a', 'X-Waybill-Box: a'], 'X-Waybill-Box: May appear only once'],
    [['X-Waybill-Metadata-__proto__: 1'], 'not "__proto__"'],
    [['X-Waybill-Metadata-: 1'], 'X-Waybill-Metadata-: A name is 1 to 64 characters'],
    [
      [`X-Waybill-Metadata-a: ${'x'.repeat(4097)}`],
      'A value may have at most 4096 bytes; this one has 4097.',
    ],
    [['X-Waybill-Send-At: tomorrow'], 'X-Waybill-Send-At: Must be a date, a time and its zone'],
    [['X-Waybill-Send-At: 2026-12-20T11:15:01Z'], 'at most 30 days ahead'],
    [
      ['X-Waybill-Send-At: 2020-01-01T00:00:00Z', 'X-Waybill-Send-At: 2020-01-01T00:00:00Z'],
      'May appear only once',
    ],
    [['X-Waybill-Priority: urgent'], 'X-Waybill-Priority: Must be "high", "normal" or "bulk".'],
    [['X-Waybill-Priority: high', 'X-Waybill-Priority: high'], 'May appear only once'],
    [[`Idempotency-Key: ${'x'.repeat(257)}`], 'Idempotency-Key: Must be 1 to 256 printable ASCII characters'],
    [['Idempotency-Key: a', 'Idempotency-Key: a'], 'May appear only once'],
    [['X-Waybill-Tags: a'], 'X-Waybill-Tags: There is no such header; X-Waybill-Tag, '],
    [['X-Waybill-Tags:'], 'X-Waybill-Tags: There is no such header'],
    [['X-Waybill-Metadata: a'], 'X-Waybill-Metadata: There is no such header'],
  ])('%j', (lines, text) => {
    const told = refused(...lines);
    expect(told).toContain('550 5.6.0 ');
    expect(told).toContain(text);
  });
});

test('as many as the limit are taken', () => {
  expect(read(...['a', 'b', 'c'].map((tag) => `X-Waybill-Tag: ${tag}`)).ok).toBe(true);
  expect(read('X-Waybill-Metadata-a: 1', 'X-Waybill-Metadata-b: 2').ok).toBe(true);
});

test.each([
  ['x-waybill-tag', true],
  ['x-waybill-', true],
  ['idempotency-key', true],
  ['x-waybillish', false],
  ['idempotency-keys', false],
  ['subject', false],
])('%s is ours: %s', (lowerName, ours) => expect(isInstruction({ lowerName })).toBe(ours));
