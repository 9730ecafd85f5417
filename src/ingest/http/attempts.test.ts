import { expect, test } from 'vitest';
import type { Attempt, Evidence } from '../../domain/attempt.ts';
import { attemptsPageSchema } from './attempt-answers.ts';
import { attemptsJson } from './attempts.ts';

const REST = { startedAt: 1_000, relay: 'out', results: [] };

function shown(evidence: Evidence) {
  const attempts: Attempt[] = [{ ...REST, evidence }];
  return attemptsJson({ attempts, next: null }, 0, []).attempts[0];
}

const WHOLE: Evidence = {
  host: 'mx.example.net',
  address: '192.0.2.1',
  tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
  localAddress: '198.51.100.7',
  security: { verdict: 'dane', mtaSts: 'enforce', dane: 'usable' },
  dns: [
    { name: 'example.net', type: 'MX', result: 'found', answers: ['10 mx.example.net'], authenticated: true },
  ],
  reused: false,
  timings: {
    queueMs: 1,
    dnsMs: 2,
    connectMs: 3,
    tlsMs: 4,
    mailMs: 5,
    transferMs: 6,
    replyMs: 7,
    totalMs: 28,
  },
  steps: [{ verb: 'MAIL', reply: '250 2.1.0 Ok', atMs: 9 }],
};

test('an attempt is shown with everything it was decided by', () => {
  expect(shown(WHOLE)).toMatchObject({ ...WHOLE });
});

test('an attempt recorded before all evidence was gathered has the same members, empty', () => {
  const { localAddress: _l, security: _s, dns: _d, ...older } = WHOLE;
  const { queueMs: _q, mailMs: _m, replyMs: _r, ...timings } = WHOLE.timings;
  // Sound because that is how such a record was written.
  const record = shown({ ...older, timings } as Evidence);
  expect(record).toMatchObject({ localAddress: null, security: null, dns: [] });
  expect(record?.timings).toEqual({ ...timings, queueMs: null, mailMs: null, replyMs: null });
  expect(attemptsPageSchema.safeParse({ attempts: [record], hasMore: false }).error).toBeUndefined();
});
