import { expect, test } from 'vitest';
import { codesIn, linksIn, MAX_CODES, MAX_LINKS, remotePicturesIn } from './parse.ts';
import type { ParsedMessage } from './parsed.ts';
import {
  DOCUMENT_POLICY,
  documentOf,
  draftOf,
  MAX_DRAFT_FILES,
  policyOf,
  REMOTE_PICTURES_POLICY,
} from './parsed.ts';

const EMPTY: ParsedMessage = {
  subject: '',
  from: '',
  headers: [],
  html: null,
  text: null,
  plain: '',
  mailboxes: { from: [], to: [], cc: [], replyTo: [] },
  attachments: [],
  remotePictures: 0,
  links: [],
  codes: [],
  notes: [],
};

test.each([
  ['<script>alert(1)</script>', '<x-script>alert(1)</x-script>'],
  ['<SCRIPT src=//evil.example>', '<x-SCRIPT src=//evil.example>'],
  ['<link rel=dns-prefetch href=//evil.example>', '<x-link rel=dns-prefetch href=//evil.example>'],
  ['<meta http-equiv=refresh content="0;url=//evil.example">', '<x-meta http-equiv'],
  ['<base href=//evil.example>', '<x-base '],
  ['<iframe srcdoc="x">', '<x-iframe '],
  ['<form action=//evil.example>', '<x-form '],
  ['<script/x>', '<x-script/x>'],
  ['<linked>', '<linked>'],
])('%s can do nothing in a document', (html, shown) => {
  expect(documentOf({ ...EMPTY, html })).toContain(shown);
});

test('styles for the mode that was chosen hold, and only within styles', () => {
  const html =
    '<STYLE>@media (Prefers-Color-Scheme: DARK){a{}}@media (prefers-color-scheme:light){b{}}</STYLE>(prefers-color-scheme: dark)';
  const [light, dark] = [documentOf({ ...EMPTY, html }), documentOf({ ...EMPTY, html }, { isDark: true })];
  expect(light).toContain(
    '<STYLE>@media (max-width:0px){a{}}@media (min-width:0px){b{}}</STYLE>(prefers-color-scheme: dark)',
  );
  expect(dark).toContain(
    '<STYLE>@media (min-width:0px){a{}}@media (max-width:0px){b{}}</STYLE>(prefers-color-scheme: dark)',
  );
  expect([light, dark].map((document) => document.includes('invert('))).toEqual([false, false]);
  for (const plain of ['<p>Hi', '<p>@media (prefers-color-scheme: dark)'])
    expect(documentOf({ ...EMPTY, html: plain }, { isDark: true })).toContain('invert(');
});

test('a document may fetch nothing; pictures over HTTPS where they were asked for, and nothing else even then', () => {
  const rules = (pictures: string, base: string) => [
    'sandbox',
    "default-src 'none'",
    `img-src ${pictures}`,
    "style-src 'unsafe-inline'",
    `base-uri ${base}`,
    "form-action 'none'",
  ];
  expect(DOCUMENT_POLICY.split('; ')).toEqual(rules('data:', "'none'"));
  expect(REMOTE_PICTURES_POLICY.split('; ')).toEqual(rules('https: data:', 'https://nothing.invalid/'));
});

test('no picture says that it is to be fetched with cookies, or with the page it is on', () => {
  const html =
    '<img src=//a.example crossorigin=use-credentials><img alt="a"CrossOrigin/referrerPolicy = unsafe-url>';
  const document = documentOf({ ...EMPTY, html }, { hasRemotePictures: true });
  expect(document).toContain(
    '<img src=//a.example x-crossorigin=use-credentials><img alt="a"x-CrossOrigin/x-referrerPolicy = unsafe-url>',
  );
  expect(documentOf({ ...EMPTY, html })).toContain(html);
});

const ASKED = { hasRemotePictures: true };

test('with pictures, addresses without a host lead nowhere, and not to the dashboard', () => {
  const html = '<base href="/"><img src="/healthz">';
  expect(documentOf({ ...EMPTY, html }, ASKED)).toContain(
    '<head><base href="https://nothing.invalid/"><meta charset',
  );
  expect(documentOf({ ...EMPTY, html })).not.toContain('<base');
});

test('with pictures, a link within the mail leads nowhere, and not away from it', () => {
  const html = '<a href="#end">On</a><a HREF = #end>On</a><a href="https://a.example/#end">There</a>';
  expect(documentOf({ ...EMPTY, html }, ASKED)).toContain(
    '<a x-href="#end">On</a><a x-HREF = #end>On</a><a href="https://a.example/#end">',
  );
  expect(documentOf({ ...EMPTY, html })).toContain(html);
});

test.each([
  '<style>a{background:url("https://t.example/x" cross-origin(use-credentials))}</style>',
  '<style>a{background:url("https://t.example/x" Referrer-Policy(unsafe-url))}</style>',
  '<style>a{background:url("https://t.example/x" CrossOrigin(use-credentials))}</style>',
  '<style>a{background:url("https://t.example/x" cros\\000073-orig\\69 n(use-credentials))}</style>',
  '<style>a{background:url("https://t.example/x" c\\ross\\-origin(use-credentials))}</style>',
  '<style>i{}&bsol;cross-origin(</style>',
  '<p style="background:url(\'https://t.example/x\' cross&#45origin&lpar;use-credentials))">',
  '<p style="background:url(\'https://t.example/x\' cros&#x0000000005c;73 -origin(use-credentials))">',
  '<svg><style>a{background:url("https://t.example/x" cross-<!-- -->origin(use-credentials))}</style>',
])('no picture of a style is fetched with cookies, or with the page it is on: %s', (html) => {
  expect(policyOf({ html }, ASKED)).toBe(DOCUMENT_POLICY);
});

test.each(['<style>.cross-origin{}</style><p>cross-origin (x)', '<style>a{}</style><svg></svg>'])(
  'pictures are fetched where no style says how: %s',
  (html) => {
    expect(policyOf({ html }, ASKED)).toBe(REMOTE_PICTURES_POLICY);
    expect(policyOf({ html }, {})).toBe(DOCUMENT_POLICY);
  },
);

test.each([
  ['<p>No picture, <a href="https://a.example/x.png">but a link</a>', 0],
  [
    '<img src="https://a.example/1.png"><IMG alt=x SRC=http://a.example/2.png><img src=\'//b.example/3.png\'>',
    3,
  ],
  ['<img src="https://a.example/1.png"><img src="https://a.example/1.png"/>', 1],
  ['<img src="https://a.example/?a=1&amp;b=2"><img src="https://a.example/?a=1&b=2">', 1],
  ['<img src="cid:1"><img src="data:image/png;base64,AA=="><img src="/x.png"><img>', 0],
  ['<img srcset="https://a.example/1.png 1x, https://a.example/2.png 2x">', 1],
  [
    '<td background="https://a.example/1.png"><video poster="https://a.example/2.png" src="https://a.example/3">',
    2,
  ],
  ['<svg><image href="https://a.example/1.png"/><image xlink:href="https://a.example/2.png"/></svg>', 2],
  [
    '<style>a { background: url( "https://a.example/1.png" ) } b { background: URL(//a.example/2.png) }</style>',
    2,
  ],
  [
    '<p style="background:url(&quot;https://a.example/1.png&quot;)"><p style="background:url(https://a.example/1.png)">',
    1,
  ],
  [
    '<style>@import url(https://a.example/a); @font-face { src: url("https://a.example/b.woff2?1") }</style>',
    0,
  ],
  [
    '<!--[if mso]><img src="https://a.example/1.png"><![endif]--><img src="https://a.example/2.png"><!-- <img src="https://a.example/3.png">',
    1,
  ],
])('of %j so many pictures are elsewhere: %i', (html, count) => {
  expect(remotePicturesIn(html)).toBe(count);
});

test('the root has no background, so that the mail’s own fills the canvas', () => {
  const html = '<body bgcolor="#123456">Hi';
  for (const isDark of [false, true])
    expect(documentOf({ ...EMPTY, html }, { isDark })).not.toMatch(/background/);
});

test('a text is shown as it is, whatever is in it', () => {
  expect(documentOf({ ...EMPTY, text: '<script>alert("1")</script>' })).toContain(
    '<pre>&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;</pre>',
  );
});

test('pictures that travel with the message are shown; other files, and drawings that can hold scripts, are not', () => {
  const file = (contentId: string, contentType: string) => ({
    filename: 'x',
    contentType,
    inline: true,
    contentId,
    content: Buffer.from('abc'),
  });
  const html = '<img src="cid:a%40x"><img src="cid:b"><img src="cid:none">';
  const attachments = [file('a@x', 'image/png'), file('b', 'image/svg+xml')];
  expect(documentOf({ ...EMPTY, html, attachments })).toContain(
    '<img src="data:image/png;base64,YWJj"><img src="cid:b"><img src="cid:none">',
  );
});

test('links are found in HTML with what is read of them, and in text', () => {
  const html =
    '<a class=x href="https://example.com/a?b=1&amp;c=2"><b>Confirm</b>  me</a> <a href=javascript:alert(1)>no</a><a href="mailto:x@y">no</a>';
  const text = 'See (https://example.com/b). And http://example.com/c, too.';
  expect(linksIn({ html, text })).toEqual([
    { url: 'https://example.com/a?b=1&c=2', text: 'Confirm me' },
    { url: 'https://example.com/b', text: '' },
    { url: 'http://example.com/c', text: '' },
  ]);
});

test('no more links and codes are given than may', () => {
  const text = Array.from({ length: 200 }, (_, n) => `https://example.com/${n} code ${100000 + n}`).join(
    '\n',
  );
  expect(linksIn({ html: null, text })).toHaveLength(MAX_LINKS);
  expect(codesIn({ html: null, text, subject: '' })).toHaveLength(MAX_CODES);
});

test.each([
  ['Your code is 123456.', ['123456']],
  ['Your code: 123 456', ['123456']],
  ['PIN 4711', ['4711']],
  ['Use A1B2C3 as your verification code', ['A1B2C3']],
  ['Order 4711 shipped in 2026', []],
  ['Call +49 30 123456 or pay 1234.56', []],
  ['See https://example.com/123456', []],
  ['Your code is in 2026', []],
])('the codes in "%s" are %j', (text, codes) => {
  expect(codesIn({ html: null, text, subject: '' })).toEqual(codes);
});

test('codes are found in HTML where there is no text, and those that are called so come first', () => {
  const html = '<style>b{color:#123456}</style><p>Ticket 987654</p><p>Your login code is</p><b>135790</b>';
  expect(codesIn({ html, text: null, subject: '' })).toEqual(['135790', '987654']);
});

test('searching a message made to be slow comes to an end', { timeout: 20_000 }, () => {
  const many = [
    `<a ${' href '.repeat(100_000)}`,
    '<a '.repeat(100_000),
    `${'<'.repeat(300_000)}>`,
    '<style>'.repeat(50_000),
    '<!--'.repeat(50_000),
    `<img ${' src '.repeat(1600)}`.repeat(50),
    '@import url('.repeat(50_000),
  ];
  for (const html of [
    ...many,
    ...many.map((text) => `${text}>`),
    '<a href=x'.repeat(50_000),
    '<a href=x>'.repeat(50_000),
    '1'.repeat(500_000),
  ]) {
    const before = process.threadCpuUsage().user;
    expect(linksIn({ html, text: html })).toEqual([]);
    expect(codesIn({ html, text: null, subject: '' })).toEqual([]);
    expect(codesIn({ html: null, text: html, subject: '' })).toEqual([]);
    expect(remotePicturesIn(html)).toBe(0);
    expect((process.threadCpuUsage().user - before) / 1000).toBeLessThan(1000);
  }
});

const OF = {
  from: 'a@x',
  to: ['b@y'],
  cc: [],
  bcc: ['c@z'],
  tags: ['t'],
  metadata: { k: 'v' },
  priority: 'high',
};

test('a draft has the recipients, words and files of a message, and of its header what may be set', () => {
  const headers = [
    { name: 'Received', value: 'from elsewhere' },
    { name: 'DKIM-Signature', value: 'v=1' },
    { name: 'Message-ID', value: '<1@x>' },
    { name: 'Reply-To', value: 'r@x' },
    { name: 'reply-to', value: 'second@x' },
    { name: 'X-Campaign', value: 'one' },
    { name: '__proto__', value: 'x' },
  ];
  const attachments = [
    {
      filename: 'a.txt',
      contentType: 'text/plain',
      inline: false,
      contentId: null,
      content: Buffer.from('hi'),
    },
    {
      filename: 'big.bin',
      contentType: 'application/octet-stream',
      inline: false,
      contentId: null,
      content: Buffer.alloc(MAX_DRAFT_FILES),
    },
  ];
  const draft = draftOf(OF, { ...EMPTY, subject: 'S', text: 'T', headers, attachments });
  expect(draft.message).toMatchObject({
    from: 'a@x',
    bcc: ['c@z'],
    subject: 'S',
    text: 'T',
    html: null,
    attachments: [{ filename: 'a.txt', content: 'aGk=', disposition: 'attachment' }],
    priority: 'high',
  });
  expect(Object.keys(draft.message['headers'] as object)).toEqual(['Reply-To', 'X-Campaign', '__proto__']);
  expect(draft.notes).toEqual(['big.bin is too large to be sent along from here.']);
});
