import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress } from './mailbox.ts';
import { parseSuppressed, suppressedOf, suppressionKeys } from './suppressed-address.ts';

const normal = (text: string) => {
  const parsed = parseSuppressed(text);
  return parsed.ok ? parsed.value.address : parsed.code;
};

/** Local parts of what is odd in them: case, compositions, quotes, stars. */
const locals = fc
  .array(fc.constantFrom('a', 'A', 'H', '\u0331', '\u030a', '\u212a', 'Ä', 'ß', 'İ', '+', '*', '.', 'x'), {
    minLength: 1,
    maxLength: 12,
  })
  .map((pieces) => pieces.join(''));
const labels = fc.array(fc.constantFrom('a', 'B', 'bücher', 'x-1', 'org', 'EXAMPLE'), {
  minLength: 1,
  maxLength: 9,
});

describe('normal forms', () => {
  test.each([
    ['Ann@Example.ORG', 'ann@example.org'],
    ['ann+News@example.org', 'ann+news@example.org'],
    ['"Ann"@example.org', 'ann@example.org'],
    ['"A,b"@example.org', '"a,b"@example.org'],
    ['ann@BÜCHER.example', 'ann@xn--bcher-kva.example'],
    ['JÖRG@example.org', 'jÖrg@example.org'],
    ['jo\u0308rg@example.org', 'jörg@example.org'],
    ['H\u0331@example.org', '\u1e96@example.org'],
    ['ann@[192.0.2.1]', 'ann@[192.0.2.1]'],
    ['*@Example.org', '*@example.org'],
    ['*@bücher.example', '*@xn--bcher-kva.example'],
    ['*@[IPv6:2001:DB8::1]', '*@[IPv6:2001:db8::1]'],
    ['*@*.Example.org', '*@*.example.org'],
    ['*@*.org', '*@*.org'],
    ['*@*.a.b.c.d', '*@*.a.b.c.d'],
    ['*@a.b.c.d.e.f', '*@a.b.c.d.e.f'],
    ['"*"@example.org', '"*"@example.org'],
  ])('%s is %s', (text, address) => {
    expect(normal(text)).toBe(address);
    expect(normal(address)).toBe(address);
  });

  test.each([
    '*@',
    '*@*.',
    '*@*',
    '*@*.a.b.c.d.e',
    '*@*.*.org',
    '*@*.[192.0.2.1]',
    '*@192.0.2.1',
    'ann@*.org',
    '*.org',
    '@example.org',
    'ann',
    '',
    'Ann <ann@example.org>',
    'ann@example.org\n',
    '* @example.org',
    `*@${'a'.repeat(300)}.org`,
    `${'a'.repeat(65)}@b.org`,
  ])('%j is refused', (text) => {
    expect(parseSuppressed(text)).toMatchObject({ ok: false, code: /^address_/ });
  });

  test('a normal form is its own, and the same for any case of ASCII letters', () =>
    fc.assert(
      fc.property(locals, labels, (local, domain) => {
        const text = `"${local}"@${domain.join('.')}`;
        const first = normal(text);
        if (!parseSuppressed(text).ok) return;
        expect(normal(first)).toBe(first);
        expect(normal(text.normalize('NFC').replace(/[a-z]/g, (letter) => letter.toUpperCase()))).toBe(first);
        expect(normal(text.normalize('NFC'))).toBe(first);
        expect(normal(text.normalize('NFD'))).toBe(first);
      }),
    ));

  test('no recipient becomes a pattern', () =>
    fc.assert(
      fc.property(locals, labels, (local, domain) => {
        const parsed = parseAddress(`"${local}"@${domain.join('.')}`);
        if (!parsed.ok) return;
        expect(suppressedOf(parsed.value.address).kind).toBe('mailbox');
        expect(suppressedOf(parsed.value.address).address.startsWith('*@')).toBe(false);
      }),
      { examples: [['*', ['example', 'org']]] },
    ));
});

describe('what is looked up for a recipient', () => {
  test('the mailbox, its domain and the domains above', () => {
    expect(suppressionKeys('Ann@mail.example.org')).toEqual([
      'ann@mail.example.org',
      '*@mail.example.org',
      '*@*.example.org',
      '*@*.org',
    ]);
    expect(suppressionKeys('ann@localhost')).toEqual(['ann@localhost', '*@localhost']);
    expect(suppressionKeys('ann@[192.0.2.1]')).toEqual(['ann@[192.0.2.1]', '*@[192.0.2.1]']);
    expect(suppressionKeys('*@example.org')).toEqual(['"*"@example.org', '*@example.org', '*@*.org']);
  });

  test('at most six, and exactly the patterns that mean the recipient', () =>
    fc.assert(
      fc.property(labels, labels, (domain, other) => {
        const recipient = parseAddress(`ann@${domain.join('.')}`);
        if (!recipient.ok) return;
        const keys = suppressionKeys(recipient.value.address);
        expect(keys.length).toBeLessThanOrEqual(6);
        for (const key of keys) expect(normal(key)).toBe(key);
        const above = parseSuppressed(`*@*.${other.join('.')}`);
        if (above.ok)
          expect(keys.includes(above.value.address)).toBe(
            recipient.value.domain.endsWith(`.${above.value.domain}`),
          );
      }),
    ));
});
