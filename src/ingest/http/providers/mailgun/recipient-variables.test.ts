import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Problem } from '../../../../http/problem.ts';
import { fieldsFromForm } from '../../form-fields.ts';
import { forEachRecipient, takeVariables } from './recipient-variables.ts';

const LIMITS = { maxJsonDepth: 16, maxJsonValues: 50_000, maxMessageBytes: 100_000 };
const MAIL = { from: 'jane@example.com', subject: '', text: '' };

/** The message for each recipient of a form, or the pointers of its faults. */
function read(fields: Readonly<Record<string, string>>, limits = LIMITS) {
  const form = Object.entries({ ...MAIL, ...fields }).map(([name, value]) => ({ name, value }));
  const { given, others } = takeVariables(form);
  const { recipients, faults, make } = forEachRecipient(fieldsFromForm(others), given ?? [], limits);
  return faults.length > 0 ? faults.map(({ pointer }) => pointer) : recipients.map(make);
}
const textFor = (text: string, variables: object) => {
  const [message] = read({
    to: 'a@x.org',
    text,
    'recipient-variables': JSON.stringify({ 'a@x.org': variables }),
  });
  return typeof message === 'object' ? message.fields.text : message;
};

test.each([
  ['Hi %recipient.name%!', { name: 'Ann' }, 'Hi Ann!'],
  ['%recipient.a%%recipient.a%', { a: '%recipient.b%', b: 'x' }, '%recipient.b%%recipient.b%'],
  ['%recipient.id% %recipient.is% %recipient.no%.', { id: 7, is: true, no: null }, '7 true .'],
  ['%recipient.two words%', { 'two words': '$&' }, '$&'],
  ['%recipient.unknown%', { name: 'Ann' }, '%recipient.unknown%'],
  ['%recipient.constructor%', { name: 'Ann' }, '%recipient.constructor%'],
  ['%recipient.name', { name: 'Ann' }, '%recipient.name'],
  ['%recipient.%recipient.name%', { name: 'Ann' }, '%recipient.Ann'],
  ['%recipient.na\nme%', { 'na\nme': 'Ann' }, '%recipient.na\nme%'],
])('%j with %j is %j', (text, variables, expected) => {
  expect(textFor(text, variables)).toBe(expected);
});

test('each recipient has its own values, whatever the case, and is addressed once', () => {
  const variables = { 'A@x.org': { n: '1' }, 'b@x.org': { n: '2' }, 'nobody@x.org': { n: '3' } };
  const messages = read({
    to: 'a@x.org, "B, C" <b@X.org>, c@x.org, a@x.org',
    subject: '%recipient.n%',
    html: '<%recipient.n%>',
    'h:X-N': 'n %recipient.n%',
    'v:n': '%recipient.n%',
    'recipient-variables': JSON.stringify(variables),
  });
  const seen = messages.map((message) => {
    if (typeof message !== 'object') return message;
    const { to, subject, html, headers, metadata } = message.fields;
    return [to?.texts, subject, html, headers?.[0]?.[1], metadata?.[0]?.[1]];
  });
  expect(seen).toEqual([
    [['a@x.org'], '1', '<1>', 'n 1', '1'],
    [['"B, C" <b@x.org>'], '2', '<2>', 'n 2', '2'],
    [['c@x.org'], '%recipient.n%', '<%recipient.n%>', 'n %recipient.n%', '%recipient.n%'],
  ]);
});

const textsFor = (to: string, variables: string) =>
  read({ to, text: '%recipient.n%', 'recipient-variables': variables }).map((message) =>
    typeof message === 'object' ? message.fields.text : message,
  );

test('recipients whose addresses differ in case alone have the values of their own', () => {
  const two = '{"Ann@x.org": {"n": "one"}, "ann@x.org": {"n": "two"}}';
  expect(textsFor('Ann@x.org, ann@X.org', two)).toEqual(['one', 'two']);
  expect(textsFor('ann@x.org, Ann@x.org', two)).toEqual(['two', 'one']);
});

test.each([
  ['in two cases', '{"Ann@x.org": {"n": "one"}, "ann@x.org": {"n": "two"}}', 'ANN@x.org'],
  ['twice', '{"ann@x.org": {"n": "one"}, "ann@X.org": {"n": "two"}}', 'ann@x.org'],
])('different values %s are nobody else’s', (_, variables, to) => {
  expect(textsFor(to, variables)).toEqual(['/recipient-variables']);
});

test('the same values in two cases are anybody’s', () => {
  const same = '{"Ann@x.org": {"n": "one"}, "ann@x.org": {"n": "one"}}';
  expect(textsFor('ANN@x.org', same)).toEqual(['one']);
});

test.each([
  ['no JSON', '{', '/recipient-variables'],
  ['a list', '[]', '/recipient-variables'],
  ['null', 'null', '/recipient-variables'],
  ['an address that is none', '{"nobody": {}}', '/recipient-variables/nobody'],
  ['values that are none', '{"a@x.org": "Ann"}', '/recipient-variables/a@x.org'],
  ['a value that is a list', '{"a@x.org": {"a/b": []}}', '/recipient-variables/a@x.org/a~1b'],
  ['the same name twice', '{"a@x.org": {}, "a@x.org": {}}', '/recipient-variables'],
  ['a name that is forbidden', '{"a@x.org": {"__proto__": 1}}', '/recipient-variables'],
  ['what is nested too deep', '['.repeat(20), '/recipient-variables'],
])('%s is refused', (_, variables, pointer) => {
  expect(read({ to: 'a@x.org', 'recipient-variables': variables })).toEqual([pointer]);
});

test('there are at most 1,000 recipients, and no copies', () => {
  const to = (count: number) => Array.from({ length: count }, (_, n) => `u${n}@x.org`).join(',');
  const given = { 'recipient-variables': '{}' };
  expect(read({ to: to(1000), ...given })).toHaveLength(1000);
  expect(read({ to: to(1001), ...given })).toEqual(['/to']);
  expect(read({ to: 'a@x.org', cc: 'b@x.org', bcc: 'c@x.org', ...given })).toEqual(['/cc', '/bcc']);
});

test('no text becomes longer than a message may be', () => {
  const value = { v: 'x'.repeat(1000) };
  expect(textFor('%recipient.v%'.repeat(100), value)).toHaveLength(100_000);
  expect(() => textFor('%recipient.v%'.repeat(101), value)).toThrow(Problem);
});

test('the values replace what is written, once and nothing else', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '.', ' ', '%', 'é'), maxLength: 3 });
  const pieces = fc.array(
    fc.oneof(
      name.map((text) => ({ written: `%recipient.${text}%`, name: text })),
      fc
        .string({ unit: fc.constantFrom('x', '%', 'recipient.', '\n'), maxLength: 6 })
        .map((written) => ({ written, name: null })),
    ),
    { maxLength: 8 },
  );
  const values = fc.dictionary(name, fc.oneof(name, fc.integer(), fc.boolean()), { noNullPrototype: true });
  fc.assert(
    fc.property(pieces, values, (parts, own) => {
      const text = parts.map(({ written }) => written).join('');
      // By the grammar, from left to right.
      let expected = '';
      for (let at = 0; at < text.length; ) {
        const rest = text.slice(at);
        const end = rest.startsWith('%recipient.') ? rest.indexOf('%', 11) : -1;
        const inner = end > 11 ? rest.slice(11, end) : '\n';
        const known = !inner.includes('\n');
        const length = known ? end + 1 : 1;
        expected += known && Object.hasOwn(own, inner) ? String(own[inner]) : rest.slice(0, length);
        at += length;
      }
      expect(textFor(text, own) ?? '').toBe(expected);
    }),
  );
});

test('any JSON and any recipients are read, or refused by name, and fast', () => {
  const json = fc.oneof(
    fc.string(),
    fc.json({ maxDepth: 4 }),
    fc
      .dictionary(fc.emailAddress(), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })))
      .map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(json, fc.string(), fc.string(), (variables, to, text) => {
      for (const message of read({ to, text, 'recipient-variables': variables || '{}' }))
        expect(typeof message === 'string' ? message : message.fields.to?.texts.length).toEqual(
          typeof message === 'string' ? expect.stringMatching(/^\/(?:to|recipient-variables)(?:\/|$)/) : 1,
        );
    }),
  );
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`name${n}`, `${n}`]));
  const started = performance.now();
  for (const text of ['%recipient.'.repeat(9000), '%recipient.nameX'.repeat(6000), '%'.repeat(99_000)])
    expect(textFor(text, many)).toHaveLength(text.length);
  expect(performance.now() - started).toBeLessThan(10_000);
});
