/** Paths and parameters: one rule a dialogue (RFC 5321 §4.1.2, §4.5.3.1; RFC 1870, 3461, 4954, 6152, 6531). */
import { dialogue, ENVELOPE, HELLO } from './dialogue.ts';

const LABEL = 'd'.repeat(60);
/** 252 octets: with a local part of one, no longer domain goes into a path. */
const LONGEST_DOMAIN = `${`${'d'.repeat(63)}.`.repeat(3)}${'e'.repeat(60)}`;
/** 189 octets. */
const LONG_DOMAIN = `${LABEL}.${LABEL}.${LABEL}.abcdef`;

function message(mail: string, rcpt: string, written: string): string[] {
  const envelope = [`C: MAIL FROM:${mail}`, `C: RCPT TO:${rcpt}`, 'C: DATA', 'C: .'];
  return [
    ...HELLO,
    ...envelope.map((line) => Buffer.from(line).toString('latin1')),
    'S: 250 2.1.0',
    'S: 250 2.1.5',
    'S: 354',
    'S: 250 2.0.0 queued as msg_1',
    `E: message ${written} ""`,
  ];
}

for (const [rule, mail, rcpt, written] of [
  ['the null reverse-path is taken', '<>', '<b@y.test>', '<> -> <b@y.test>'],
  ['<postmaster> is taken', '<a@x.test>', '<postmaster>', '<a@x.test> -> <>'],
  ['<POSTMASTER> is taken', '<a@x.test>', '<POSTMASTER>', '<a@x.test> -> <>'],
  [
    'a source route is dropped',
    '<@r.test:a@x.test>',
    '<@r.test,@s.test:b@y.test>',
    '<a@x.test> -> <b@y.test>',
  ],
  [
    'address literals are taken',
    '<a@[192.0.2.1]>',
    '<b@[IPv6:2001:db8::1]>',
    '<a@[192.0.2.1]> -> <b@[IPv6:2001:db8::1]>',
  ],
  [
    'quoted local parts are taken by policy',
    '<"a..b"@x.test>',
    '<"c\\"d"@y.test>',
    '<"a..b"@x.test> -> <"c\\"d"@y.test>',
  ],
  ['quotes that are not needed go', '<"a"@x.test>', '<"b.c"@y.test>', '<a@x.test> -> <b.c@y.test>'],
  ['blanks behind the colon are let pass', ' <a@x.test>', '  <b@y.test>', '<a@x.test> -> <b@y.test>'],
  [
    'a domain is made lower case, a local part is kept',
    '<A@X.Test>',
    '<B@Y.TEST>',
    '<A@x.test> -> <B@y.test>',
  ],
  [
    'SIZE and BODY are kept',
    '<a@x.test> SIZE=500 BODY=8BITMIME',
    '<b@y.test>',
    '<a@x.test> sizeBytes=500 body=8BITMIME -> <b@y.test>',
  ],
  ['BODY=7BIT is kept', '<a@x.test> BODY=7bit', '<b@y.test>', '<a@x.test> body=7BIT -> <b@y.test>'],
  [
    'SMTPUTF8 lets addresses be UTF-8',
    '<ä@x.test> SMTPUTF8',
    '<ü@müller.test>',
    '<ä@x.test> utf8=true -> <ü@xn--mller-kva.test>',
  ],
  [
    'RET, ENVID and AUTH are kept',
    '<a@x.test> RET=hdrs ENVID=QQ+2B AUTH=<>',
    '<b@y.test>',
    '<a@x.test> ret=HDRS envid=QQ+2B auth=<> -> <b@y.test>',
  ],
  [
    'NOTIFY and ORCPT are kept',
    '<a@x.test>',
    '<b@y.test> NOTIFY=success,Delay ORCPT=rfc822;B+40y',
    '<a@x.test> -> <b@y.test> notify=SUCCESS,DELAY orcpt=rfc822;B+40y',
  ],
  ['NOTIFY=NEVER is kept', '<a@x.test>', '<b@y.test> NOTIFY=NEVER', '<a@x.test> -> <b@y.test> notify=NEVER'],
  [
    'a local part of 64 octets is taken',
    '<>',
    `<${'l'.repeat(64)}@y.test>`,
    `<> -> <${'l'.repeat(64)}@y.test>`,
  ],
  [
    'a path of 256 octets is taken',
    '<>',
    `<${'l'.repeat(64)}@${LONG_DOMAIN}>`,
    `<> -> <${'l'.repeat(64)}@${LONG_DOMAIN}>`,
  ],
  [
    'a domain of 252 octets is taken: RFC 5321 allows 255, but a path has 256',
    `<a@${LONGEST_DOMAIN}>`,
    `<b@${LONGEST_DOMAIN}>`,
    `<a@${LONGEST_DOMAIN}> -> <b@${LONGEST_DOMAIN}>`,
  ],
] as const)
  dialogue(rule, message(mail, rcpt, written));

for (const path of [
  'a@x.test',
  '<a@x.test',
  'a@x.test>',
  '<a@x.test>SIZE=1',
  '<a@x.test> >',
  '<a>',
  '<a@>',
  '<@x.test>',
  '<a@x..test>',
  '< a@x.test >',
  '<a b@x.test>',
  '<Jane <a@x.test>>',
  '<a@x.test,b@x.test>',
  '<a@-x.test>',
  '<a@[1.2.3]>',
  '<a@[300.1.1.1]>',
  '<@r.test a@x.test>',
  '<@r..test:a@x.test>',
  '<@:a@x.test>',
  '<"a@x.test>',
  '<a@127.0.0.1>',
  `<${'l'.repeat(65)}@x.test>`,
  `<a@${LONG_DOMAIN}.${LABEL}.${LABEL}>`,
  `<${'l'.repeat(64)}@${LONG_DOMAIN}g>`,
  `<a@${LONGEST_DOMAIN}e>`,
  '<.a@x.test>',
]) {
  dialogue(`MAIL refuses ${path.slice(0, 60)}`, [...HELLO, `C: MAIL FROM:${path}`, 'S: 501 5.']);
  dialogue(`RCPT refuses ${path.slice(0, 60)}`, [
    ...ENVELOPE,
    `C: RCPT TO:${path}`,
    'S: 501 5.',
    'C: DATA',
    'S: 354',
  ]);
}
dialogue('RCPT refuses the null path', [...ENVELOPE, 'C: RCPT TO:<>', 'S: 501 5.1.3']);
dialogue('MAIL refuses <postmaster>', [...HELLO, 'C: MAIL FROM:<postmaster>', 'S: 501 5.1.7']);
dialogue('a quoted local part with an @ or a blank gets 553', [
  ...ENVELOPE,
  'C: RCPT TO:<"a@b"@y.test>',
  'S: 553 5.1.3',
  'C: RCPT TO:<"a b"@y.test>',
  'S: 553 5.1.3',
]);
dialogue(
  'quoted local parts get 553 where policy wants none',
  [...HELLO, 'C: MAIL FROM:<"a..b"@x.test>', 'S: 553 5.1.7', 'C: MAIL FROM:<"a"@x.test>', 'S: 250 2.1.0'],
  { quotedLocalParts: false },
);
dialogue('where only dots are wrong, the quoted form is offered', [
  ...ENVELOPE,
  'C: RCPT TO:<a..b@y.test>',
  `S: 501 5.1.3 a..b is not a valid local part: letters, digits and !#$%&'*+-/=?^_\`{|}~, with single dots between. If the mailbox really has that name, quote it: "a..b"@y.test`,
]);
dialogue(
  'but not where policy wants none',
  [
    ...ENVELOPE,
    'C: RCPT TO:<a..b@y.test>',
    `S: 501 5.1.3 a..b is not a valid local part: letters, digits and !#$%&'*+-/=?^_\`{|}~, with single dots between`,
  ],
  { quotedLocalParts: false },
);
dialogue('an address in UTF-8 without SMTPUTF8 gets 553 5.6.7', [
  ...HELLO,
  'C: MAIL FROM:<\xc3\xa4@x.test>',
  'S: 553 5.6.7',
  ...ENVELOPE.slice(3),
  'C: RCPT TO:<\xc3\xa4@x.test>',
  'S: 553 5.6.7',
]);

for (const parameter of ['FOO', 'FOO=bar', 'NOTIFY=NEVER', 'BINARYMIME'])
  dialogue(`the unknown parameter ${parameter} of MAIL gets 555`, [
    ...HELLO,
    `C: MAIL FROM:<a@x.test> ${parameter}`,
    'S: 555 5.5.4',
  ]);
for (const parameter of ['FOO', 'SIZE=5', 'BODY=7BIT'])
  dialogue(`the unknown parameter ${parameter} of RCPT gets 555`, [
    ...ENVELOPE,
    `C: RCPT TO:<c@y.test> ${parameter}`,
    'S: 555 5.5.4',
  ]);
for (const parameter of [
  'SIZE',
  'SIZE=',
  'SIZE=x',
  'SIZE=-1',
  'SIZE=1 SIZE=1',
  'BODY',
  'BODY=BINARYMIME',
  'SMTPUTF8=1',
  'RET=ALL',
  'ENVID',
  'ENVID=+4',
  `ENVID=${'x'.repeat(101)}`,
  'AUTH=',
  '=x',
  '-A',
  'SIZE==1',
  `AUTH=${'x'.repeat(501)}`,
])
  dialogue(`the parameter ${parameter.slice(0, 30)} of MAIL gets 501`, [
    ...HELLO,
    `C: MAIL FROM:<a@x.test> ${parameter}`,
    'S: 501 5.5.4',
  ]);
for (const parameter of [
  'NOTIFY',
  'NOTIFY=',
  'NOTIFY=NEVER,DELAY',
  'NOTIFY=ALL',
  'ORCPT=x',
  'ORCPT=;x',
  `ORCPT=rfc822;${'x'.repeat(500)}`,
])
  dialogue(`the parameter ${parameter.slice(0, 30)} of RCPT gets 501`, [
    ...ENVELOPE,
    `C: RCPT TO:<c@y.test> ${parameter}`,
    'S: 501 5.5.4',
  ]);

dialogue('a SIZE that is too big gets 552 at MAIL', [
  ...HELLO,
  'C: MAIL FROM:<a@x.test> SIZE=5001',
  'S: 552 5.3.4',
  'E: refused message_too_large',
  'C: MAIL FROM:<a@x.test> SIZE=99999999999999999999',
  'S: 552 5.3.4',
  'E: refused message_too_large',
  'C: MAIL FROM:<a@x.test> SIZE=5000',
  'S: 250 2.1.0',
]);
dialogue('100 recipients are taken, the next gets 452, and the message goes to the 100', [
  ...HELLO,
  'C: MAIL FROM:<a@x.test>',
  ...Array.from({ length: 101 }, (_, i) => `C: RCPT TO:<r${i}@y.test>`),
  'C: DATA',
  'C: .',
  'S: 250 2.1.0',
  ...Array.from({ length: 100 }, () => 'S: 250 2.1.5'),
  'S: 452 4.5.3',
  'S: 354',
  'S: 250 2.0.0',
  `E: message <a@x.test> -> ${Array.from({ length: 100 }, (_, i) => `<r${i}@y.test>`).join(' ')} ""`,
]);
