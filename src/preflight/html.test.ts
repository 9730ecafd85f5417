import { expect, test } from 'vitest';
import { MAX_ITEMS, readCss } from './css.ts';
import { MAX_DEPTH, MAX_ELEMENTS, MAX_HTML, oneBlank, readHtml, shownTexts } from './html.ts';

test('elements and texts have the line on which they begin', () => {
  const source = '<p\n title="a">\n\none\n<b>two</b></p>\r\n<i>x';
  const { elements, texts } = readHtml(source);
  expect(elements.map(({ name, line }) => [name, line])).toEqual([
    ['p', 1],
    ['b', 5],
    ['i', 6],
  ]);
  expect(texts.map(({ text, line }) => [oneBlank(text), line])).toEqual([
    ['one', 2],
    ['two', 5],
    ['', 5],
    ['x', 6],
  ]);
});

test('lines are right in long HTML, too', () => {
  const { elements } = readHtml(`${'<p>text</p>\n'.repeat(5_000)}<img>`);
  expect(elements.at(-1)).toMatchObject({ name: 'img', line: 5_001 });
  expect(elements.at(-2)).toMatchObject({ name: 'p', line: 5_000 });
});

test('what stands in links, in code and in what is not shown is known', () => {
  const html = readHtml('<style>a{}</style><a href=x><b>in</b></a><pre>c</pre><p>out');
  expect(shownTexts(html).map(({ text, parent }) => [text, parent?.link !== null, parent?.isCode])).toEqual([
    ['in', true, false],
    ['c', false, true],
    ['out', false, false],
  ]);
});

test('names and entities are as clients read them', () => {
  const { elements, texts } = readHtml('<IMG ALT="&lt;&eacute;"><image src=a>&copy;&#x41;');
  expect(elements[0]?.attributes).toEqual({ alt: '<é' });
  expect(elements[1]?.name).toBe('img');
  expect(texts[0]?.text).toBe('©A');
});

test('reading ends at its limits, and says at which', () => {
  expect(readHtml('<p>x</p>').cut).toBeNull();
  expect(readHtml('x'.repeat(MAX_HTML)).cut).toBeNull();
  expect(readHtml('x'.repeat(MAX_HTML + 1)).cut).toBe('length');
  const many = readHtml('<br>'.repeat(MAX_ELEMENTS + 1));
  expect([many.cut, many.elements.length]).toEqual(['elements', MAX_ELEMENTS]);
  const deep = readHtml('<b>'.repeat(MAX_DEPTH + 10));
  expect([deep.cut, deep.elements.length]).toEqual(['depth', MAX_DEPTH]);
});

test('CSS gives declarations and at-rules with their lines, whatever stands between', () => {
  const sheet =
    '/* a{b:c} */\n.a, b > c {\n  COLOR : Red ;\n  x:url(a;b)}\n@media y {\n d{e:f}}\n@import "z";;}';
  expect(readCss(sheet, 'sheet')).toEqual([
    { name: 'color', value: 'red', line: 2, isConditional: false },
    { name: 'x', value: 'url(a;b)', line: 3, isConditional: false },
    { name: '@media', value: 'y', line: 4, isConditional: false },
    { name: 'e', value: 'f', line: 5, isConditional: true },
    { name: '@import', value: '""', line: 6, isConditional: false },
  ]);
  expect(readCss('a:b;c:"d;e:f";g', 'attribute').map(({ name, value }) => `${name}=${value}`)).toEqual([
    'a=b',
    'c=""',
  ]);
});

test('CSS is read up to so many items', () => {
  expect(readCss('a:b;'.repeat(MAX_ITEMS + 10), 'attribute')).toHaveLength(MAX_ITEMS);
});
