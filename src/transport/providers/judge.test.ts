import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judge, restOf, rowFor } from './judge.ts';
import type { AnswerRow } from './provider.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const NOTE = { enhanced: '5.0.0', note: '' };

describe('the first row that matches decides', () => {
  const rows: readonly AnswerRow[] = [
    { status: 400, code: 'a', meaning: 'later', ...NOTE },
    { status: '4xx', code: 'b', meaning: 'relay_ill', ...NOTE },
    { status: 400, meaning: 'never', ...NOTE },
  ];

  test.each([
    [400, 'a', 'later'],
    [400, 'b', 'relay_ill'],
    [499, 'b', 'relay_ill'],
    [400, 'c', 'never'],
    [400, null, 'never'],
    [429, 'a', 'relay_ill'],
    [401, null, 'relay_ill'],
  ])('%i %s: %s', (status, code, meaning) => {
    expect(rowFor(rows, status, code).meaning).toBe(meaning);
  });
});

test.each([
  [200, 'done'],
  [202, 'done'],
  [301, 'relay_ill'],
  [307, 'relay_ill'],
  [400, 'later'],
  [401, 'relay_ill'],
  [403, 'relay_ill'],
  [404, 'relay_ill'],
  [407, 'relay_ill'],
  [408, 'later'],
  [413, 'never'],
  [422, 'later'],
  [499, 'later'],
  [425, 'later'],
  [429, 'relay_ill'],
  [500, 'later'],
  [502, 'unknown'],
  [503, 'relay_ill'],
  [504, 'unknown'],
  [599, 'later'],
  [600, 'unknown'],
])('where a provider has no row, %i means %s', (status, meaning) => {
  expect(rowFor([], status, null).meaning).toBe(meaning);
});

test.each([
  [undefined, null],
  ['0', null],
  ['120', 120_000],
  [' 120 ', 120_000],
  ['3600', 3_600_000],
  ['99999', 3_600_000],
  ['9999999999999999', null],
  ['-5', null],
  ['1.5', null],
  ['soon', null],
  ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
  ['Sat, 21 Nov 2026 11:00:00 GMT', null],
  ['Sun, 22 Nov 2026 12:00:00 GMT', 3_600_000],
  ['Sat, 99 Xyz 2026 12:00:30 GMT', null],
])('Retry-After %j is %j ms', (header, ms) => {
  expect(restOf(header, NOW)).toBe(ms);
});

test.each([
  [200, true, true, 'done'],
  [200, true, false, 'later'],
  [200, false, true, 'unknown'],
  [200, false, false, 'later'],
  [502, true, true, 'unknown'],
  [502, true, false, 'later'],
])('%i, understood %s, the request whole %s: %s', (status, understood, isWhole, meaning) => {
  const facts = { code: null, text: null, messageId: null, understood };
  const answer = { status, headers: {}, body: '' };
  const judged = judge([], { answer, phrase: 'OK', isWhole, facts, secrets: [], now: NOW });
  expect(judged.meaning).toBe(meaning);
  expect(judged.reply.enhanced).toMatch(meaning === 'done' ? /^2/ : /^4/);
});

test('whatever a provider says, it is one line without the secret', () => {
  const secret = 'very-secret-key';
  const letters = ['a', 'B', '7', '_', ' ', '\r', '\n', '\0', '\u0085', '\u2028', '\u202e', 'ü', '😀', '"'];
  const words = fc.string({ unit: fc.constantFrom(...letters) });
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 599 }), words, words, (status, code, more) => {
      const { reply } = judge([], {
        answer: { status, headers: {}, body: '' },
        phrase: 'Phrase',
        isWhole: true,
        facts: {
          code: `${code}${secret}${more}`,
          text: `${more}${secret}${more}`,
          messageId: secret,
          understood: true,
        },
        secrets: [secret],
        now: NOW,
      });
      expect(reply.text).not.toContain(secret);
      expect(reply.cause).not.toContain('very_secret_key');
      expect(reply.text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      expect(reply.text.length).toBeLessThanOrEqual(1000);
      expect(reply.cause).toMatch(/^provider_[a-z0-9_]{0,64}$/);
    }),
  );
});
