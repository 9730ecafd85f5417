import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inLinearTime } from '../../test/fuzz/processor-time.ts';
import {
  type BounceFacts,
  bounceTypeOf,
  bounceTypeOfReply,
  GUARD_WINDOW_MS,
  guardAfter,
  HELD_BACK,
  SOFT_BOUNCE_WINDOW_MS,
  softBouncesInARow,
  suppressionBy,
} from './bounce.ts';
import { BOUNCE_TYPES } from './feedback.ts';
import { localReply } from './outcome.ts';
import { SUPPRESSION_REASONS } from './suppression.ts';

const HOUR = GUARD_WINDOW_MS;
const DAY = 86_400_000;
const NOW = 1_790_000_000_000;

const typeOf = (facts: Partial<BounceFacts>) =>
  bounceTypeOf({ code: null, enhanced: null, text: '', ...facts });

test.each([
  ['hard', '5.1.0 5.1.1 5.1.2 5.1.3 5.1.6 5.1.10 5.2.1'],
  ['soft', '4.0.1 4.1.1 4.2.1 4.7.1 5.2.2 5.2.3 5.3.1 5.4.1 5.4.7 5.4.316 5.5.0 5.5.4'],
  ['block', '5.7.1 5.7.26 5.7.606 5.6.0 5.6.7 5.3.4'],
  ['undetermined', '5.1.4 5.1.7 5.1.8 5.2.0 5.2.4 5.3.0 5.3.2 5.1.351 2.1.5 5.1 5.1.1.1 nonsense'],
] as const)('%s: %s', (type, codes) => {
  for (const enhanced of codes.split(' ')) expect([enhanced, typeOf({ enhanced })]).toEqual([enhanced, type]);
});

test('the enhanced code decides before the words', () => {
  expect(typeOf({ code: 550, enhanced: '5.7.1', text: 'User unknown' })).toBe('block');
  expect(typeOf({ code: 550, enhanced: '5.1.1', text: 'blocked by policy' })).toBe('hard');
  expect(typeOf({ code: 550, enhanced: '4.4.7', text: 'User unknown' })).toBe('soft');
});

test('a code of the class alone says nothing: the words decide', () => {
  for (const enhanced of ['5.0.0', '4.0.0', null])
    expect(typeOf({ code: 550, enhanced, text: 'User unknown' })).toBe('hard');
});

test('an enhanced code that decides nothing leaves the words of a refusal, and no others', () => {
  expect(typeOf({ code: 550, enhanced: '5.3.0', text: 'No such user here' })).toBe('undetermined');
  expect(typeOf({ code: 552, enhanced: '5.2.0', text: 'Over quota' })).toBe('undetermined');
  expect(typeOf({ code: 550, enhanced: '5.2.0', text: 'spam detected' })).toBe('block');
});

test('words make a mailbox unknown with 550, 551 and 553 alone', () => {
  for (const code of [550, 551, 553]) expect(typeOf({ code, text: 'User unknown' })).toBe('hard');
  for (const code of [500, 501, 552, 554, null])
    expect(typeOf({ code, text: 'User unknown' })).toBe('undetermined');
});

test('a transient code that became final is soft, whatever its words', () => {
  for (const text of ['', 'User unknown', 'blocked by policy'])
    expect(typeOf({ code: 451, text })).toBe('soft');
});

test('a code within the words counts where nothing else does', () => {
  expect(typeOf({ code: 511, text: 'sorry (#5.1.1 - chkuser)' })).toBe('hard');
  expect(typeOf({ code: 550, text: '#5.7.1 no' })).toBe('block');
  expect(typeOf({ code: 550, text: 'sorry (#5.0.0)' })).toBe('undetermined');
  expect(typeOf({ code: 550, enhanced: '5.3.0', text: 'sorry (#5.1.1)' })).toBe('undetermined');
  expect(typeOf({ code: 550, text: 'sorry (#5.1.1.7)' })).toBe('undetermined');
});

test('what expired is soft; what the provider kept back is so, whatever codes it shows', () => {
  expect(typeOf({ expired: true })).toBe('soft');
  expect(typeOf({ expired: true, code: 550, text: 'blocked' })).toBe('soft');
  expect(typeOf({ providerSuppressed: true, enhanced: '5.1.1' })).toBe('provider_suppressed');
});

test('the mailbox that does not exist may be the sender’s, or one of too many', () => {
  for (const text of [
    'Sender verify failed: user unknown',
    'MAIL FROM: no such user',
    'Callback failed: user unknown',
    'Absender: Benutzer unbekannt',
  ])
    expect(typeOf({ code: 550, text })).toBe('undetermined');
  expect(typeOf({ code: 550, text: 'Too many unknown users: user unknown' })).toBe('block');
});

test('a mailbox that is unavailable for a while exists, and a quota on sending is not its own', () => {
  expect(typeOf({ code: 550, text: 'Mailbox unavailable' })).toBe('hard');
  expect(typeOf({ code: 550, text: 'Mailbox unavailable, try again later' })).toBe('undetermined');
  expect(typeOf({ code: 550, text: 'Mailbox unavailable: policy' })).toBe('block');
  expect(typeOf({ code: 552, text: 'Quota exceeded' })).toBe('soft');
  expect(typeOf({ code: 552, text: 'Daily sending quota exceeded' })).toBe('block');
});

test('an address, a path of a URL and codes between lines are no words', () => {
  expect(typeOf({ code: 550, text: '<spam@block.example> no' })).toBe('undetermined');
  expect(typeOf({ code: 550, text: 'see https://example.org/spam?policy' })).toBe('undetermined');
  expect(typeOf({ code: 550, text: 'User 550-5.1.1 jane@x.org 550 unknown' })).toBe('hard');
});

test.each([
  'Empfänger unbekannt',
  'Empfaenger unbekannt',
  'Das Postfach jane@x.org existiert nicht',
  'L’adresse n’existe pas',
  'Destinatario sconosciuto',
  'Usuario desconocido',
  '收件人不存在',
  'ユーザーが存在しません。',
  'Почтовый ящик не существует',
])('a mailbox is unknown in other languages: %s', (text) => {
  expect(typeOf({ code: 550, text })).toBe('hard');
  expect(typeOf({ code: 550, text: text.normalize('NFD').toUpperCase() })).toBe('hard');
});

test('our own replies: HTTP statuses are no codes of SMTP', () => {
  const smtp = { ...localReply('smtp_reply', '5.0.0', 'No such user'), code: 550 };
  expect(bounceTypeOfReply(smtp, false)).toBe('hard');
  const http = { ...localReply('provider_rejected', '5.0.0', 'Bad request'), code: 422 };
  expect(bounceTypeOfReply(http, false)).toBe('undetermined');
  expect(bounceTypeOfReply(http, true)).toBe('soft');
  expect(bounceTypeOfReply(localReply('null_mx', '5.1.10', 'accepts no mail'), false)).toBe('hard');
});

test('whatever a peer says has a type, soon', () => {
  const anything = fc.record({
    code: fc.option(fc.nat(999)),
    enhanced: fc.option(fc.oneof(fc.string(), fc.constantFrom('5.1.1', '5.0.0', '4.2.2', '5.7.1'))),
    text: fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('#', '5', '.', '@', ' ', '/', ':') }),
    ),
    expired: fc.boolean(),
    providerSuppressed: fc.boolean(),
  });
  fc.assert(
    fc.property(anything, (facts) => {
      expect(BOUNCE_TYPES).toContain(bounceTypeOf(facts));
    }),
  );
  inLinearTime(['@', 'a@', '://', '#5.1.', 'user unknown ', '\u0300', '\ufdfa', '550-'], (text) =>
    typeOf({ code: 550, text }),
  );
});

test('what suppresses, and why', () => {
  expect(BOUNCE_TYPES.map((type) => suppressionBy(type, 1, 5))).toEqual([
    'hard_bounce',
    null,
    null,
    'provider',
    null,
  ]);
  expect([4, 5, 6].map((count) => suppressionBy('soft', count, 5))).toEqual([
    null,
    'soft_bounces',
    'soft_bounces',
  ]);
  expect(suppressionBy('block', 100, 5)).toBeNull();
});

test('soft bounces count for 30 days, and from the last delivery on', () => {
  const old = NOW - SOFT_BOUNCE_WINDOW_MS;
  expect(softBouncesInARow([old, old + 1, NOW - DAY, NOW], null, NOW)).toBe(3);
  expect(softBouncesInARow([old, old + 1, NOW - DAY, NOW], NOW - DAY, NOW)).toBe(1);
  expect(softBouncesInARow([], null, NOW)).toBe(0);
  expect(softBouncesInARow([NOW - 1, NOW + HOUR], null, NOW), 'another clock was ahead').toBe(2);
});

test('a domain is guarded by more than 50 hard bounces that are over half of what it decided', () => {
  const begins = { until: NOW + HOUR, begins: true };
  const none = { until: null, begins: false };
  expect(guardAfter(null, { decided: 101, hard: 51 }, NOW)).toEqual(begins);
  expect(guardAfter(null, { decided: 102, hard: 51 }, NOW)).toEqual(none);
  expect(guardAfter(null, { decided: 50, hard: 50 }, NOW)).toEqual(none);
  expect(guardAfter(null, { decided: 51, hard: 51 }, NOW)).toEqual(begins);
});

test('a guard lasts until an hour has passed without such figures', () => {
  const { until } = guardAfter(null, { decided: 51, hard: 51 }, NOW);
  expect(guardAfter(until, { decided: 60, hard: 60 }, NOW + 1_000)).toEqual({
    until: NOW + 1_000 + HOUR,
    begins: false,
  });
  expect(guardAfter(until, { decided: 200, hard: 60 }, NOW + 1_000)).toEqual({ until, begins: false });
  expect(guardAfter(until, { decided: 9, hard: 1 }, NOW + HOUR)).toEqual({ until: null, begins: false });
  expect(guardAfter(until, { decided: 51, hard: 51 }, NOW + HOUR)).toEqual({
    until: NOW + 2 * HOUR,
    begins: true,
  });
});

test('a guard holds back bounces, not people', () => {
  expect(SUPPRESSION_REASONS.filter((reason) => HELD_BACK.includes(reason))).toEqual([
    'hard_bounce',
    'provider',
    'soft_bounces',
  ]);
});
