import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../lib/clock.ts';
import { textOfHtml } from './html-text.ts';

const textOf = (html: string) => atOnce(textOfHtml(html));

/** A template of mail as it is: a hidden first line, tables, what only Outlook shows. */
const LETTER = `<!DOCTYPE html>
<html><head><title>No</title><style>p { color: red }</style></head>
<body><div style="display:none; max-height:0">Preview <div>inner</div>&#847;&zwnj;</div>
<!--[if mso]><table><tr><td>Outlook</td></tr></table><![endif]-->
<h1>Your   order
</h1>
<p>Hello&nbsp;J&uuml;rgen &amp; &#39;all&#39;,<br>thank you.</p>
<ul><li>Shirt</li><li>Shoes
<ol><li>left</li><li>right</li></ol></li></ul>
<table><tr><td>Sum</td><td>20&nbsp;&euro;</td></tr><tr><td>Tax</td><td>4</td></tr></table>
<hr>
<p><a href="https://shop.example/o?a=1&amp;b=2">See it</a> or <a href="mailto:a@shop.example">a@shop.example</a>
<a href="#top">top</a> <img src="x" alt="Logo"></p>
<pre>a  b
  c</pre>
</body></html>`;

test('HTML becomes paragraphs, lists, cells and links', () => {
  expect(textOf(LETTER)).toBe(`Your order

Hello Jürgen & 'all',
thank you.

- Shirt
- Shoes
  1. left
  2. right

Sum 20 €
Tax 4

---

See it <https://shop.example/o?a=1&b=2> or a@shop.example top Logo

a  b
  c
`);
});

test('what is no HTML, or ends early, is read as far as it goes', () => {
  expect(textOf('a < b & c')).toBe('a < b & c\n');
  expect(textOf('a<!-- b')).toBe('a\n');
  expect(textOf('a<p title="x>y">b</p')).toBe('a\n\nb\n');
  expect(textOf('<style>a')).toBe('');
  expect(textOf('')).toBe('');
  expect(textOf('&unknown; &#xFFFFFF; &#0;')).toBe('&unknown; &#xFFFFFF; &#0;\n');
});

test('end tags that may be left out are not waited for', () => {
  expect(textOf('<html><head><title>t</title><body><p>Hello Ann</p></body></html>')).toBe('Hello Ann\n');
  expect(textOf('<p hidden>x<p>after')).toBe('after\n');
  expect(textOf('<div><p hidden>x <b>y</b></div>after')).toBe('after\n');
  expect(textOf('<p hidden>x <b>y</b></p>after')).toBe('after\n');
});

test('a name without an end is looked at once: looked at again and again, this would take an hour', () => {
  expect(textOf(`<a ${'b'.repeat(2_000_000)}>x</a>`)).toBe('x\n');
});

test('no HTML is too much for it', () => {
  const pieces = fc.constantFrom(
    '<',
    '>',
    '<p',
    '</',
    'a',
    '"',
    "'",
    '=',
    '<!--',
    '-->',
    '<style>',
    '<a href="',
    '&#',
    ';',
    '<li>',
    '<ul>',
    ' ',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      expect(textOf(parts.join('')).length).toBeLessThan(2000);
    }),
  );
  for (const part of [
    '<',
    '<p ',
    '<!--',
    '<a href="',
    '<style>',
    '<ul><li>',
    '<pre>',
    '<div hidden>',
    '&#',
    '<p a=b ',
  ])
    textOf(part.repeat(50_000));
}, 20_000);
