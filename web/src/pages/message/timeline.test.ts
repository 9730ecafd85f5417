import { describe, expect, it } from 'vitest';
import { sourceWords } from './aftermath.ts';
import { sameWays } from './page.tsx';
import { type Attempt, replyText, type Story } from './story.ts';
import { offsetsOf, phasesOf, timelineOf } from './timeline.ts';

const NOTHING_TOLD = { confirmedAt: null, bounce: null, complainedAt: null, unsubscribedAt: null };
const BOB = { address: 'bob@example.org', ...NOTHING_TOLD };

const RECORD = {
  id: 'msg_1',
  status: 'delivered',
  outcome: 'accepted',
  source: 'api',
  createdAt: '2026-11-22T03:00:00.000Z',
  timestamp: '2026-11-22T03:00:01.000Z',
  durationMs: 812,
  attempts: 1,
  recipients: [BOB],
};

function attempt(number: number, outcome: string, more: object = {}): Attempt {
  return {
    number,
    startedAt: `2026-11-22T03:00:0${number}.000Z`,
    relay: 'out',
    host: 'mx.example.org',
    timings: { totalMs: 100 },
    results: [
      { recipient: 'bob@example.org', outcome, code: 250, enhancedCode: '2.0.0', reply: '250 2.0.0 ok' },
    ],
    ...more,
  } as unknown as Attempt;
}

function story(record: object, rest: object = {}): Story {
  return {
    record: { ...RECORD, ...record },
    attempts: [],
    moreAttempts: false,
    key: null,
    sourceAddress: null,
    captured: false,
    ...rest,
  } as unknown as Story;
}

const titles = (of: Story) => timelineOf(of).map(({ title, ahead }) => (ahead ? `(${title})` : title));

describe('the life of a message', () => {
  it('says whose API it came through', () => {
    expect(titles(story({ door: 'ses' }))).toContain('Accepted by the HTTP API in Amazon SES’s form');
  });

  it('leads from its acceptance by its attempts to its end', () => {
    const whole = story({}, { attempts: [attempt(1, 'deferred'), attempt(2, 'delivered')] });
    expect(titles(whole)).toEqual([
      'Accepted by the HTTP API',
      'Attempt 1 by out (mx.example.org): not now',
      'Attempt 2 by out (mx.example.org): taken',
      'Delivered',
    ]);
  });

  it('says why it failed', () => {
    expect(titles(story({ status: 'failed', outcome: 'cancelled' }))).toEqual([
      'Accepted by the HTTP API',
      'Failed: cancelled',
    ]);
  });

  it('tells what is ahead', () => {
    const nextAttemptAt = '2026-11-22T04:00:00.000Z';
    const waiting = { status: 'retrying', nextAttemptAt, waitingFor: 'backoff', attempts: 1 };
    expect(titles(story(waiting, { attempts: [attempt(1, 'deferred')] })).at(-1)).toBe('(Next attempt)');
    const planned = { status: 'queued', attempts: 0, sendAt: '2026-11-23T00:00:00.000Z' };
    expect(titles(story({ ...planned, nextAttemptAt: planned.sendAt, waitingFor: 'scheduled' }))).toEqual([
      'Accepted by the HTTP API',
      '(Goes out)',
    ]);
    expect(titles(story({ status: 'processing' })).at(-1)).toBe('(Being attempted now)');
  });

  it('tells why a next attempt is put off, and has no time for it where nobody can tell', () => {
    const next = (record: object) => timelineOf(story({ status: 'retrying', attempts: 1, ...record })).at(-1);
    const resting = { nextAttemptAt: '2026-11-22T04:00:00.000Z', waitingFor: 'relay_resting' };
    expect(next(resting)).toMatchObject({
      at: resting.nextAttemptAt,
      title: 'Next attempt',
      ahead: true,
      detail: 'its next hop failed and is left alone',
    });
    expect(next({ waitingFor: 'relay_paused' })).toMatchObject({ at: null, detail: 'its relay is paused' });
  });

  it('says nothing of a time that it did not live to see', () => {
    const cancelled = { status: 'failed', outcome: 'cancelled', sendAt: '2026-11-23T00:00:00.000Z' };
    expect(titles(story(cancelled))).toEqual(['Accepted by the HTTP API', 'Failed: cancelled']);
  });

  it('counts outcomes where there are several recipients, and takes the worst for its mark', () => {
    const recipients = [
      { ...BOB, address: 'a' },
      { ...BOB, address: 'b' },
    ];
    const results = ['delivered', 'rejected', 'delivered'].map((outcome) => ({
      recipient: 'x',
      outcome,
      code: null,
      enhancedCode: null,
      reply: outcome === 'rejected' ? 'No such user' : 'ok',
    }));
    const [, tried] = timelineOf(story({ recipients }, { attempts: [attempt(1, 'delivered', { results })] }));
    expect(tried).toMatchObject({
      title: 'Attempt 1 by out (mx.example.org): 2 taken, 1 refused',
      detail: 'No such user · 100 ms',
      mark: 'rejected',
    });
  });

  it('says how long after the one before each event came, past those without a time', () => {
    const more = { attempts: [attempt(1, 'deferred'), attempt(2, 'deferred')], moreAttempts: true };
    const whole = timelineOf(story({ timestamp: '2026-11-22T03:05:02.300Z' }, more));
    expect([...offsetsOf(whole)]).toEqual([
      ['attempt 1', 1000],
      ['attempt 2', 1000],
      ['end', 300_300],
    ]);
    const early = timelineOf(story({ timestamp: '2026-11-22T02:59:59.000Z' }));
    expect([...offsetsOf(early)]).toEqual([]);
    const waiting = { status: 'retrying', attempts: 1, nextAttemptAt: '2026-11-22T04:00:00.000Z' };
    expect([...offsetsOf(timelineOf(story({ ...waiting, waitingFor: 'backoff' })))]).toEqual([]);
  });

  it('never calls captured mail delivered', () => {
    const captured = story({ outcome: 'captured' }, { captured: true, attempts: [attempt(1, 'delivered')] });
    expect(titles(captured)).toEqual([
      'Accepted by the HTTP API',
      'Taken by the local inbox',
      'Captured: nothing was sent',
    ]);
  });
});

describe('what becomes of a message after its delivery', () => {
  const at = (minute: number) => `2026-11-22T03:0${minute}:00.000Z`;
  const bounce = {
    type: 'hard',
    source: 'dsn',
    code: 550,
    enhancedCode: '5.1.1',
    text: 'No such user',
    at: at(2),
  };

  it('stands around its end, in the order of its time', () => {
    const bob = { ...BOB, confirmedAt: at(1), bounce, complainedAt: at(5), unsubscribedAt: at(4) };
    const came = { status: 'failed', outcome: 'bounced', timestamp: at(2), recipients: [bob] };
    expect(titles(story(came, { attempts: [attempt(1, 'delivered')] }))).toEqual([
      'Accepted by the HTTP API',
      'Attempt 1 by out (mx.example.org): taken',
      'Confirmed by the recipient’s own server',
      'Hard bounce',
      'Failed: it came back',
      'The recipient unsubscribed',
      'The recipient called it spam',
    ]);
  });

  it('tells whose it is where there are several, what was said, and who told', () => {
    const recipients = [BOB, { ...BOB, address: 'ann@example.org', bounce }];
    const [, told] = timelineOf(story({ status: 'failed', timestamp: at(2), recipients }));
    expect(told).toMatchObject({
      title: 'ann@example.org: hard bounce',
      detail: '550 5.1.1 No such user · told by a delivery status notification',
      at: at(2),
      mark: 'bounced',
    });
  });

  it('leaves a refusal in our own dialogue to its attempt', () => {
    const refused = { ...BOB, bounce: { ...bounce, source: 'smtp' } };
    const whole = story({ status: 'failed', outcome: 'rejected', recipients: [refused] });
    expect(titles(whole)).toEqual(['Accepted by the HTTP API', 'Failed: refused for good']);
  });

  it('tells of many recipients together, from the first of them on', () => {
    const recipients = Array.from({ length: 11 }, (_, place) => ({
      ...BOB,
      address: `reader${place}@example.org`,
      confirmedAt: at(9 - (place % 9)),
    }));
    const confirmed = timelineOf(story({ recipients })).filter(({ mark }) => mark === 'confirmed');
    expect(confirmed).toMatchObject([
      { title: '11 recipients were confirmed by their own servers', at: at(1) },
    ]);
    const ten = timelineOf(story({ recipients: recipients.slice(1) }));
    expect(ten.filter(({ mark }) => mark === 'confirmed')).toHaveLength(10);
  });

  it('says that the suppression list stopped it', () => {
    expect(titles(story({ status: 'failed', outcome: 'suppressed' })).at(-1)).toBe(
      'Failed: on the suppression list',
    );
  });

  it('names the one who told', () => {
    expect(sourceWords('webhook:grid:eu')).toBe('by the webhook of grid:eu');
    expect(sourceWords('arf')).toBe('by a feedback report of the mailbox provider');
    expect(sourceWords('pigeon')).toBe('by pigeon');
  });
});

it('a reply has each of its codes once', () => {
  expect(replyText(550, '5.1.1', '550 5.1.1 No such user')).toBe('550 5.1.1 No such user');
  expect(replyText(550, '5.1.1', 'No such user')).toBe('550 5.1.1 No such user');
  expect(replyText(null, null, null)).toBe('');
});

describe('the phases of an attempt', () => {
  const timings = {
    queueMs: 5000,
    dnsMs: 2,
    connectMs: 10,
    tlsMs: null,
    mailMs: 3,
    transferMs: 4,
    replyMs: 50,
  };

  it('are those that happened, with what none of them explains', () => {
    expect(phasesOf({ timings: { ...timings, totalMs: 80 } })).toEqual([
      { label: 'DNS', value: 2 },
      { label: 'Connect', value: 10 },
      { label: 'Envelope', value: 3 },
      { label: 'Content', value: 4 },
      { label: 'Answer', value: 50 },
      { label: 'Other', value: 11 },
    ]);
  });

  it('are one where none was measured', () => {
    const none = { queueMs: null, dnsMs: null, connectMs: null, tlsMs: null, mailMs: null, transferMs: null };
    expect(phasesOf({ timings: { ...none, replyMs: null, totalMs: 7 } })).toEqual([
      { label: 'In all', value: 7 },
    ]);
  });
});

it('ways that are alike are shown once, the most taken first', () => {
  const way = (recipient: string, rule: string | null) => ({ recipient, rule, group: ['out'], waits: [] });
  expect(sameWays([way('a', null), way('b', 'news'), way('c', 'news')])).toEqual([
    { rule: 'news', group: ['out'], recipients: ['b', 'c'] },
    { rule: null, group: ['out'], recipients: ['a'] },
  ]);
});
