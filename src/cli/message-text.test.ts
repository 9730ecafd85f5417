import { expect, test } from 'vitest';
import type { Attempts } from '../operations/messages.ts';
import { timelineText } from './message-text.ts';
import { fold } from './terminal.ts';

type Attempt = Attempts['attempts'][number];

const TIMINGS = {
  queueMs: 78,
  dnsMs: 12,
  connectMs: 31,
  tlsMs: 64,
  mailMs: 90,
  transferMs: 48,
  replyMs: 298,
  totalMs: 702,
};

const DELIVERED: Attempt = {
  number: 2,
  startedAt: '2026-11-20T11:15:00.201Z',
  relay: 'direct',
  host: 'mx1.example.net',
  address: '192.0.2.25',
  localAddress: '198.51.100.7',
  tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
  security: { verdict: 'dane', mtaSts: 'enforce', dane: 'usable' },
  dns: [
    {
      name: 'example.net',
      type: 'MX',
      result: 'found',
      answers: ['10 mx1.example.net', '20 mx2.example.net', '30 mx3.example.net'],
      authenticated: true,
    },
  ],
  reused: false,
  timings: TIMINGS,
  steps: [
    { verb: 'MAIL', reply: '250 2.1.0 Ok', atMs: 310 },
    { verb: 'RCPT', reply: `250 2.1.5 ${'fine '.repeat(20)}\u001b[2J`, atMs: 355 },
  ],
  results: [
    {
      recipient: 'bob@example.net',
      outcome: 'delivered',
      class: 'success',
      code: 250,
      enhancedCode: '2.0.0',
      reply: '2.0.0 Ok: queued as 4711',
      providerMessageId: '4711',
    },
  ],
};

/** What is known of a connection that nobody answered, by a version that gathered less. */
const REFUSED: Attempt = {
  ...DELIVERED,
  number: 1,
  address: null,
  localAddress: null,
  tls: null,
  security: null,
  dns: [],
  timings: {
    ...TIMINGS,
    queueMs: null,
    dnsMs: null,
    tlsMs: null,
    mailMs: null,
    transferMs: null,
    replyMs: null,
  },
  steps: [{ verb: 'CONNECT', reply: 'refused', atMs: 31 }],
  results: [
    {
      recipient: 'bob@example.net',
      outcome: 'deferred',
      class: 'transient',
      code: null,
      enhancedCode: '4.4.1',
      reply: 'connection refused',
      providerMessageId: null,
    },
  ],
};

const STORY: Attempts = { attempts: [REFUSED, DELIVERED], hasMore: false };

test('attempts are told as a story that fits the terminal, the last one with its conversation', () => {
  expect(timelineText(STORY, 'last', 80).split('\n')).toEqual([
    'Attempt 1 of 2, 2026-11-20T11:15:00.201Z, direct to mx1.example.net',
    '  Took 702 ms: connect 31',
    '  bob@example.net deferred: connection refused',
    '',
    'Attempt 2 of 2, 2026-11-20T11:15:00.201Z, direct to mx1.example.net [192.0.2.25]',
    '    from 198.51.100.7',
    '  Took 702 ms: dns 12, connect 31, tls 64, mail 90, data 48, reply 298; queued',
    '       78 ms before',
    '  TLS  TLSv1.3 TLS_AES_256_GCM_SHA384, certificate matches its TLSA record',
    '       (DANE), MTA-STS enforce, DANE usable',
    '  DNS  example.net MX found (DNSSEC): 10 mx1.example.net, 20 mx2.example.net, 30',
    '       mx3.example.net',
    '      310 ms  MAIL      250 2.1.0 Ok',
    '      355 ms  RCPT      250 2.1.5 fine fine fine fine fine fine fine fine fine',
    '                        fine fine fine fine fine fine fine fine fine fine fine',
    '                        \\u001b[2J',
    '  bob@example.net delivered: 250 2.0.0 Ok: queued as 4711',
  ]);
});

test('a way on which nothing was sent is not called one in clear', () => {
  const security = { verdict: null, mtaSts: 'enforce', dane: null };
  const attempts = [{ ...REFUSED, security }];
  expect(timelineText({ attempts, hasMore: false }, 'last', 80)).toContain(
    '  TLS  no session, MTA-STS enforce\n',
  );
});

test('the conversations of all attempts are told when asked for', () => {
  expect(timelineText(STORY, 'all', 80)).toContain('CONNECT   refused');
  expect(timelineText(STORY, 'last', 80)).not.toContain('CONNECT   refused');
});

test('folding ends whatever the width, and loses nothing but blanks', () => {
  for (const columns of [1, 5, 20, 79, 80, 200])
    for (const text of [
      '',
      'x'.repeat(300),
      'a b '.repeat(60),
      `    ${'y'.repeat(90)} z`,
      '  label: text text',
    ]) {
      const lines = fold(text, 6, columns);
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
    }
});
