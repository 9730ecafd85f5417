/** HTTP on an SMTP port, and other early talk: one rule a dialogue (contract §1). */
import { dialogue, EARLY } from './dialogue.ts';

for (const line of [
  'GET /health HTTP/1.1',
  'GET /metrics HTTP/1.0',
  'POST /api/v1/messages HTTP/1.1',
  'PRI * HTTP/2.0',
  'OPTIONS * HTTP/1.1',
  'FOO-BAR http://x/ HTTP/1.1',
])
  dialogue(`${line} before the greeting is HTTP`, [
    EARLY,
    `C: ${line}`,
    'C: Host: x',
    'C: ',
    'E: http',
    '! greet',
    'C: NOOP',
  ]);
dialogue('an early request line without CR is HTTP', [EARLY, 'R: GET / HTTP/1.1\n\n', 'E: http']);
dialogue('an early request line of 20,000 bytes is HTTP', [
  EARLY,
  `C: GET /${'x'.repeat(20_000)} HTTP/1.1`,
  'E: http',
]);
dialogue('a greeting waits for an early line to end', [
  EARLY,
  'R: GET / HT',
  '! greet',
  'C: TP/1.1',
  'E: http',
]);
for (const early of [
  'EHLO x',
  'QUIT',
  '',
  'GET /',
  'get / http/1.1',
  '\x16\x03\x01\x02',
  'GET / HTTP/x',
  `X${'x'.repeat(30)} / HTTP/1.1`,
])
  dialogue(`${JSON.stringify(early)} before the greeting gets 554 and the end`, [
    EARLY,
    `C: ${early}`,
    'S: 554 5.5.1',
    'E: close early_talk',
  ]);
dialogue('half a request line that is never ended gets 554', [
  EARLY,
  'R: GET /',
  '! timeOut',
  'S: 554 5.5.1',
  'E: close early_talk',
]);
for (const line of [
  'GET / HTTP/1.1',
  'post /x HTTP/1.1',
  'Host: mx.test',
  'Content-Type: text/plain',
  'CONNECT x:25 HTTP/1.1',
  `GET /${'x'.repeat(2000)} HTTP/1.1`,
  `Cookie: ${'x'.repeat(2000)}`,
  'X-A: \xe4',
  'GET /\0 HTTP/1.1',
])
  dialogue(`${JSON.stringify(line.slice(0, 30))} after the greeting ends the session`, [
    'S: 220',
    `C: ${line}`,
    'C: EHLO x',
    'C: MAIL FROM:<a@x.test>',
    'S: 554 5.5.1',
    'E: close http_after_greeting',
  ]);
dialogue('an HTTP line with a bare LF ends the session', [
  'S: 220',
  'R: POST / HTTP/1.1\nEHLO x\r\n',
  'S: 554',
  'E: close http_after_greeting',
]);
