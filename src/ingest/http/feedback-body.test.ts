import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { MAX_FEEDBACK_TEXT, NO_FACTS, NO_MESSAGE } from '../../domain/feedback.ts';
import { requestFaults } from '../../operations/request-faults.ts';
import { feedbackBodySchema, feedbackOfBody } from './feedback-body.ts';

const BOUNCE = { kind: 'bounce', recipient: 'Ann@Example.ORG', id: 'msg_01' };

function read(body: unknown) {
  const parsed = feedbackBodySchema.safeParse(body, { reportInput: true });
  return parsed.success ? feedbackOfBody(parsed.data) : requestFaults(parsed.error.issues);
}

/** The faulty fields, with their codes. */
function faultsOf(body: unknown): string[] {
  const faults = read(body);
  return Array.isArray(faults) ? faults.map(({ pointer, code }) => `${pointer} ${code}`) : [];
}

test('a bounce keeps its facts', () => {
  const body = {
    ...BOUNCE,
    bounceType: 'soft',
    code: 452,
    enhancedCode: '4.2.2',
    text: ' mailbox\r\nfull ',
    at: '2026-11-20T12:15:00+01:00',
  };
  expect(read(body)).toEqual({
    kind: 'bounce',
    source: 'api',
    message: { ...NO_MESSAGE, id: 'msg_01' },
    recipient: 'Ann@example.org',
    bounce: { type: 'soft', code: 452, enhancedCode: '4.2.2', text: 'mailbox full' },
    at: Date.UTC(2026, 10, 20, 11, 15),
  });
});

test.each(['complaint', 'unsubscribe', 'confirmation'])(
  'a %s needs no more than its recipient and its message',
  (kind) => {
    expect(read({ kind, recipient: 'a@y.test', providerMessageId: '0100-x', at: null, text: null })).toEqual({
      kind,
      source: 'api',
      message: { ...NO_MESSAGE, providerMessageId: '0100-x' },
      recipient: 'a@y.test',
      bounce: NO_FACTS,
      at: null,
    });
  },
);

test.each(['<1@x.test>', '1@x.test', ' <1@x.test> '])(
  '%j names the message by its Message-ID',
  (messageId) => {
    expect(read({ kind: 'complaint', recipient: 'a@y.test', messageId })).toMatchObject({
      message: { ...NO_MESSAGE, messageId: '<1@x.test>' },
    });
  },
);

test('a long text is cut', () => {
  const read500 = read({ ...BOUNCE, text: 'x'.repeat(MAX_FEEDBACK_TEXT + 1) });
  expect(read500).toMatchObject({ bounce: { text: 'x'.repeat(MAX_FEEDBACK_TEXT) } });
});

// biome-ignore format: a table
test.each<[fault: string, change: Readonly<Record<string, unknown>>]>([
  ['/kind required', { kind: undefined }],
  ['/kind type', { kind: 'delayed' }],
  ['/recipient required', { recipient: undefined }],
  ['/recipient type', { recipient: null }],
  ['/recipient type', { recipient: 'Ann <ann@example.org>' }],
  ['/recipient type', { recipient: 'ann' }],
  ['/recipient too_long', { recipient: `${'a'.repeat(1000)}@y.test` }],
  [' type', { id: undefined }],
  ['/messageId type', { messageId: '<1@x.test>' }],
  ['/providerMessageId type', { providerMessageId: 'x' }],
  ['/messageId type', { id: null, messageId: '<one two>' }],
  ['/messageId too_long', { id: null, messageId: 'x'.repeat(1001) }],
  ['/id required', { id: '' }],
  ['/id too_long', { id: 'x'.repeat(65) }],
  ['/providerMessageId too_long', { id: null, providerMessageId: 'x'.repeat(501) }],
  ['/bounceType type', { bounceType: 'hardish' }],
  ['/code out_of_range', { code: 250 }],
  ['/code out_of_range', { code: 600 }],
  ['/code type', { code: '550' }],
  ['/code type', { code: 550.5 }],
  ['/enhancedCode type', { enhancedCode: '5.1' }],
  ['/enhancedCode type', { enhancedCode: '3.1.1' }],
  ['/text type', { text: 5 }],
  ['/at type', { at: 'yesterday' }],
  ['/reason unknown_field', { reason: 'x' }],
  ['/code type', { kind: 'complaint', code: 550 }],
  ['/bounceType type', { kind: 'unsubscribe', bounceType: 'hard' }],
])('%s: %j', (fault, change) => expect(faultsOf({ ...BOUNCE, ...change })).toEqual([fault]));

test('all faults are told at once', () => {
  expect(faultsOf({ kind: 'x', recipient: 1, code: 1, at: '', more: 1 }).sort()).toEqual([
    '/at type',
    '/code out_of_range',
    '/kind type',
    '/more unknown_field',
    '/recipient type',
  ]);
});

test('any JSON is feedback or has faults, and never throws', () => {
  const member = fc.oneof(
    fc.json().map((text): unknown => JSON.parse(text)),
    fc.constantFrom('bounce', 'a@y.test', '<1@x.test>', 550, null),
  );
  const names = [
    'kind',
    'recipient',
    'id',
    'messageId',
    'providerMessageId',
    'bounceType',
    'code',
    'text',
    'at',
    'x',
  ];
  const body = fc.oneof(fc.anything(), fc.dictionary(fc.constantFrom(...names), member));
  fc.assert(
    fc.property(body, (value) => {
      const result = read(value);
      return !Array.isArray(result) || result.length > 0;
    }),
    { numRuns: 2000 },
  );
});

test('the API can describe it', () => {
  const described = z.toJSONSchema(feedbackBodySchema, { io: 'input' });
  expect(described).toMatchObject({
    type: 'object',
    required: ['kind', 'recipient'],
    additionalProperties: false,
  });
});
