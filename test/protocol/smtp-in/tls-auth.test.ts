/** STARTTLS and AUTH: one rule a dialogue (RFC 3207, RFC 4954). */
import { dialogue, ENVELOPE, HELLO } from './dialogue.ts';

const SECURE_HELLO = ['S: 220', 'C: EHLO client.test', 'S: 250-mx.test'];
const base64 = (text: string) => Buffer.from(text).toString('base64');
const GOOD = base64('\0me\0secret');
/** The owner cannot tell. */
const AWAY = base64('\0me\0away');
const BAD = base64('\0me\0guess');

dialogue('STARTTLS drops what is pipelined behind it and begins anew', [
  ...ENVELOPE,
  'C: STARTTLS',
  'C: MAIL FROM:<evil@x.test>',
  'S: 220 2.0.0',
  'E: discard',
  'E: start_tls',
  'C: NOOP',
  '! secured',
  'C: MAIL FROM:<a@x.test>',
  'S: 503 5.5.1',
  'C: EHLO again.test',
  'S: 250-mx.test|250-PIPELINING|250-SIZE 5000|250-REQUIRETLS|250-AUTH PLAIN LOGIN|250-ENH',
  'C: STARTTLS',
  'S: 503 5.5.1',
]);
dialogue(
  'STARTTLS forgets who the client was',
  [
    ...HELLO,
    `C: AUTH PLAIN ${GOOD}`,
    'S: 235',
    'E: auth PLAIN ["","me","secret"]',
    'C: STARTTLS',
    'S: 220 2.0.0',
    'E: start_tls',
    '! secured',
    'C: EHLO again.test',
    'S: 250-mx.test|250-PIPELINING|250-SIZE 5000|250-REQUIRETLS|250-AUTH PLAIN LOGIN|250-ENH',
    'C: MAIL FROM:<a@x.test>',
    'S: 530 5.7.0',
    'E: denied auth_required',
  ],
  { auth: 'always', requireAuth: true },
);
dialogue(
  'RSET, EHLO and a message leave the client authenticated',
  [
    ...SECURE_HELLO,
    `C: AUTH PLAIN ${GOOD}`,
    'S: 235',
    'E: auth PLAIN ["","me","secret"]',
    'C: RSET',
    'C: EHLO again.test',
    'S: 250 2.0.0',
    'S: 250-mx.test',
    ...[1, 2].flatMap(() => [
      'C: MAIL FROM:<a@x.test>',
      'C: RCPT TO:<b@y.test>',
      'C: DATA',
      'C: .',
      'S: 250 2.1.0',
      'S: 250 2.1.5',
      'S: 354',
      'S: 250 2.0.0 queued',
      'E: message <a@x.test> -> <b@y.test> ""',
    ]),
  ],
  { requireAuth: true, secure: true },
);
dialogue('STARTTLS that is not offered gets 502', [...HELLO, 'C: STARTTLS', 'S: 502 5.5.1'], {
  startTls: false,
});
dialogue(
  'mail before TLS gets 530 where TLS is required',
  [...HELLO, 'C: MAIL FROM:<a@x.test>', 'S: 530 5.7.0', 'E: denied tls_required', 'C: NOOP', 'S: 250'],
  { requireTls: true },
);
dialogue(
  'mail before AUTH gets 530 where AUTH is required, and the way to it: through STARTTLS',
  [
    ...HELLO,
    'C: MAIL FROM:<a@x.test>',
    'S: 530 5.7.0 Authentication required: STARTTLS first, then AUTH with an API key as the password',
    'E: denied auth_required',
  ],
  { requireAuth: true },
);
for (const setting of [{ secure: true }, { auth: 'always' }] as const)
  dialogue(
    `or straight away (${JSON.stringify(setting)})`,
    [
      ...SECURE_HELLO,
      'C: MAIL FROM:<a@x.test>',
      'S: 530 5.7.0 Authentication required: AUTH with an API key as the password',
      'E: denied auth_required',
    ],
    { requireAuth: true, ...setting },
  );
dialogue(
  'mail behind AUTH is taken where AUTH is required',
  [
    ...SECURE_HELLO,
    `C: AUTH PLAIN ${GOOD}`,
    'S: 235 2.7.0',
    'E: auth PLAIN ["","me","secret"]',
    'C: MAIL FROM:<a@x.test>',
    'S: 250 2.1.0',
  ],
  { requireAuth: true, secure: true },
);
dialogue('AUTH before TLS gets 538', [
  ...HELLO,
  `C: AUTH PLAIN ${GOOD}`,
  'S: 538 5.7.11',
  'E: denied tls_required',
]);
dialogue(
  'AUTH before TLS gets 530 where TLS is required',
  [...HELLO, `C: AUTH PLAIN ${GOOD}`, 'S: 530 5.7.0', 'E: denied tls_required'],
  { requireTls: true },
);
dialogue(
  'AUTH in clear is told and taken by policy',
  [
    'S: 220',
    'C: EHLO c',
    'S: 250-mx.test|250-PIPELINING|250-SIZE 5000|250-STARTTLS|250-AUTH PLAIN LOGIN',
    `C: AUTH PLAIN ${GOOD}`,
    'S: 235 2.7.0',
    'E: auth PLAIN ["","me","secret"]',
  ],
  { auth: 'always' },
);
dialogue(
  'AUTH before EHLO gets 503',
  ['S: 220', `C: AUTH PLAIN ${GOOD}`, 'S: 503 5.5.1', 'C: HELO x', 'S: 250', 'C: AUTH LOGIN', 'S: 503 5.5.1'],
  { secure: true },
);

function auth(rule: string, ...lines: string[]): void {
  dialogue(rule, [...SECURE_HELLO, ...lines], { secure: true });
}
auth(
  'AUTH PLAIN without initial response',
  'C: AUTH PLAIN',
  'S: 334 ',
  `C: ${base64('as\0mé\0secret')}`,
  'S: 235',
  'E: auth PLAIN ["as","mé","secret"]',
);
auth(
  'AUTH LOGIN',
  'C: auth login',
  'S: 334 VXNlcm5hbWU6',
  `C: ${base64('me')}`,
  'S: 334 UGFzc3dvcmQ6',
  `C: ${base64('secret')}`,
  'S: 235',
  'E: auth LOGIN ["","me","secret"]',
);
auth(
  'AUTH LOGIN with initial response',
  `C: AUTH LOGIN ${base64('me')}`,
  'S: 334 UGFzc3dvcmQ6',
  `C: ${base64('secret')}`,
  'S: 235',
  'E: auth LOGIN ["","me","secret"]',
);
auth(
  'bad credentials get 535, and a second try may be good',
  `C: AUTH PLAIN ${BAD}`,
  'S: 535 5.7.8',
  'E: auth PLAIN ["","me","guess"]',
  `C: AUTH PLAIN ${GOOD}`,
  'S: 235',
  'E: auth PLAIN ["","me","secret"]',
);
auth(
  'the third refusal ends the session',
  ...[1, 2].flatMap(() => [`C: AUTH PLAIN ${BAD}`, 'S: 535', 'E: auth PLAIN ["","me","guess"]']),
  `C: AUTH PLAIN ${BAD}`,
  'C: NOOP',
  'S: 421 4.7.0',
  'E: auth PLAIN ["","me","guess"]',
  'E: close too_many_errors',
);
auth(
  'a 4xx is no failure of AUTH',
  ...Array.from({ length: 5 }, () => [
    `C: AUTH PLAIN ${AWAY}`,
    'S: 454 4.7.0',
    'E: auth PLAIN ["","me","away"]',
  ]).flat(),
  `C: AUTH PLAIN ${GOOD}`,
  'S: 235',
  'E: auth PLAIN ["","me","secret"]',
);
auth(
  'AUTH after success gets 503',
  `C: AUTH PLAIN ${GOOD}`,
  'S: 235',
  'E: auth PLAIN ["","me","secret"]',
  `C: AUTH PLAIN ${GOOD}`,
  'S: 503 5.5.1',
);
auth(
  'AUTH is not told after success',
  `C: AUTH PLAIN ${GOOD}`,
  'C: EHLO c',
  'S: 235',
  'S: 250-mx.test|250-PIPELINING|250-SIZE 5000|250-REQUIRETLS|250-ENHANCED',
  'E: auth PLAIN ["","me","secret"]',
);
auth('AUTH in a transaction gets 503', 'C: MAIL FROM:<>', 'S: 250', `C: AUTH PLAIN ${GOOD}`, 'S: 503 5.5.1');
auth(
  '* cancels with 501',
  'C: AUTH PLAIN',
  'S: 334',
  'C: *',
  'S: 501 5.7.0',
  'C: NOOP',
  'S: 250',
  'C: AUTH LOGIN',
  'S: 334',
  'C: *',
  'S: 501',
);
for (const response of [
  '!',
  'AA',
  'QUI',
  'QUIT',
  '-_-_',
  base64('me'),
  base64('a\0b'),
  base64('a\0b\0c\0d'),
  '/////w==',
])
  auth(
    `the response ${response} gets 501`,
    `C: AUTH PLAIN ${response}`,
    'S: 501 5.5.2',
    'C: AUTH PLAIN',
    'S: 334 ',
    `C: ${response}`,
    'S: 501 5.5.2',
  );
auth(
  'an empty initial response is no credentials',
  'C: AUTH PLAIN =',
  'S: 501 5.5.2',
  'C: AUTH LOGIN =',
  'S: 334 UGFzc3dvcmQ6',
  'C: *',
  'S: 501',
);
auth('more than one initial response gets 501', `C: AUTH PLAIN ${GOOD} x`, 'S: 501 5.5.2');
auth(
  'AUTH without mechanism gets 501, an unknown one 504',
  'C: AUTH',
  'S: 501 5.5.4',
  'C: AUTH CRAM-MD5',
  'S: 504 5.5.4',
);
const LONGEST = base64(`\0me\0${'x'.repeat(9200)}`).slice(0, 12_284);
auth(
  'a line of 12,288 bytes is read in AUTH',
  'C: AUTH PLAIN',
  'S: 334',
  `C: ${LONGEST}`.padEnd(12_289, '='),
  'S: 501 5.5.2',
);
auth(
  'a longer one gets 500 and ends the exchange',
  'C: AUTH PLAIN',
  'S: 334',
  `C: ${'x'.repeat(12_287)}`,
  'C: NOOP',
  'S: 500 5.5.6',
  'S: 250 2.0.0',
);
auth(
  'AUTH with a long initial response is read',
  `C: AUTH PLAIN ${base64(`\0me\0${'x'.repeat(6000)}`)}`,
  'S: 535',
  `E: auth PLAIN ["","me","${'x'.repeat(6000)}"]`,
);
auth(
  'an AUTH command of 12,288 bytes is read, and one of 12,289 gets 500',
  `C: AUTH PLAIN ${'='.repeat(12_275)}`,
  'S: 501 5.5.2',
  `C: AUTH PLAIN ${'='.repeat(12_276)}`,
  'S: 500 5.5.6',
  'C: NOOP',
  'S: 250',
);

dialogue('REQUIRETLS is not for connections in clear', [
  'S: 220 mx.test ESMTP',
  'C: EHLO client.test',
  'S: 250-mx.test|250-PIPELINING|250-SIZE 5000|250-STARTTLS|250-ENH',
  'C: MAIL FROM:<a@x.test> REQUIRETLS',
  'S: 530 5.7.10',
  'E: denied tls_required',
  'C: MAIL FROM:<a@x.test>',
  'S: 250 2.1.0',
]);
dialogue(
  'REQUIRETLS is offered and taken over TLS, once and without a value',
  [
    'S: 220 mx.test ESMTP',
    'C: EHLO client.test',
    'S: 250-mx.test|250-PIPELINING|250-SIZE 5000|250-REQUIRETLS|250-AUTH',
    'C: MAIL FROM:<a@x.test> REQUIRETLS=yes',
    'S: 501 5.5.4 REQUIRETLS must be given without a value',
    'C: MAIL FROM:<a@x.test> REQUIRETLS requiretls',
    'S: 501 5.5.4 REQUIRETLS may be given only once',
    'C: MAIL FROM:<a@x.test> RequireTLS SIZE=10',
    'S: 250 2.1.0',
  ],
  { secure: true },
);
