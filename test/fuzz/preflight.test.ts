/** What may go wrong with a message, found in messages that nobody vouches for. */
import { expect, test } from 'vitest';
import { MAX_FINDINGS } from '../../src/preflight/check.ts';
import { type Finding, NO_WAY, SEVERITIES } from '../../src/preflight/contract.ts';
import { readCss } from '../../src/preflight/css.ts';
import { readHtml, shownBlocks } from '../../src/preflight/html.ts';
import { checkDraft, checkMessage, RULES } from '../../src/preflight/rules.ts';
import { PreviewError } from '../../src/preview/parsed.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';
import { inLinearTime, inTime } from './processor-time.ts';

// biome-ignore format: a list of pieces
const PIECES = [
  '<p>', '</p>', '<a href="', 'https://a.example/', 'javascript:', '">', '</a>', 'www.b.example', '<img src=', ' alt=""',
  '<style>', '</style>', '@media x{', '}', 'display:flex;', '/*', '*/', 'url(', 'calc(1vw)', ' style="', 'position:fixed',
  '{{', '}}', '%a.b%', '$', '{x}', 'undefined', '$12.00', '1.299,00 €', '<!--', '-->', '<![CDATA[', '<svg>', '<script>',
  '&#x6a;', '&amp', '<td background=http:', '\n', ' ', '"', "'", '\\', '<', '>', '\0',
] as const;
const html = textOf(...PIECES);
/** As for the preview: longer ones say no more, and take their time. */
const MAX_BYTES = 20 * 1024;
const messages = {
  made: html.map((text) =>
    Buffer.from(`From: a@x.test\r\nSubject: S\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${text}`),
  ),
  corpus: corpus('messages', (bytes) => bytes, MAX_BYTES),
};
const CODES = new Set(RULES.map(({ code }) => code));
const WHERE = /^(?:|header:[A-Za-z-]+|\/subject|\/(?:html|text)(?:#L[1-9]\d*)?|\/attachments\/\d+)$/;

async function findingsIn(bytes: Buffer): Promise<Finding[] | null> {
  try {
    return await checkMessage(bytes, NO_WAY);
  } catch (error) {
    if (!(error instanceof PreviewError)) throw error;
    return null;
  }
}

test('any message is checked, or said to be unreadable, with findings of known codes and places', () =>
  fuzz('preflight', messages, async (bytes) => {
    const found = await findingsIn(bytes);
    if (found === null) return false;
    expect(found.length).toBeLessThanOrEqual(MAX_FINDINGS);
    for (const { code, severity, where, detail, fix } of found) {
      expect(CODES).toContain(code);
      expect(SEVERITIES).toContain(severity);
      expect(where).toMatch(WHERE);
      expect(Math.max(detail.length, fix.length)).toBeLessThan(600);
      expect(Math.min(detail.length, fix.length)).toBeGreaterThan(0);
    }
    return found.some(({ where }) => where.startsWith('/html'));
  }));

test('HTML of one unit over and over takes linear time', () => {
  const draft = { from: 'a@x.test', subject: 'S', text: 'x' };
  inLinearTime(
    ['<b>', '<a href=x>', '<p', '</p>', '<img src=x>', '<p style="a:b">', '<!--', '&amp;', '\n', '<form>'],
    (text) => checkDraft({ ...draft, html: text }, NO_WAY),
  );
  inLinearTime(['<svg><b>', '<table><p>', '<a b=', '"'], (text) => readHtml(text));
});

test('CSS of one unit over and over takes linear time', () => {
  inLinearTime(['a{b:c}', '{', '}', '@x{', '(', '/*', '"', '\\', ';', 'a', ' ', '\n', 'a:b;'], (text) => {
    readCss(text, 'sheet');
    readCss(text, 'attribute');
  });
});

test('text of one unit over and over takes linear time', () => {
  const units = [
    '{{',
    '{{x}}',
    '%a.',
    '%a.b%',
    '${x',
    '$1 ',
    '1.',
    "1'",
    '€1',
    'undefined\n',
    'Ab undefined,\n',
    'http://a ',
    '*|',
  ];
  inLinearTime(units, (text) =>
    checkDraft({ from: 'a@x.test', subject: text, html: `<p>$1 https://b.test/ ${text}</p>`, text }, NO_WAY),
  );
});

/** What `\s` takes, and what ends a line for `^` and `$` with the flag `m`. */
const BLANKS = '\t\n\v\f\r \u00a0\u1680\u2000\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
const SPECIAL = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~0aZß€';

test.each([
  ['text', (text: string) => ({ text, html: null })],
  ['HTML', (text: string) => ({ text: null, html: `<p>${text}` })],
  ['text beside HTML', (text: string) => ({ text: `$1 ${text}`, html: `<p>$1 https://b.test/ ${text}</p>` })],
  ['a subject', (text: string) => ({ text: 'x', html: null, subject: text })],
  [
    'an attribute',
    (text: string) => ({ text: null, html: `<a href='${text}'>x</a><img src='${text}' width='1${text}1'>` }),
  ],
  [
    'a style',
    (text: string) => ({
      text: null,
      html: `<style>a{b:1${text}1}</style>${`<p style='a:1${text.slice(0, 1_990)}1'>`.repeat(100)}`,
    }),
  ],
  [
    'a header',
    (text: string) => ({ text: 'x', html: null, headers: { 'List-Unsubscribe': text, 'Reply-To': text } }),
  ],
])('runs of any blank and of any special character take linear time in %s', (_, parts) => {
  const units = [...BLANKS, ...SPECIAL, '\r\n', '\n ', ' \n', 'Ab undefined,', 'a-', '""', '/**/', '/*\n*/'];
  inLinearTime(units, (text) => checkDraft({ from: 'a@x.test', subject: 'S', ...parts(text) }, NO_WAY));
});

test('many findings far from the beginning of a paragraph take no longer', () => {
  const [block] = shownBlocks(readHtml(`<p>${'\n'.repeat(400_000)}x`));
  inTime('lines of a paragraph that has many', () => {
    for (let place = 0; place <= 400_000; place += 20) expect(block?.lineAt(place)).toBe(place + 1);
  });
  inTime('ends of elements that never began', () =>
    readHtml(`${'<b>'.repeat(490)}${'</z>'.repeat(200_000)}`),
  );
});

/** It ends as the text does in which it is looked for, so that each place has to be compared. */
const TOP = 'a'.repeat(60);

test.each([
  ['owners', (place: number) => `https://x${place}.${TOP}/`],
  ['hosts of one owner', (place: number) => `https://h${place}.x.${TOP}/`],
])('many %s that long HTML does not have take no longer', (_, urlAt) => {
  const text = Array.from({ length: 1_000 }, (_, place) => urlAt(place)).join(' ');
  const html = `<p>${'a'.repeat(2_000_000)}`;
  inTime('links of the text alone', () => checkDraft({ from: '', subject: 'S', text, html }, NO_WAY));
});
