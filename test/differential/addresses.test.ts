import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import addressparser from 'nodemailer/lib/addressparser';
import { describe, expect, test } from 'vitest';
import { formatMailbox, type Mailbox, parseAddressList, parseMailbox } from '../../src/domain/mailbox.ts';
import { DIFFERENCES, JUDGED } from './addresses.ts';

/** Addresses by their standards, and our parser beside nodemailer's. */

type TheirEntry = ReturnType<typeof addressparser>[number];

function ours(text: string): string {
  const parsed = parseAddressList(text);
  if (!parsed.ok) return parsed.code;
  return parsed.value.map(formatMailbox).join(', ') || 'address_missing';
}

function theirs(text: string): string {
  return addressparser(text).map(tell).join(', ') || NO_ADDRESS;
}

const NO_ADDRESS = '(no address)';

function tell(entry: TheirEntry): string {
  if (entry.group !== undefined) return `${entry.name}: ${entry.group.map(tell).join(', ')};`;
  const { name, address } = entry;
  return address === '' ? NO_ADDRESS : formatMailbox({ name: name === '' ? null : name, address });
}

describe('by its standard', () => {
  test('there are more than 150, each once', () => {
    expect(JUDGED.length).toBeGreaterThan(150);
    expect(new Set(JUDGED.map(({ text }) => text)).size).toBe(JUDGED.length);
  });

  test.each(JUDGED)('$text is $ours ($rule: $why)', ({ text, ours: verdict }) => {
    expect(ours(text)).toBe(verdict);
    // What is one mailbox is so by itself as well.
    if (!verdict.includes(', ')) expect(ours(text)).toBe(oneOf(text));
  });
});

function oneOf(text: string): string {
  const parsed = parseMailbox(text);
  return parsed.ok ? formatMailbox(parsed.value) : parsed.code;
}

describe('beside nodemailer', () => {
  test.each(JUDGED)('$text', ({ text, ours: verdict, theirs: judged }) => {
    const alike = verdict.startsWith('address_') ? NO_ADDRESS : verdict;
    expect(theirs(text)).toBe(judged?.reading ?? alike);
  });

  test('every way of reading otherwise is in the decision record, with its shortest address', async () => {
    const path = new URL('../../docs/decisions/0004-address-disagreements.md', import.meta.url);
    const rows = (await readFile(path, 'utf8')).split('\n').filter((line) => /^\| [a-z]/.test(line));
    expect(rows).toEqual(
      Object.entries(DIFFERENCES).map(([difference, judged]) => recordRow(difference, judged)),
    );
  });
});

function recordRow(difference: string, judged: string): string {
  const [shown] = JUDGED.filter(({ theirs: other }) => other?.difference === difference).sort(
    (one, other) => one.text.length - other.text.length,
  );
  if (shown === undefined) expect.unreachable(`no address shows ${difference}`);
  const cells = [shown.text, shown.ours, shown.theirs?.reading ?? ''].map((cell) => `\`${escaped(cell)}\``);
  return `| ${[difference, ...cells, judged].join(' | ')} |`;
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
}

const atom = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,12}$/);
const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
const address = fc
  .tuple(fc.array(atom, { minLength: 1, maxLength: 3 }), fc.array(label, { minLength: 1, maxLength: 3 }))
  .map(([local, domain]) => `${local.join('.')}@${domain.join('.')}.example`);
const name = fc
  .string({ maxLength: 16, unit: 'grapheme' })
  .filter((text) => !/[\p{Cc}\p{Cs}\p{Z}"\\()]/u.test(text));
const mailbox = fc
  .tuple(fc.option(fc.array(name, { minLength: 1, maxLength: 3 })), address)
  .map(([words, base]) => {
    const written = words?.join(' ').trim() ?? '';
    return written === '' ? base : `"${written}" <${base}>`;
  });

test('well-formed lists are read alike, names and addresses', () => {
  fc.assert(
    fc.property(fc.array(mailbox, { minLength: 1, maxLength: 5 }), (texts) => {
      const list = texts.join(', ');
      const parsed = parseAddressList(list);
      expect(parsed.ok).toBe(true);
      const read = addressparser(list, { flatten: true });
      expect(parsed.ok ? parsed.value.map(plainly) : null).toEqual(read.map(withoutRepeat));
    }),
    { numRuns: 5000 },
  );
});

function plainly({ name: said, address: given }: Mailbox) {
  return withoutRepeat({ name: said ?? '', address: given });
}

/** The difference `name`. */
function withoutRepeat({ name: said, address: given }: { name: string; address: string }) {
  return { name: said === given ? '' : said.replace(/\s+/g, ' ').trim(), address: given };
}

const piece = fc.oneof(
  fc.constantFrom('a@x.org', 'b@y.org', '<c@z.org>', '"d@w.org"', 'Jane', 'Doe', '"a,b"', '@[192.0.2.1]'),
  fc.constantFrom(
    '"',
    '\\',
    '<',
    '>',
    ',',
    ';',
    ':',
    '@',
    '(',
    ')',
    '.',
    ' ',
    '  ',
    '\t',
    'ä',
    '\u00a0',
    '=?',
  ),
);

test('what we take of any text, nodemailer sends to the same addresses', () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      const text = pieces.join('');
      const parsed = parseAddressList(text);
      // The difference `unquoted`, and comments, which it takes for names.
      if (!parsed.ok || text.includes('(') || parsed.value.some(({ local }) => local.startsWith('"'))) return;
      taken++;
      const read = addressparser(text, { flatten: true }).map((entry) => oneOf(entry.address));
      expect(read, text).toEqual(parsed.value.map((one) => one.address));
    }),
    { numRuns: 20_000 },
  );
  expect(taken).toBeGreaterThan(500);
});
