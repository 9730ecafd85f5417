import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { formsOf, isAddressOf, isMailboxOf, names, type Person, renamed } from './naming.ts';

const person = (address: string, unicodeDomain = 'example.org'): Person => ({
  address,
  unicodeDomain,
  pseudonym: 'erased-0@erased.invalid',
});
const ANN = person('ann+x@example.org');
const BRIEN = person('brien@example.org');

describe('a text names a person', () => {
  test.each([
    'ann+x@example.org',
    'To: Ann <ANN+X@Example.ORG>',
    'RCPT TO:<ann+x@example.org>',
    '"550 5.1.1 ann+x@example.org: unknown"',
    '/api/v1/suppressions/ann%2Bx%40example.org?confirm=complaint',
    'ann%2bx@example.org',
    'rfc822;ann+2Bx@example.org',
    'to%3Aann%2Bx%40example.org',
    'ann+x@example.org.',
  ])('%s', (text) => {
    expect(names(text, ANN)).toBe(true);
    expect(names(renamed(text, ANN), ANN)).toBe(false);
    expect(renamed(text, ANN)).toContain(ANN.pseudonym);
  });

  test.each([
    'joann+x@example.org',
    'jo.ann+x@example.org',
    'ann+x@example.org.uk',
    'ann+x@example.organic',
    'ann@example.org',
    'ann+x@mail.example.org',
    '',
  ])('but not %s', (text) => {
    expect(names(text, ANN)).toBe(false);
    expect(renamed(text, ANN)).toBe(text);
  });

  it('wherever it stands, however often', () => {
    const around = fc.constantFrom('', ' ', '<', '>', '"', ',', ';', 'x ', ' y');
    const form = fc.constantFrom(...formsOf(ANN), 'ANN+X@EXAMPLE.ORG');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(around, form, fc.constantFrom(' ', '>', '"', ',')), { maxLength: 9 }),
        (parts) => {
          const text = parts.flat().join('');
          expect(names(renamed(text, ANN), ANN)).toBe(false);
        },
      ),
    );
  });

  it('never changes a text that does not', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!names(text, ANN));
        expect(renamed(text, ANN)).toBe(text);
      }),
    );
  });

  it('in reasonable time, however often it almost does', () => {
    const text = 'xann+x@example.org'.repeat(20_000);
    expect(renamed(text, ANN)).toBe(text);
  });
});

describe('somebody whose address ends with hers is somebody else', () => {
  const atext = [..."!#$%&'*+-/=?^_`{|}~", '.', 'é', '’', '名', '🙂', 'e\u0301'];
  test.each(atext)('o%sbrien', (sign) => {
    const other = `o${sign}brien@example.org`;
    const texts = [
      other,
      `RCPT TO:<${other}>`,
      `'${other}'`,
      `/api/v1/suppressions/${other}?x=1`,
      `/api/v1/suppressions/${encodeURIComponent(other)}`,
      `/api/v1/suppressions/o${[...Buffer.from(sign)].map((byte) => `%${byte.toString(16)}`).join('')}brien%40example.org`,
    ];
    // Here the sign ends a word of a URL, or a name with a value, unless it is escaped.
    for (const text of '/?#'.includes(sign) ? [other, texts[1], texts[2]] : sign === '=' ? [] : texts)
      expect([text, names(text ?? '', BRIEN)]).toEqual([text, false]);
    expect(isAddressOf(other, BRIEN)).toBe(false);
    expect(isMailboxOf(`Mr. <${other}>`, BRIEN)).toBe(false);
    expect(isMailboxOf(`brien <${other}>, Brien <BRIEN@example.org>`, BRIEN)).toBe(true);
  });

  test('also where that is a user of ours with a name like a parameter', () => {
    expect(isAddressOf('to=brien@example.org', BRIEN)).toBe(false);
    expect(isAddressOf("o'brien@example.org", person("o'brien@example.org"))).toBe(true);
    expect(names("<o'brien@example.org>", person("o'brien@example.org"))).toBe(true);
  });
});

test.each([
  "recipient 'brien@example.org' unknown",
  'forward=brien@example.org',
  "to='brien@example.org'",
  'GET /unsubscribe?a=1&to=brien@example.org HTTP/1.1',
  'https://example.com/brien@example.org',
  'example.com/list/brien%40example.org',
  '/api/v1/suppressions/brien@example.org',
  'prvs=0123456789=brien@example.org',
  '`brien@example.org`, **brien@example.org**, {brien@example.org}',
  '“brien@example.org”',
  '收件人「brien@example.org」',
  '收件人：brien@example.org',
  'redirect%3Fto%3Dbrien%40example.org',
  'see...brien@example.org',
  '--brien@example.org--',
  'brien@example.org- gone',
  '"brien"@example.org',
  'bounces+brien=example.org@example.com',
  'list-return-17-brien=example.org@example.com',
  '\\"brien\\"@example.org',
])('what sets an address apart is no part of it: %s', (text) => {
  expect(names(text, BRIEN)).toBe(true);
  expect(renamed(text, BRIEN)).not.toContain('brien');
});

describe('an address of another alphabet', () => {
  const ZOE = person('zoë@xn--bcher-kva.example', 'bücher.example');
  test.each([
    'zoë@xn--bcher-kva.example',
    'ZOë@Bücher.Example',
    'zoë@BÜCHER.EXAMPLE',
    'zoe\u0308@bu\u0308cher.example',
    'zo%C3%AB%40xn--bcher-kva.example',
    'zo%c3%ab%40b%c3%bccher.example',
    'zo\\x{EB}@xn--bcher-kva.example',
  ])('%s', (text) => {
    expect(names(text, ZOE)).toBe(true);
    expect(names(renamed(text, ZOE), ZOE)).toBe(false);
  });

  test.each(['zoe@bücher.example', 'zoë@bücher.examples', 'zoë@bucher.example'])('but not %s', (text) => {
    expect(names(text, ZOE)).toBe(false);
  });

  test('is hers in every way that is the same', () => {
    for (const text of ['ZOë@BÜCHER.example', 'zoe\u0308@bücher.example', '"zoë"@xn--BCHER-kva.example'])
      expect(isAddressOf(text, ZOE)).toBe(true);
    expect(isAddressOf('ZOË@bücher.example', ZOE)).toBe(false);
  });
});

test('a reverse-path that names her stays one address', () => {
  expect(renamed('<bounces+Brien=example.org@example.com>', BRIEN)).toBe(
    '<bounces+erased-0=erased.invalid@example.com>',
  );
  expect(names("bounces+o'brien=example.org@example.com", BRIEN)).toBe(false);
});

test('a local part in quotes is named as it is', () => {
  const odd = person('"an,n"@example.org');
  for (const text of [
    '<"an,n"@example.org>',
    JSON.stringify({ to: '"an,n"@example.org' }),
    '%22an%2Cn%22%40example.org',
  ])
    expect(names(text, odd)).toBe(true);
  expect(names('"an,n"@example.org', person('n@example.org'))).toBe(false);
  expect(isAddressOf('"an\\,n"@EXAMPLE.org', odd)).toBe(true);
});
