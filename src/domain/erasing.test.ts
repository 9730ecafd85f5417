import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { formsOf, isPseudonym, names, type Person, renamed, withoutTexts } from './erasing.ts';

const ANN: Person = { address: 'ann+x@example.org', pseudonym: 'erased-0@erased.invalid' };

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

test('what is left of JSON are codes, not what others wrote', () => {
  const json = JSON.stringify({
    steps: [{ verb: 'RCPT TO:<a@b.c>', reply: '550-5.1.1 No Ann here', atMs: 3 }],
    outcome: { reply: { code: 550, enhanced: '5.1.1', text: 'No Ann here' }, message: 'x' },
  });
  expect(JSON.parse(withoutTexts(json))).toEqual({
    steps: [{ verb: 'RCPT', reply: '550', atMs: 3 }],
    outcome: { reply: { code: 550, enhanced: '5.1.1', text: '' }, message: '' },
  });
  expect(withoutTexts('no JSON')).toBe('');
});

test('a pseudonym is told from an address', () => {
  expect(isPseudonym(ANN.pseudonym)).toBe(true);
  expect(isPseudonym(ANN.address)).toBe(false);
});
