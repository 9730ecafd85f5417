/** The limits of what is read, and the small things that events have in common. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  hookExamples,
  hookRequest,
  NOW,
  notification,
  signedSns,
  snsRequest,
} from '../../../test/support/hook-requests.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { HOOK_TYPES, type HookType } from '../../domain/relay.ts';
import { Hooks } from './hooks.ts';
import { meaningOf } from './meanings.ts';
import { addressOf, eventId, jsonOf, MAX_EVENTS, MAX_ID, timeOf, timeOfSeconds } from './reading.ts';

const hooks = new Hooks({ get: async () => ({ kind: 'failed', text: 'no' }), clock: new ManualClock(NOW) });

function read(type: HookType, body: unknown) {
  return hooks.read(type, hookRequest(type, body), 'aws');
}

function events(type: HookType, body: unknown) {
  const reading = read(type, body);
  if (!reading.ok) throw new Error(reading.why);
  return reading.events;
}

/** The only event's feedback. */
function feedback(type: HookType, body: unknown) {
  const [event, ...others] = events(type, body);
  expect(others).toEqual([]);
  if (event?.feedback == null) throw new Error('the event means nothing');
  return event.feedback;
}

const bounce = (members: object) => [
  { event: 'bounce', type: 'bounce', sg_event_id: 'x', email: 'a@b.test', ...members },
];

describe('limits', () => {
  test('5,000 events are read, and of one more none is', () => {
    const list = (length: number) =>
      Array.from({ length }, (_, i) => ({ event: 'open', sg_event_id: `${i}` }));
    expect(events('sendgrid', list(MAX_EVENTS))).toHaveLength(MAX_EVENTS);
    expect(read('sendgrid', list(MAX_EVENTS + 1))).toMatchObject({ ok: false, status: 413 });
    const named = (length: number) => Array.from({ length }, (_, i) => `${i}@b.test`);
    const delivery = (length: number) => ({
      eventType: 'Delivery',
      mail: {},
      delivery: { recipients: named(length) },
    });
    expect(events('ses', delivery(MAX_EVENTS))).toHaveLength(MAX_EVENTS);
    expect(read('ses', delivery(MAX_EVENTS + 1))).toMatchObject({ ok: false, status: 413 });
  });

  test('32 levels and 250,000 values are read, and more are refused', () => {
    const nested = (levels: number) => jsonOf(Buffer.from('['.repeat(levels) + ']'.repeat(levels)));
    expect(nested(32).ok).toBe(true);
    expect(nested(33)).toMatchObject({ ok: false, status: 400 });
    expect(nested(100_000)).toMatchObject({ ok: false, status: 400 });
    const valued = (values: number) => jsonOf(Buffer.from(`[${'0,'.repeat(values - 3)}0]`));
    expect(valued(250_000).ok).toBe(true);
    expect(valued(250_002)).toMatchObject({ ok: false, status: 400 });
  });

  test.each([
    ['no JSON', 'x'],
    ['nothing', ''],
    ['a name twice', '[{"event":"open","event":"bounce"}]'],
    ['__proto__', '[{"__proto__":{"event":"bounce"}}]'],
    ['what is not UTF-8', Buffer.from('["\xff"]', 'latin1')],
    ['a byte order mark', '\ufeff[]'],
  ])('%s is refused', (_, body) => {
    for (const type of ['sendgrid', 'postmark', 'resend'] as const)
      expect(read(type, body)).toMatchObject({ ok: false, status: 400 });
    const raw = { headers: {}, body: Buffer.from(body) };
    for (const type of ['mailgun', 'ses'] as const)
      expect(hooks.read(type, raw, 'aws')).toMatchObject({ ok: false, status: 400 });
  });

  test.each<[HookType, unknown]>([
    ['sendgrid', { event: 'bounce' }],
    ['mailgun', {}],
    ['mailgun', { 'event-data': { id: 'x' } }],
    ['postmark', []],
    ['postmark', { Type: 'HardBounce' }],
    ['resend', { data: {} }],
  ])('JSON that %s does not send is refused', (type, body) => {
    expect(read(type, body)).toMatchObject({ ok: false, status: 400 });
  });

  test('ids of 255 characters are kept; longer or odd ones become a digest, the same each time', () => {
    expect(eventId('x'.repeat(MAX_ID))).toBe('x'.repeat(MAX_ID));
    const long = eventId('x'.repeat(MAX_ID + 1));
    expect(long).toMatch(/^sha256 [\da-f]{64}$/);
    expect(eventId('x'.repeat(MAX_ID + 1))).toBe(long);
    expect(eventId('x'.repeat(MAX_ID + 2))).not.toBe(long);
    expect(eventId('a\nb')).toMatch(/^sha256 /);
    expect(eventId('é')).toMatch(/^sha256 /);
    expect(eventId('a', null, 1, { toString: 1 }, 'b')).toBe('a - 1 - b');
  });

  test('an id of a message with over 255 characters leads to none', () => {
    const known = (id: string) =>
      feedback('sendgrid', bounce({ sg_message_id: id })).message.providerMessageId;
    expect(known('x'.repeat(MAX_ID))).toBe('x'.repeat(MAX_ID));
    expect(known('x'.repeat(MAX_ID + 1))).toBeNull();
  });

  test('a Message-ID has its brackets, however it came', () => {
    const known = (id: string) =>
      feedback('mailgun', {
        'event-data': { event: 'delivered', message: { headers: { 'message-id': id } } },
      }).message.messageId;
    expect(known('a@b.test')).toBe('<a@b.test>');
    expect(known('<a@b.test>')).toBe('<a@b.test>');
    expect(known('')).toBeNull();
  });

  test('a text is one line of at most 500 characters', () => {
    const text = (reason: string) => feedback('sendgrid', bounce({ reason })).bounce.text;
    expect(text(`550 a\r\n\u2028b${'c'.repeat(600)}`)).toBe(`550 a b${'c'.repeat(493)}`);
    expect(text('550 cut \ud83d')).toBe('550 cut');
  });

  test('half of a surrogate pair costs its own text, and no other event', () => {
    const body = '[{"event":"bounce","type":"bounce","reason":"550 \\ud83d"},{"event":"delivered"}]';
    expect(events('sendgrid', body).map(({ feedback }) => feedback?.kind)).toEqual([
      'bounce',
      'confirmation',
    ]);
  });
});

test.each<[unknown, number | null, string | null]>([
  ['smtp; 550 5.1.1 user unknown', 550, '5.1.1'],
  ['smtp;550 5.1.1 x', 550, '5.1.1'],
  ['SMTP; 421 4.4.1', 421, '4.4.1'],
  ['550-5.1.1 x', 550, '5.1.1'],
  ['552 5.2.2 The account', 552, '5.2.2'],
  ['550 #5.1.0 Address rejected', 550, '5.1.0'],
  ['550', 550, null],
  ['500 unknown recipient', 500, null],
  ['5.1.1 The email account', null, '5.1.1'],
  ['250 2.0.0 OK', null, null],
  ['5500 x', null, null],
  ['550.5 x', null, null],
  ['550 5.1.1.2 x', 550, null],
  ['550 5.1.1234', 550, null],
  ['said 550 5.1.1', null, null],
  [`smtp;${' '.repeat(200)}550`, 550, null],
  [550, null, null],
  [null, null, null],
])('the codes in %j', (reason, code, enhancedCode) => {
  expect(feedback('sendgrid', bounce({ reason })).bounce).toMatchObject({ code, enhancedCode });
});

test('a code that is given apart comes first, if it is one of a refusal', () => {
  const failed = (status: object) =>
    feedback('mailgun', {
      'event-data': { event: 'failed', severity: 'permanent', 'delivery-status': status },
    }).bounce;
  expect(failed({ code: 552, 'enhanced-code': '5.2.2', message: '550 5.1.1 x' })).toMatchObject({
    code: 552,
    enhancedCode: '5.2.2',
  });
  for (const code of [605, 250, 550.5, '550', Number.MAX_VALUE])
    expect(failed({ code, 'enhanced-code': '5', message: '551 5.1.6 x' })).toMatchObject({
      code: 551,
      enhancedCode: '5.1.6',
    });
});

test.each<[unknown, string | null]>([
  ['Ann@Example.ORG', 'Ann@example.org'],
  ['Recipient <to@example.org>', 'to@example.org'],
  ['jörg@bücher.example', 'jörg@xn--bcher-kva.example'],
  ['not an address', null],
  ['a@b.test, c@d.test', null],
  ['a@b.test\r\nx', null],
  ['', null],
  ['x'.repeat(100_000), null],
  [1, null],
  [['a@b.test'], null],
])('the address in %j', (value, address) => expect(addressOf(value)).toBe(address));

test.each<[unknown, string | null]>([
  ['2016-04-27T16:28:50.3963933-04:00', '2016-04-27T20:28:50.396Z'],
  ['2026-11-22T23:41:11.894719+00:00', '2026-11-22T23:41:11.894Z'],
  ['1969-12-31T23:59:59Z', null],
  ['2026-02-30T00:00:00Z', null],
  ['yesterday', null],
  [1513299569, null],
])('the time %j', (value, time) => {
  const ms = timeOf(value);
  expect(ms === null ? null : new Date(ms).toISOString()).toBe(time);
});

test.each<[unknown, number | null]>([
  [1513299569, 1_513_299_569_000],
  [1534108637.153125, 1_534_108_637_153],
  ['1521233195.375624', 1_521_233_195_375],
  [0, 0],
  [-1, null],
  [1e300, null],
  [Number.NaN, null],
  ['1e9', null],
  ['', null],
  [null, null],
  [true, null],
])('the seconds %j', (value, ms) => expect(timeOfSeconds(value)).toBe(ms));

test('an event without a time of its own has that of its publication, or none', () => {
  const request = snsRequest(
    signedSns(notification({ eventType: 'Bounce', mail: {}, bounce: { bouncedRecipients: ['a@b.test'] } })),
  );
  const reading = hooks.read('ses', request, 'aws');
  expect(reading).toMatchObject({
    events: [{ feedback: { at: NOW, recipient: 'a@b.test', bounce: { type: 'undetermined' } } }],
  });
  expect(feedback('sendgrid', bounce({})).at).toBeNull();
});

test('the same event has the same id in every repeat, and another one for every other event', () => {
  for (const type of HOOK_TYPES)
    for (const { body } of hookExamples(type)) {
      const ids = events(type, body).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(events(type, body).map(({ id }) => id)).toEqual(ids);
    }
  const postmark = (members: object) =>
    events('postmark', { RecordType: 'Bounce', ID: 1, ...members })[0]?.id;
  // Beyond 2^53 the two numbers are read as one.
  const [one, other] = [4323372036854775807n, 4323372036854775806n].map(Number);
  expect(one).toBe(other);
  expect(postmark({ ID: one, MessageID: 'a' })).not.toBe(postmark({ ID: other, MessageID: 'b' }));
});

test('members that are objects without a text are no text', () => {
  const odd = { toString: 1, valueOf: 1 };
  expect(events('sendgrid', [{ event: 'bounce', email: odd, timestamp: odd }])).toHaveLength(1);
  expect(
    events('mailgun', { 'event-data': { event: 'delivered', recipient: odd, timestamp: odd } }),
  ).toHaveLength(1);
  const record = { RecordType: 'SubscriptionChange', Recipient: odd, ID: odd, SuppressSending: odd };
  expect(events('postmark', record)).toHaveLength(1);
});

test('words of prototypes and any other words mean nothing', () => {
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', '', '*', 'Bounce/*'];
  for (const type of HOOK_TYPES)
    for (const name of names) expect(meaningOf(type, [name, name, name])).toBeNull();
  expect(events('ses', { eventType: 'constructor', mail: { destination: ['a@b.test'] } })).toMatchObject([
    { feedback: null },
  ]);
  fc.assert(
    fc.property(
      fc.constantFrom(...HOOK_TYPES),
      fc.array(fc.option(fc.string()), { maxLength: 4 }),
      (type, words) => {
        expect(meaningOf(type, words)).toBeNull();
      },
    ),
  );
});

test('the form with the most words decides', () => {
  expect(meaningOf('ses', ['Bounce', 'Permanent', 'Suppressed'])?.type).toBe('provider_suppressed');
  expect(meaningOf('ses', ['Bounce', 'Permanent', 'Suppressed2'])?.type).toBe('hard');
  expect(meaningOf('ses', ['Bounce', 'Other', null])?.type).toBe('undetermined');
  expect(meaningOf('mailgun', ['failed', 'permanent', 'suppress-anything'])?.type).toBe(
    'provider_suppressed',
  );
  expect(meaningOf('mailgun', ['failed', null, 'bounce'])).toBeNull();
});
