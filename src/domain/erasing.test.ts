import { expect, test } from 'vitest';
import { isPseudonym, namesIn, renamedIn, withoutTexts } from './erasing.ts';
import type { Person } from './naming.ts';

const ANN: Person = {
  address: 'ann+x@example.org',
  unicodeDomain: 'example.org',
  pseudonym: 'erased-0@erased.invalid',
};

test('JSON names her in its strings and names, also where a line begins with her', () => {
  const texts = [
    JSON.stringify({ reply: '550-No\nann+x@example.org\r\n550 here' }),
    JSON.stringify({ 'ann+x@example.org': 1, at: 12 }),
    JSON.stringify([{ body: JSON.stringify({ to: '\tANN+X@example.org' }) }]),
    '{ann+x@example.org}',
  ];
  for (const text of texts) {
    expect(namesIn(text, ANN)).toBe(true);
    expect(renamedIn(text, ANN).toLowerCase()).not.toContain('ann+x');
    expect(renamedIn(text, ANN)).toContain(ANN.pseudonym);
  }
  expect(JSON.parse(renamedIn(texts[0] ?? '', ANN))).toEqual({
    reply: `550-No\n${ANN.pseudonym}\r\n550 here`,
  });
});

test('JSON that does not name her stays as it is written', () => {
  const text = '{ "to": "o\'ann+x@example.org", "size": 1.0 }';
  expect(namesIn(text, ANN)).toBe(false);
  expect(renamedIn(text, ANN)).toBe(text);
});

test('JSON names her however deep that is', () => {
  const deep = (inmost: string) => `${'['.repeat(20_000)}${JSON.stringify(inmost)}${']'.repeat(20_000)}`;
  expect(renamedIn(deep(ANN.address), ANN)).toBe(deep(ANN.pseudonym));
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
