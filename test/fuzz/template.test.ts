/** Templates, and the values in them: both may be anything. */

import { expect, test } from 'vitest';
import { atOnce } from '../../src/lib/clock.ts';
import { textOfHtml } from '../../src/mail/html-text.ts';
import { compileTemplate } from '../../src/templates/compile.ts';
import { MAX_FAULTS } from '../../src/templates/language.ts';
import { type Bounds, renderTemplate } from '../../src/templates/render.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

const BOUNDS: Bounds = { maxOutput: 200_000, maxSteps: 20_000 };
/** What a value must not bring into HTML: it would end what it stands in. */
const ENDS = ['<', '>', '"', "'"] as const;
const EVIL = `"'><script>alert(1)</script> onload=x --> ]]> \${} {{x}} javascript:`;

/** Values of every shape, whose texts are all this one. */
function valuesOf(text: string): Readonly<Record<string, unknown>> {
  const list = [text, { title: text, html: 'html', a: text }, [text], null, 7];
  return { name: text, a: text, b: { c: text }, items: list, l: [1, 2, 3, 4, 5, 6, 7, 8], x: text, list };
}

const pieces = {
  made: textOf(
    ...[
      '{{',
      '}}',
      '{{{',
      '}}}',
      '{{#',
      '{{^',
      '{{/',
      '{{!',
      'a',
      'b',
      'b.c',
      'items',
      'l',
      'x',
      '.',
      ' ',
      '\n',
    ],
    ...[
      '{{a}}',
      '{{x}}',
      '{{#items}}',
      '{{/items}}',
      '{{#a}}',
      '{{/a}}',
      '{{^b}}',
      '{{/b}}',
      '{{.}}',
      '{{none}}',
    ],
    ...[
      '<p ',
      '<a href="',
      '<td class=',
      "title='",
      'style="',
      'onclick="',
      '"',
      "'",
      '>',
      '=',
      '<',
      '</',
      '/>',
    ],
    ...[
      '<!--',
      '-->',
      '<!--[if mso]>',
      '<![endif]-->',
      '<style>',
      '</style>',
      '<script>',
      '</script>',
      '<title>',
    ],
  ),
  corpus: corpus('template', (bytes) => bytes.toString()),
};

test('whatever a template says, a value stays where it was put', () =>
  fuzz('templates in HTML', pieces, (html) => {
    const { template, faults } = compileTemplate({ subject: '', html, text: null });
    expect(faults.length).toBeLessThanOrEqual(MAX_FAULTS);
    const lines = html.split('\n').length;
    for (const { line } of faults) expect(line).toBeLessThanOrEqual(lines);
    if (faults.length > 0) return false;
    const [evil, good] = [EVIL, 'x'].map((text) => atOnce(renderTemplate(template, valuesOf(text), BOUNDS)));
    if (evil?.texts.html == null || good?.texts.html == null) return false;
    expect(evil.texts.html.length).toBeLessThanOrEqual(BOUNDS.maxOutput);
    // As it is, or in a string of JSON, it may have them.
    if (/\{\{\{|<script/i.test(html)) return true;
    for (const end of ENDS)
      expect([end, evil.texts.html.split(end).length]).toEqual([end, good.texts.html.split(end).length]);
    return html.includes('{{');
  }));

test('a template of text or a subject is rendered within its bounds, the same each time', () =>
  fuzz('templates of text', pieces, (text) => {
    const { template, faults } = compileTemplate({ subject: text, html: null, text });
    if (faults.length > 0) return false;
    const values = valuesOf('a\r\nBcc: x@example.org');
    const rendered = atOnce(renderTemplate(template, values, BOUNDS));
    expect(atOnce(renderTemplate(template, values, BOUNDS))).toEqual(rendered);
    // A section repeats the lines that it has: what counts is that a value adds none.
    const plain = atOnce(renderTemplate(template, valuesOf('x'), BOUNDS)).texts.subject;
    const { subject } = rendered.texts;
    if (subject !== null && plain !== null)
      expect(subject.split('\n')).toHaveLength(plain.split('\n').length);
    return rendered.faults.length === 0;
  }));

test('any HTML has a text, which is no longer than its markup allows', () =>
  fuzz('text of HTML', pieces, (html) => {
    const text = atOnce(textOfHtml(html));
    expect(text.length).toBeLessThanOrEqual(10 * html.length + 1);
    expect(atOnce(textOfHtml(html))).toBe(text);
    return text.includes('a');
  }));
