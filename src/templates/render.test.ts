import { describe, expect, it, test } from 'vitest';
import type { TemplateValues } from '../domain/template.ts';
import { atOnce } from '../lib/clock.ts';
import { textOfHtml } from '../mail/html-text.ts';
import { compileTemplate } from './compile.ts';
import { MAX_DEPTH, MAX_TAGS } from './language.ts';
import { type Bounds, renderTemplate } from './render.ts';

function html(source: string, values: TemplateValues = {}): string | null {
  return rendered({ html: source }, values).texts.html;
}

function text(source: string, values: TemplateValues = {}): string | null {
  return rendered({ text: source }, values).texts.text;
}

function rendered(
  texts: { readonly subject?: string; readonly html?: string; readonly text?: string },
  values: TemplateValues,
  bounds?: Bounds,
) {
  const { template, faults } = compileTemplate({ subject: '', html: null, text: null, ...texts });
  expect(faults).toEqual([]);
  return atOnce(renderTemplate(template, values, bounds));
}

/** What is wrong with a template, as `line code: detail`. */
function faultsOf(field: 'subject' | 'html' | 'text', source: string): string[] {
  const { faults } = compileTemplate({ subject: '', html: null, text: null, [field]: source });
  return faults.map(({ line, code, detail }) => `${line} ${code}: ${detail}`);
}

/** What is wrong with values in it. */
function refused(field: 'subject' | 'html' | 'text', source: string, values: TemplateValues): string[] {
  return rendered({ [field]: source }, values).faults.map(
    ({ line, detail, value }) => `${line} /${value?.join('/')}: ${detail}`,
  );
}

const HOSTILE = `<b>"it's" & more</b>`;

describe('a value', () => {
  it('is escaped in HTML, and nowhere else', () => {
    expect(html('<p>{{x}}</p>', { x: HOSTILE })).toBe(
      '<p>&lt;b&gt;&quot;it&#39;s&quot; &amp; more&lt;/b&gt;</p>',
    );
    expect(html('<p>{{{x}}}</p>', { x: HOSTILE })).toBe(`<p>${HOSTILE}</p>`);
    expect(text('{{x}} {{{x}}}', { x: HOSTILE })).toBe(`${HOSTILE} ${HOSTILE}`);
    expect(rendered({ subject: '{{x}}' }, { x: HOSTILE }).texts.subject).toBe(HOSTILE);
  });

  it('may be a text, a number, or a truth value', () => {
    expect(text('{{a}} {{b}} {{c}} {{d}}', { a: '', b: 0, c: false, d: -1.5 })).toBe(' 0 false -1.5');
  });

  it('is named with dots, and only by what is its own', () => {
    expect(text('{{a.b.c}} {{list.1}}', { a: { b: { c: 'x' } }, list: ['y', 'z'] })).toBe('x z');
    for (const name of ['constructor', '__proto__', 'a.length', 'list.length', 'toString', 'a.0'])
      expect(rendered({ text: `{{${name}}}` }, { a: 'text', list: [1] }).missing, name).toHaveLength(1);
  });

  it('that is not there is missing, once, and its tag stays', () => {
    const { texts, faults, missing } = rendered(
      { subject: 'Hi {{name}}', text: 'a\n{{name}} {{order.id}} {{gone}}' },
      { order: {}, gone: null },
    );
    expect(texts).toMatchObject({ subject: 'Hi {{name}}', text: 'a\n{{name}} {{order.id}} {{gone}}' });
    expect(faults).toEqual([]);
    expect(missing).toEqual([
      { name: 'name', value: ['name'], field: 'subject', line: 1 },
      { name: 'name', value: ['name'], field: 'text', line: 2 },
      { name: 'order.id', value: ['order', 'id'], field: 'text', line: 2 },
      { name: 'gone', value: ['gone'], field: 'text', line: 2 },
    ]);
  });

  it('that is a list or an object is told where it is', () => {
    expect(refused('text', '\n{{a}}', { a: [1] })).toEqual(['2 /a: "a" is a list; write {{#a}}{{.}}{{/a}}.']);
    expect(refused('text', '{{a.b}}', { a: { b: {} } })).toEqual([
      '1 /a/b: "a.b" is an object; name what is in it, as in {{a.b.name}}.',
    ]);
  });

  it('is on one line in a subject', () => {
    for (const value of ['a\nBcc: x@y', 'a\r', 'a\u2028b', 'a\u0085b', 'a\vb'])
      expect(refused('subject', '{{x}}{{{x}}}', { x: value })).toHaveLength(2);
    expect(refused('subject', '{{x}}', { x: 'a\tb' })).toEqual([]);
  });
});

describe('a section', () => {
  it('repeats a list, enters an object, and shows what is there', () => {
    expect(text('{{#list}}{{name}},{{/list}}', { list: [{ name: 'a' }, { name: 'b' }] })).toBe('a,b,');
    expect(text('{{#list}}{{.}},{{/list}}', { list: [1, 0, ''] })).toBe('1,0,,');
    expect(text('{{#a}}{{b}}{{/a}}', { a: { b: 1 } })).toBe('1');
    expect(text('{{#name}}Hi {{name}}{{/name}}', { name: 'Ann' })).toBe('Hi Ann');
    expect(text('{{#name}}Hi {{.}}{{/name}}', { name: 'Ann' })).toBe('Hi Ann');
    expect(text('{{#m}}{{#.}}{{.}}{{/.}};{{/m}}', { m: [[1, 2], [3]] })).toBe('12;3;');
  });

  it('is shown inverted for what is not there, empty or false', () => {
    for (const value of [undefined, null, false, '', 0, []])
      expect(text('{{#x}}yes{{/x}}{{^x}}no{{/x}}', { x: value })).toBe('no');
    for (const value of [true, 'a', 1, {}, [null]])
      expect(text('{{#x}}yes{{/x}}{{^x}}no{{/x}}', { x: value })).toBe('yes');
  });

  it('sees what is outside of it', () => {
    const values = { currency: '€', items: [{ price: 1 }, { price: 2, currency: '$' }] };
    expect(text('{{#items}}{{price}}{{currency}} {{/items}}', values)).toBe('1€ 2$ ');
  });

  it('tells what an item lacks by its place', () => {
    const { missing } = rendered({ text: '{{#items}}{{price}}{{/items}}' }, { items: [{ price: 1 }, {}] });
    expect(missing.map(({ value }) => value.join('/'))).toEqual(['items/1/price']);
  });

  it('takes its line with it where its tags stand alone', () => {
    const source = 'Items:\r\n{{#items}}\r\n  - {{.}}\r\n  {{/items}}\r\nEnd';
    expect(text(source, { items: ['a', 'b'] })).toBe('Items:\r\n  - a\r\n  - b\r\nEnd');
    expect(text('a {{! one }}b\n{{! alone\n still }}\nc{{!-- {{x}} --}}\n', {})).toBe('a b\nc\n');
    expect(text('{{#a}} {{/a}}\n{{#a}}\nx{{/a}}', { a: true })).toBe(' \nx');
  });
});

test('a wrong tag is told with its line, and with what to write instead', () => {
  // biome-ignore format: a table
  const cases: [source: string, told: string][] = [
    ['a\n{{#if x}}{{/if}}', '2 template_syntax: There are no helpers such as "if"; write {{#name}}…{{/name}} for what is there, {{^name}}…{{/name}} for what is not.'],
    ['{{this}}', '1 template_syntax: Write {{.}} for the item of a section itself'],
    ['{{else}}', '1 template_syntax: There are no helpers'],
    ['{{>header}}', '1 template_syntax: There are no partials; write the text here.'],
    ['{{=<% %>=}}', '1 template_syntax: The delimiters cannot be changed.'],
    ['{{&x}}', '1 template_syntax: Write {{{name}}} for a value as it is.'],
    ['{{~x}}', '1 template_syntax: Remove "~"'],
    ['\n\n{{x', '3 template_syntax: The tag has no end: "}}".'],
    ['{{{x}}', '1 template_syntax: The tag has no end: "}}}".'],
    ['{{}}', '1 template_syntax: The tag has no name.'],
    ['{{a b}}', '1 template_syntax: "a b" is no name'],
    ['{{a..b}}', '1 template_syntax: "a..b" is no name'],
    [`{{${'a'.repeat(201)}}}`, '1 template_syntax: "aaaa'],
    ['{{#a}}\n{{#b}}', '2 template_place: The section has no end: {{/b}}.'],
    ['{{#a}}\n{{#b}}\n{{/a}}{{/b}}', '3 template_place: The section {{#b}} of line 2 ends before {{/a}}.'],
    ['{{/a}}', '1 template_place: There is no section {{#a}} to end.'],
    ['{{#a}}'.repeat(9_000), `1 template_limit: Sections may be nested ${MAX_DEPTH} deep.`],
    ['{{x}}'.repeat(MAX_TAGS + 1), `1 template_limit: There may be at most ${MAX_TAGS} tags.`],
    ['{{#a}}\n'.repeat(MAX_DEPTH + 1) + '{{/a}}'.repeat(MAX_DEPTH + 1), `${MAX_DEPTH + 1} template_limit: Sections may be nested ${MAX_DEPTH} deep.`],
  ];
  for (const [source, told] of cases)
    expect(faultsOf('text', source)[0], source.slice(0, 40)).toContain(told);
  expect(faultsOf('text', '{{#a}}'.repeat(MAX_DEPTH) + '{{/a}}'.repeat(MAX_DEPTH))).toEqual([]);
});

describe('a place in HTML', () => {
  const X = { x: `a" onload='b' c=d>e` };

  it('decides how a value is escaped', () => {
    const plain = 'a&quot; onload=&#39;b&#39; c=d&gt;e';
    for (const source of ['<a title="{{x}}">', "<a title='{{x}}'>", '<title>{{x}}</title>'])
      expect(html(source, X), source).toBe(source.replace('{{x}}', plain));
    expect(html('<td width={{x}}>', { x: 'a b"><i' })).toBe('<td width=a&#32;b&#34;&#62;&#60;i>');
    expect(html('<td width={{x}}>', { x: '😀' })).toBe('<td width=&#128512;>');
    expect(html('<!--[if mso]><p a="{{x}}"><![endif]-->{{x}}', X)).toBe(
      `<!--[if mso]><p a="${plain}"><![endif]-->${plain}`,
    );
    expect(html('<p {{#y}}class="b"{{/y}} id="{{x}}">', { ...X, y: 1 })).toBe(`<p class="b" id="${plain}">`);
    const json = '<script type="application/ld+json">{"a": "{{x}}"}</script>';
    expect(html(json, { x: '</script>"\n' })).toBe(json.replace('{{x}}', '\\u003c/script\\u003e\\"\\n'));
  });

  it('in a comment is one that no value ends, not even with what is beside it', () => {
    expect(html('<!-- Order <{{x}}> -->', { x: '--' })).toBe('<!-- Order <&#45;&#45;> -->');
    expect(html('<!--{{x}}> <img title={{y}} -->', { x: '', y: 'a' })).toBe('<!-- > <img title=a -->');
    expect(html('<!-- -{{x}}->{{y}} -->', { x: '', y: '!' })).toBe('<!-- - ->&#33; -->');
  });

  it('behind the ? or # of a URL is one where values are encoded', () => {
    const values = { a: "a+b@c.d&e='1'#(ü) \ud800", b: 'x' };
    const encoded = 'a%2Bb%40c.d%26e%3D%271%27%23%28%C3%BC%29%20%EF%BF%BD';
    for (const source of [
      '<a href="/?x={{a}}">',
      '<a href=/?x={{a}}>',
      "<a href='/?{{b}}={{#b}}{{a}}{{/b}}'>",
    ])
      expect(html(source, values), source).toContain(`=${encoded}`);
    expect(html('<a href="https://{{b}}.example/{{p}}?{{b}}#{{p}}">', { b: 'x', p: 'a/b&' })).toBe(
      '<a href="https://x.example/a/b&amp;?x#a%2Fb%26">',
    );
    expect(html('<a href="{{{a}}}?{{{a}}}" title="?{{a}}">', { a: '&' })).toBe(
      '<a href="&?&" title="?&amp;">',
    );
    expect(html('<img srcset="/a?b 2x, {{a}} 3x">', { a: '/c/d' })).toBe('<img srcset="/a?b 2x, /c/d 3x">');
  });

  it('may be one that no value can stand in', () => {
    // biome-ignore format: a table
    const cases = [
      '<{{x}}>', '</{{x}}>', '<a href="{{x}}', '<a href={{x}}', '<h{{x}}>', '<a {{x}}>', '<a b{{x}}="c">', '<a onclick="{{x}}">', '<iframe srcdoc="{{x}}">',
      '<script>{{x}}</script>', '<script type="text/javascript">{{x}}</script>', '<!DOCTYPE {{x}}>', '<p style={{x}}>',
      '<svg><title><a href={{x}}>', '<script {{#x}}type="application/json"{{/x}}>var x = {{x}}</script>',
      '<script type="application/json" src="a">1</script><script>{{x}}</script>', '<style>a</{{x}}style>', '<!{{x}}>',
    ];
    for (const source of cases) expect(faultsOf('html', source), source).toHaveLength(1);
    expect(html('<svg><title>a</title></svg><title>{{x}}</title>', { x: 'a' })).toContain('<title>a</title>');
    expect(html('<p {{{x}}} b>', { x: 'a' })).toBe('<p a b>');
  });

  it('is the same where a section begins and ends', () => {
    // biome-ignore format: a table
    const good = [
      '{{#x}}<tr>{{/x}}', '<td{{#x}} class="a"{{/x}}>', '<p {{#x}}hidden{{/x}}>', '<p class="{{#x}}a{{/x}} b">', '<a href="{{#x}}/a{{/x}}">',
      '<a href="{{#x}}{{.}}{{/x}}/{{#x}}b{{/x}}">', '<!-- {{#x}} a {{/x}} -->', '<style>{{#x}}p{}{{/x}}</style>', '<td {{#x}}a="b"{{/x}} {{^x}}c{{/x}}>',
    ];
    for (const source of good) expect(faultsOf('html', source), source).toEqual([]);
    // biome-ignore format: a table
    const bad = [
      '<td {{#x}}class="{{/x}}a">', '<a href="{{#x}}a" title="b{{/x}}">', '{{#x}}<!-- {{/x}}-->', '<{{#x}}p{{/x}}>', '<p{{#x}} hidden{{/x}}x="{{y}}">',
      '<s{{#x}}cript{{/x}}>', '{{#x}}<style>{{/x}}</style>', '<a {{#x}}href{{/x}}="{{y}}">', '<a {{#x}}a{{/x}} ="{{y}}">', '<a href={{#x}}"a"{{/x}}>',
    ];
    for (const source of bad) expect(faultsOf('html', source).length, source).toBeGreaterThan(0);
  });

  it('keeps programs out of links', () => {
    const link = '<p>\n<a href="{{x}}">';
    // biome-ignore format: a table
    const bad = ['javascript:alert(1)', ' JavaScript:a', 'java\nscript:a', '\u0001javascript:a', 'vbscript:a', 'data:text/html,a', 'data:image/svg+xml,a'];
    for (const x of bad)
      expect(refused('html', link, { x }), x).toEqual([
        '2 /x: A link must not begin with javascript:, vbscript: or data:.',
      ]);
    for (const x of [
      'https://a.example/?javascript:',
      '/a',
      '#a',
      'mailto:a@b',
      'data:image/png;base64,AA==',
      '',
    ])
      expect(refused('html', link, { x }), x).toEqual([]);
    // biome-ignore format: a table
    const parts = ['<a href="{{a}}{{b}}">', '<a href="{{#a}}{{.}}{{/a}}{{b}}">', '<a href={{a}}{{b}}>', '<A HREF = \'{{{a}}}{{{b}}}\'>', '<a href="java{{b}}">'];
    for (const source of parts)
      expect(refused('html', source, { a: 'java', b: 'script:a' }), source).toHaveLength(1);
    // Of a value as it is, HTML may have decoded the characters.
    for (const a of [
      '&#106;avascript:a',
      '&#x6A;avascript:a',
      'java&Tab;script&colon;a',
      'java&#10script:a',
      '&#x0000000006a;avascript:a',
      '&#000000000106;avascript:a',
    ])
      expect(refused('html', '<a href="{{{a}}}">', { a }), a).toHaveLength(1);
    for (const source of ['<a href="{{a}}">', '<a href="/?a={{{a}}}">'])
      expect(refused('html', source, { a: '&#106;avascript:a' })).toEqual([]);
    expect(refused('html', '<img src="{{a}}:b">', { a: 'javascript' })).toHaveLength(1);
    expect(refused('html', '<p title="{{a}}">', { a: 'javascript:a' })).toEqual([]);
  });

  it('keeps a style to what a style says', () => {
    for (const source of ['<p style="color: {{x}}">', '<style>p { color: {{x}} }</style>']) {
      expect(html(source, { x: '#ff0000' })).toBe(source.replace('{{x}}', '#ff0000'));
      for (const x of ['red; a: b', 'url(a)', '</style>', '"', '}', '\\'])
        expect(refused('html', source, { x }), x).toHaveLength(1);
    }
  });

  it('needs quotes for an empty value', () => {
    expect(refused('html', '<p a={{x}} b>', { x: '' })[0]).toContain('has no quotes');
  });
});

describe('a limit', () => {
  const BOUNDS: Bounds = { maxOutput: 100, maxSteps: 50 };
  const limited = (source: string, values: TemplateValues) =>
    rendered({ text: source }, values, BOUNDS).faults.map(({ line, code }) => `${line} ${code}`);

  it('ends what grows, and names the line', () => {
    expect(limited('a\n{{x}}', { x: 'b'.repeat(98) })).toEqual([]);
    expect(limited('a\n{{x}}', { x: 'b'.repeat(99) })).toEqual(['2 template_limit']);
    expect(limited('a\n{{#l}}{{x}}{{/l}}', { l: [1, 2, 3], x: 'b'.repeat(40) })).toEqual([
      '2 template_limit',
    ]);
  });

  it('ends what is repeated, also where nothing is written', () => {
    expect(limited('a\n\n{{#l}}{{/l}}', { l: Array.from({ length: 48 }, () => 1) })).toEqual([]);
    expect(limited('a\n\n{{#l}}{{/l}}', { l: Array.from({ length: 60 }, () => 1) })).toEqual([
      '3 template_limit',
    ]);
    const ten = Array.from({ length: 10 }, () => 1);
    expect(limited('\n{{#l}}{{#l}}{{#l}}{{/l}}{{/l}}{{/l}}', { l: ten })).toEqual(['2 template_limit']);
  });

  it('holds for all texts together', () => {
    const values = { x: 'b'.repeat(60) };
    expect(rendered({ html: '{{x}}', text: '{{x}}' }, values, BOUNDS)).toMatchObject({
      texts: { html: values.x, text: null },
      faults: [{ field: 'text', code: 'template_limit' }],
    });
  });
});

test('text is made from HTML where the template has none', () => {
  const { texts } = rendered({ html: '<p>Hi {{x}}</p><a href="https://a.example/">Go</a>' }, { x: '<&>' });
  expect(texts.text).toBe('Hi <&>\n\nGo <https://a.example/>\n');
  expect(rendered({ html: '<img src="a">' }, {}).texts.text).toBeNull();
});

test('long work lets others have their turn; short work takes none', () => {
  const turnsOf = (work: Generator) => [...work].length;
  const { template } = compileTemplate({ subject: '', html: '{{#l}}<b>{{.}}</b>{{/l}}', text: null });
  expect(turnsOf(renderTemplate(template, { l: ['a'] }))).toBe(0);
  // 100,000 parts, and 16 slices of HTML that becomes text.
  const l = Array.from({ length: 25_000 }, () => 'a'.repeat(35));
  expect(turnsOf(renderTemplate(template, { l }))).toBeGreaterThan(100);
  expect(turnsOf(textOfHtml('<b>a</b>'.repeat(64 * 1024)))).toBeGreaterThan(5);
});
