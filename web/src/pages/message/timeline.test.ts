import { describe, expect, it } from 'vitest';
import { sameWays } from './page.tsx';
import { type Attempt, phasesOf, replyText, type Story, timelineOf } from './timeline.ts';

const RECORD = {
  id: 'msg_1',
  status: 'delivered',
  outcome: 'accepted',
  source: 'api',
  createdAt: '2026-11-22T03:00:00.000Z',
  timestamp: '2026-11-22T03:00:01.000Z',
  durationMs: 812,
  attempts: 1,
  recipients: [{ address: 'bob@example.org' }],
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
    const recipients = [{ address: 'a' }, { address: 'b' }];
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

  it('never calls captured mail delivered', () => {
    const captured = story({ outcome: 'captured' }, { captured: true, attempts: [attempt(1, 'delivered')] });
    expect(titles(captured)).toEqual([
      'Accepted by the HTTP API',
      'Taken by the local inbox',
      'Captured: nothing was sent',
    ]);
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
