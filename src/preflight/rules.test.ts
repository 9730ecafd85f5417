import { describe, expect, test } from 'vitest';
import { ALIGNED } from '../../test/support/alignments.ts';
import type { Alignment } from '../domain/alignment.ts';
import { checkMail } from './check.ts';
import { type Finding, type Hop, type MailDraft, NO_WAY, type Way } from './contract.ts';
import { type Mail, mailOfDraft } from './mail.ts';
import { RULES } from './rules.ts';

/** A good message, and what differs from it. */
interface Given extends Partial<MailDraft> {
  readonly files?: readonly string[];
  readonly sizeBytes?: number;
  readonly way?: Partial<Way>;
}

const TEXT = 'Hello Ada,\n\nyour order 1001 is on its way. It should arrive on Friday.\n';
const HTML = `<p>Hello Ada,</p>
<p>your order 1001 is on its way. It should arrive on Friday.</p>`;

function mailWith({ files = [], sizeBytes = 2_000, ...draft }: Given): Mail {
  const good = {
    from: 'Shop <orders@example.com>',
    subject: 'Your order 1001 is on its way',
    html: HTML,
    text: TEXT,
  };
  return { ...mailOfDraft({ ...good, ...draft }), files, sizeBytes };
}

function found(given: Given): Finding[] {
  return checkMail(mailWith(given), { ...NO_WAY, ...given.way }, RULES);
}

function codes(given: Given): string[] {
  return found(given).map(({ code }) => code);
}

/** HTML alone matters: its text says the same. */
function html(source: string, text = TEXT): Given {
  return { html: `${HTML}${source}`, text };
}

const UNSIGNED: Alignment = { ...ALIGNED, dkim: 'none', dkimDomain: null };
const SIGNING_CURE = 'waybill domains add example.com';
const BY_SPF = { alignment: UNSIGNED, signingCure: SIGNING_CURE };
const NOT_ALIGNED = {
  alignment: { ...UNSIGNED, verdict: 'not_aligned', spf: 'not_aligned' },
  signingCure: SIGNING_CURE,
} as const;

const BY_PROVIDER: Alignment = { ...ALIGNED, verdict: 'depends_on_provider', dkim: 'by_provider' };

function hop(given: Partial<Hop> = {}): Hop {
  return {
    relay: 'out',
    type: 'smtp',
    host: 'mail.example.net',
    maxBytes: null,
    alignment: ALIGNED,
    signingCure: null,
    ...given,
  };
}

function by(given: Partial<Hop>, more: Partial<Way> = {}): { readonly way: Partial<Way> } {
  return { way: { hops: [hop(given)], ...more } };
}

const LINK = 'https://shop.example.com/orders/1001';
const TOKEN = 'https://shop.example.com/reset/9f8e7d6c5b4a39281706';
const UNSUBSCRIBE = { 'List-Unsubscribe': '<https://example.com/u/1>, <mailto:leave@example.com>' };
const ONE_CLICK = { ...UNSUBSCRIBE, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
const PICTURE = 'src="https://example.com/a.png"';
const ASCII_ONLY = ['ses', 'mailgun', 'graph', 'postmark', 'sendgrid', 'resend'] as const;
const LONG = `<p>${'word '.repeat(24_000)}</p>`;

/** For each rule: what it finds (and where), and what it lets pass. */
const CASES: Readonly<
  Record<string, { readonly bad: readonly (readonly [Given, string])[]; readonly good: readonly Given[] }>
> = {
  'dmarc-not-aligned': {
    bad: [[by(NOT_ALIGNED), 'header:From']],
    good: [by({}), by(BY_SPF), by({ type: 'ses', alignment: BY_PROVIDER })],
  },
  'dkim-not-aligned': {
    bad: [[by(BY_SPF), 'header:From']],
    good: [by({}), by(NOT_ALIGNED), by({ type: 'ses', alignment: BY_PROVIDER })],
  },
  'relay-size': {
    bad: [[{ ...by({ maxBytes: 1_999 }), sizeBytes: 2_000 }, '']],
    good: [
      { ...by({ maxBytes: 2_000 }), sizeBytes: 2_000 },
      { ...by({}), sizeBytes: 9_000_000 },
    ],
  },
  'message-size': { bad: [[{ sizeBytes: 10_240_001 }, '']], good: [{ sizeBytes: 10_240_000 }] },
  'smtputf8-refused': {
    bad: ASCII_ONLY.map((type) => [by({ type }, { utf8Address: 'zoë@example.org' }), '']),
    good: [by({ type: 'ses' }), by({}, { utf8Address: 'zoë@example.org' })],
  },
  'smtputf8-needed': {
    bad: [[by({ type: 'mx' }, { utf8Address: 'zoë@example.org' }), '']],
    good: [by({ type: 'mx' }), by({ type: 'mailgun' }, { utf8Address: 'zoë@example.org' })],
  },
  'requiretls-refused': {
    bad: [[by({ type: 'webhook' }, { requiresTls: true }), '']],
    good: [by({ type: 'ses' }), by({}, { requiresTls: true }), by({ type: 'mx' }, { requiresTls: true })],
  },
  'subject-empty': { bad: [[{ subject: ' ' }, '/subject']], good: [{ subject: '?' }] },
  'subject-shouted': {
    bad: [
      [{ subject: 'LAST CHANCE: EVERYTHING MUST GO' }, '/subject'],
      [{ subject: 'NUR HEUTE: ALLES ZUM HALBEN PREIS' }, '/subject'],
    ],
    good: [
      { subject: 'HTTP API: DNS, DKIM, SPF' },
      { subject: 'RE: ORDER' },
      { subject: 'ご注文ありがとうございます。発送しました。' },
      { subject: 'EVERYTHING MUST GO, says Ada' },
    ],
  },
  'subject-long': {
    bad: [[{ subject: 'x'.repeat(71) }, '/subject']],
    good: [{ subject: '😀'.repeat(70) }],
  },
  'from-free-mail': {
    bad: [
      [{ from: 'Ada <ada@gmail.com>' }, 'header:From'],
      [{ from: 'ada@yahoo.com', ...by({}) }, 'header:From'],
    ],
    good: [
      { from: 'ada@gmail.com', ...by({ host: 'smtp.gmail.com' }) },
      { from: 'ada@outlook.com', ...by({ type: 'graph', host: null }) },
      { from: 'ada@gmail.example.com' },
    ],
  },
  'reply-to-free-mail': {
    bad: [[{ headers: { 'Reply-To': 'Shop <shop@gmail.com>' } }, 'header:Reply-To']],
    good: [{ headers: { 'Reply-To': 'help@example.org' } }],
  },
  'unsubscribe-missing': {
    bad: [
      [{ way: { isBulk: true } }, 'header:List-Unsubscribe'],
      [{ headers: { Precedence: 'bulk' } }, 'header:List-Unsubscribe'],
      [{ headers: { 'List-Id': 'News <news.example.com>' } }, 'header:List-Unsubscribe'],
    ],
    good: [
      {},
      { headers: { Precedence: 'bulk', 'Auto-Submitted': 'auto-replied' } },
      { headers: { ...ONE_CLICK, Precedence: 'list' }, way: { isBulk: true } },
    ],
  },
  'unsubscribe-one-click': {
    bad: [
      [{ headers: UNSUBSCRIBE }, 'header:List-Unsubscribe-Post'],
      [
        { headers: { ...ONE_CLICK, 'List-Unsubscribe': '<mailto:leave@example.com>' } },
        'header:List-Unsubscribe',
      ],
      [
        { headers: { ...ONE_CLICK, 'List-Unsubscribe': 'https://example.com/u/1' } },
        'header:List-Unsubscribe',
      ],
    ],
    good: [{ headers: ONE_CLICK }],
  },
  placeholder: {
    bad: [
      [{ subject: 'Hello {{name}}' }, '/subject'],
      [{ text: `${TEXT}\nDear {{{ first_name }}},` }, '/text#L5'],
      [html('\n<p>Hello %recipient.name%</p>'), '/html#L3'],
      [html('<p>Hi *|FNAME|*</p>'), '/html#L2'],
      [html('<p>Hi {% if name %}</p>'), '/html#L2'],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: what was to be a template
      [html('<p>Hi ${user.name}</p>'), '/html#L2'],
      [html('<p>Order [object Object]</p>'), '/html#L2'],
      [html('<p>Hello undefined,</p>'), '/html#L2'],
      [html('<p>Total: $NaN</p>'), '/html#L2'],
      [html('<td>undefined</td>'), '/html#L2'],
      [{ text: `Hi null,\n\n${TEXT}` }, '/text#L1'],
      [{ text: `${TEXT}\r\n\r\nHi null,\r\n \r\nthere.` }, '/text#L6'],
      [html('<p>\n      Hello undefined,\n  </p>'), '/html#L2'],
      [html('<p>\nHi <b>\n{{</b>name}},</p>'), '/html#L4'],
      [html('<p>Hi <b>undefined</b>,<br>your order</p>'), '/html#L2'],
      [html('<img src="https://cdn.example.net/a?id=undefined" alt="">'), '/html#L2'],
      [html('<a href="https://example.com/orders/undefined">order</a>'), '/html#L2'],
      [{ text: `${TEXT}\n%unsubscribe_url%` }, '/text#L5'],
    ],
    good: [
      html('<p>In JavaScript, undefined is not null, and null is an object.</p>'),
      html(
        '<p>What is <b>undefined</b>\nundefined\nor <a href="https://docs.example.org/Global/undefined">undefined</a>?</p>',
      ),
      html('<table><tr><td>null</td></tr></table>'),
      { text: `${TEXT}\nWhat has no value is\nundefined\nthere.` },
      html('<p>Write <code>{{name}}</code>, or:</p><pre>Hello {{name}},</pre>'),
      html('<p>Save 50% today, 20% tomorrow. Use {curly} braces; 100%.</p>'),
      html('<a href="https://example.com/?q=100%25_a.b%25&amp;next=null">more</a>'),
      html('<style>.a::after{content:"{{x}}"}</style>'),
      { text: `${TEXT}\nPrice: $5 (10%_off. 20%)` },
      { text: `${TEXT}\nWrite \`{{name}}\` there.` },
      { text: `${TEXT}\nThe value null,\nwhich is no object, and the\nvalue null,\n\nare one.` },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as GitHub writes it
      { text: `${TEXT}\nThe build ${'${{ github.run_id }}'} failed.` },
      { text: `${TEXT}\nhttps://example.com/files/R%C3%BCckgabe_f%C3%BCr.pdf` },
      html('<p>https://example.com/?utm_campaign=M%C3%A4rz_aktion%202026</p>'),
    ],
  },
  'gmail-clipping': {
    bad: [[{ html: LONG, text: LONG }, '/html']],
    good: [{ html: `<p>${'x'.repeat(102 * 1024 - 7)}</p>`, text: 'x' }],
  },
  'html-unread': {
    bad: [[{ html: '<i>'.repeat(600) }, '/html']],
    good: [{ html: '<div>'.repeat(300) + HTML }],
  },
  'text-missing': {
    bad: [
      [{ text: null }, '/text'],
      [{ text: ' \n' }, '/text'],
    ],
    good: [{ html: null }],
  },
  'text-links': {
    bad: [
      [html(`<a href="${LINK}">Order</a>`, `${TEXT}https://other.example.net/x`), '/text'],
      [html(`<a href="${TOKEN}">Reset</a>`), '/text'],
    ],
    good: [
      html(`<a href="${LINK}">Order</a>`),
      html(`<a href="${TOKEN}">Reset</a>`, `${TEXT}(${TOKEN}).`),
      html('<p>See https://www.example.com/a</p>', `${TEXT}https://example.com/b`),
      html('<a href="https://click.example.com/x">x</a>', `${TEXT}https://www.example.com/`),
    ],
  },
  'text-amounts': {
    bad: [
      [html('<p>Total: $25.00</p>', `${TEXT}Total: $24.00`), '/text'],
      [html('<p>Summe: 1.299,00 €</p>', `${TEXT}Summe: 1.199,00 €`), '/text'],
    ],
    good: [
      html('<p>Total: $25</p>', `${TEXT}Total: $25.00`),
      html('<p>Total : 1&nbsp;234,50&nbsp;€</p>', `${TEXT}Total : 1234,50 €`),
      html('<p>Total : 1234,50 €</p>', `${TEXT}Total : 1\u202f234,50 €`),
      html('<p>2 pieces: 100,00 €</p>', `${TEXT}2 100,00 €`),
      html('<p>Room 12 345,00 €</p>', `${TEXT}Room 12: 345,00 €`),
      html(`<p>$1 ${'7 '.repeat(5_000)} $25</p>`, `${TEXT}Total: $25`),
      html(`<p>$1 ${'word '.repeat(110_000)} $25</p>`, `${TEXT}Total: $25`),
      html('<p>$12<sup>99</sup></p>', `${TEXT}$12.99`),
      html('<p>€<b>1,299.00</b></p>', `${TEXT}1.299,00 EUR`),
      html('<p>Your order.</p>', `${TEXT}Total: $24.00`),
      html('<p>Total: $25.00, 3 pieces</p>', `${TEXT}Total: $25.00, order 1001`),
    ],
  },
  'image-alt': {
    bad: [[html(`\n<img ${PICTURE} width="200">`), '/html#L3']],
    good: [
      html(`<img ${PICTURE} alt="">`),
      html(`<img ${PICTURE} width="1" height="1">`),
      html(`<img ${PICTURE} role="presentation">`),
      html(`<!--[if mso]><img ${PICTURE}><![endif]-->`),
    ],
  },
  'image-http': {
    bad: [
      [html('<img src="HTTP://example.com/a.png" alt="">'), '/html#L2'],
      [html('<td background="http://example.com/a.png">x</td>'), '/html#L2'],
    ],
    good: [html(`<img ${PICTURE} alt="">`), html('<img src="cid:a" alt="">')],
  },
  'image-wide': {
    bad: [
      [html(`<img ${PICTURE} alt="" width="601">`), '/html#L2'],
      [html(`<img ${PICTURE} alt="" style="width: 800px">`), '/html#L2'],
    ],
    good: [
      html(`<img ${PICTURE} alt="" width="600">`),
      html(`<img ${PICTURE} alt="" width="1200" style="width:100%">`),
      html(`<img ${PICTURE} alt="" width="640" style="max-width:100%">`),
      html(
        `<style>@media (max-width:600px){img{width:100% !important}}</style><img ${PICTURE} alt="" width="640">`,
      ),
    ],
  },
  'image-only': {
    bad: [[{ html: `<img ${PICTURE} alt="Sale" width="600"><p>Unsubscribe</p>` }, '/html#L1']],
    good: [
      html(`<img ${PICTURE} alt="x" width="600"><p>${TEXT}</p>`),
      { html: `<img ${PICTURE} alt="Logo" width="120"><p>Your code is 123456.</p>` },
    ],
  },
  'link-unsafe': {
    bad: [
      [html('<a href="java\nscript:alert(1)">x</a>'), '/html#L2'],
      [html('<a href=" data:text/html,x">x</a>'), '/html#L2'],
    ],
    good: [html('<a href="mailto:help@example.com">x</a>'), html('<a href="#top">data: x</a>')],
  },
  'link-text-host': {
    bad: [
      [
        html(
          '<a href="https://track.example.net/x">www.example.com</a>',
          `${TEXT}https://example.com https://example.net`,
        ),
        '/html#L2',
      ],
      [html('<a href="https://track.example.net/x">https://example.com/a</a>'), '/html#L2'],
    ],
    good: [
      html('<a href="https://click.example.com/x">https://www.example.com/a</a>'),
      html('<a href="https://github.com/x">README.md</a>'),
      html('<a href="https://example.net/x">ASP.NET</a>'),
      html('<a href="https://example.net/x">node.js/io</a>'),
      html('<a href="https://example.net/x">help@example.com</a>'),
      html('<a href="https://example.net/x">See www.example.com for more</a>'),
    ],
  },
  'html-active': {
    bad: [
      [html('<script>alert(1)</script>'), '/html#L2'],
      [html('\n<iframe src="https://example.com/"></iframe>'), '/html#L3'],
    ],
    good: [html('<script type="application/ld+json">{"@type":"Order"}</script>')],
  },
  'css-support': {
    bad: [
      [html('<div style="color:red;\nDISPLAY : flex">x</div>'), '/html#L2'],
      [html('<style>\np{color:red}\n.a > .b{width:calc(100% - 2px)}</style>'), '/html#L4'],
      [html('<style>@import "x.css";</style>'), '/html#L2'],
      [html('<p style="font-size:1.5rem">x</p>'), '/html#L2'],
      [html('<p style="color:var(--ink)">x</p>'), '/html#L2'],
      [html('<p style="margin-inline:4px">x</p>'), '/html#L2'],
    ],
    good: [
      html('<style>@media (min-width:600px){.a{display:flex}}</style>'),
      html('<style>/* display:flex */ .a::after{content:"}.b{display:flex}"}</style>'),
      html('<!--[if mso]><style>.a{position:absolute}</style><![endif]-->'),
      html('<p style="display:block;color:#1rem;background:url(a;position:fixed)">x</p>'),
      html('<p class="display:flex">display:flex</p>'),
    ],
  },
  'html-support': {
    bad: [
      [html('\n<video src="https://example.com/a.mp4"></video><video></video>'), '/html#L3'],
      [html('<form action="https://example.com/">x</form>'), '/html#L2'],
    ],
    good: [html('<table><tr><td>video</td></tr></table>')],
  },
  'image-format': {
    bad: [[html('<img src="https://example.com/a.WEBP?x=1" alt="">'), '/html#L2']],
    good: [html(`<img ${PICTURE} alt="">`), html('<img src="https://example.com/webp" alt="">')],
  },
  'image-data': {
    bad: [[html('<img src=" DATA:image/png;base64,AAAA" alt="">'), '/html#L2']],
    good: [html('<img src="cid:a" alt="">')],
  },
  'attachment-refused': {
    bad: [[{ files: ['a.pdf', 'setup.EXE'] }, '/attachments/1']],
    good: [{ files: ['invoice.pdf', 'exe', 'report.exe.pdf', 'photo.jpg'] }],
  },
};

describe.each(Object.entries(CASES))('%s', (code, { bad, good }) => {
  test('is found', () => {
    for (const [given, where] of bad) {
      const findings = found(given).filter((one) => one.code === code);
      expect(findings.map((one) => one.where)).toEqual([where]);
    }
  });
  test('is not found where all is well', () => {
    for (const given of good) expect(codes(given)).not.toContain(code);
  });
});

test('every rule has its cases', () => {
  expect(Object.keys(CASES).toSorted()).toEqual(RULES.map(({ code }) => code).toSorted());
});

test('what keeps mail from being signed says what to do', () => {
  for (const unsigned of [BY_SPF, NOT_ALIGNED])
    expect(found(by(unsigned))).toMatchObject([
      {
        detail: expect.stringContaining('Through the relay out: '),
        fix: 'To have it signed: waybill domains add example.com.',
      },
    ]);
});

test('clients are known by their newest version', () => {
  const [margin] = found(html('<p style="margin-inline:4px">x</p>'));
  expect(margin?.detail).toContain('Gmail (iOS)');
  // Its versions up to 14 did.
  expect(margin?.detail).not.toContain('Apple Mail (iOS)');
});

test('nothing is found in a good message', () => {
  expect(codes({})).toEqual([]);
});
