/** What we sign is verified by two libraries that are not ours, and by neither once it was changed. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { atOnce } from '../../src/lib/clock.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { compose } from '../../src/mail/compose.ts';
import { describeIf } from '../peers/need.ts';
import {
  askMailauth,
  askPython,
  contentOf,
  pythonWithDkim,
  recordsOf,
  sendingDomain,
  signerFor,
} from '../support/dkim.ts';
import { awkwardDrafts, generatedDrafts } from './drafts.ts';

const DOMAINS = [sendingDomain('example.com')];
const RECORDS = recordsOf(DOMAINS);
const signer = signerFor(DOMAINS);

const HEADER = [
  'From: Jane <jane@example.com>',
  'To: john@example.org',
  'Cc: a@example.org,',
  '\tb@example.org',
  'Subject:  two  blanks\t',
  'Date: Sun, 22 Nov 2026 00:00:00 +0000',
  'Message-ID: <1@example.com>',
  'Reply-To: r@example.com',
  'In-Reply-To: <0@example.com>',
  'References: <0@example.com>',
  ' <00@example.com>',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: 8bit',
  'List-Unsubscribe: <https://example.com/u>',
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
  'List-Id: <l.example.com>',
  'Sender: jane@example.com',
];
const letter = (body: string, header: readonly string[] = HEADER) =>
  Buffer.from(`${[...header, '', body].join('\r\n')}\r\n`);

/** Written by hand where canonical forms are known to go wrong. */
const AWKWARD = [
  letter(''),
  letter('\r\n\r\n'),
  letter(' \t \r\n\r\n'),
  letter('text'),
  letter('text  with \t runs \r\n\r\n\r\n  and ends \t\r\n\r\n \r\n'),
  letter('.\r\n..\r\n.dots'),
  letter(`${'long '.repeat(190)}\r\n`),
  letter('Grüße, 日本語, \u00a0\u00a0 \u00a0'),
  letter('x', ['From: Jürgen <jürgen@example.com>', 'Subject: Grüße \u00a0', 'To: ü@example.org']),
  letter('x', ['FROM:  jane@example.com', 'subject:', 'To:\r\n john@example.org']),
  letter('x', [
    'From: jane@example.com',
    'Subject: one',
    'Subject: two',
    'List-Post: <a>',
    'list-post:  <b>',
  ]),
  letter('x', ['Received: by x', 'DKIM-Signature: v=1; d=other.example; s=a; b=x', 'From: jane@example.com']),
  letter('x', ['From: jane@example.com', `References: ${'<a@example.com>\r\n '.repeat(60)}<z@example.com>`]),
];

const word = fc.constantFrom('a', 'Wort', 'ü', ' ', '  ', '\t', '.', '=', ':', ';', 'x'.repeat(70));
const words = fc.array(word, { maxLength: 8 }).map((some) => some.join(''));
const field = fc.tuple(
  fc.constantFrom('Subject', 'To', 'X-A', 'List-Help', 'Content-Language', 'subject', 'Comments'),
  fc.constantFrom(':', ': ', ':  ', ':\t', ':\r\n '),
  words,
  fc.constantFrom('', ' ', '\r\n\tund weiter', '\r\n  x '),
);
const composed = fc
  .tuple(fc.array(field, { maxLength: 8 }), fc.array(fc.oneof(words, fc.constant('')), { maxLength: 8 }))
  .map(([fields, lines]) =>
    letter(lines.join('\r\n'), [
      'From: jane@example.com',
      // A line of blanks alone ends a header for some readers, and a value may be missing.
      ...fields.map((parts) => `${parts[0]}${parts[1]}a${parts[2]}a${parts[3]}`),
    ]),
  );

const RANDOM_SEED = 20261122;
const plain = [
  ...AWKWARD,
  ...[...awkwardDrafts(), ...generatedDrafts(60)].map((draft, index) =>
    Buffer.concat(
      atOnce(
        compose(
          {
            ...draft,
            from: {
              ...draft.from,
              name: 'Jane',
              address: 'jane@example.com',
              local: 'jane',
              domain: 'example.com',
            },
          },
          { date: 1_790_000_000_000, messageId: '<g@example.com>', random: seededRandom(index) },
        ),
      ).chunks,
    ),
  ),
  ...fc.sample(composed, { numRuns: 150, seed: RANDOM_SEED }),
];
let signed: Buffer[];

/** Cut where a reader of one chunk would go wrong. */
function cut(bytes: Buffer, index: number): Buffer[] {
  const at = Math.min(bytes.length, [bytes.length, 1, bytes.indexOf('\r\n\r\n') + 2, 50][index % 4] ?? 0);
  return [bytes.subarray(0, at), bytes.subarray(at)];
}

beforeAll(async () => {
  signed = await Promise.all(
    plain.map(async (bytes, index) => {
      const content = await signer.sign(contentOf(cut(bytes, index)), 'any');
      const whole = Buffer.concat(content.chunks);
      expect(whole.length).toBe(content.sizeBytes);
      return whole;
    }),
  );
});

test('the letter follows its signatures, byte for byte', () => {
  for (const [index, bytes] of signed.entries()) {
    const before = plain[index] ?? Buffer.of();
    expect(bytes.subarray(bytes.length - before.length).equals(before)).toBe(true);
    const added = bytes.toString('latin1', 0, bytes.length - before.length);
    expect(added).toMatch(
      /^DKIM-Signature: v=1; a=rsa-sha256;[\s\S]+\r\nDKIM-Signature: v=1; a=ed25519-sha256;/,
    );
    for (const line of added.split('\r\n')) expect(line.length).toBeLessThanOrEqual(78);
  }
});

test('mailauth verifies all of them', async () => {
  for (const [index, bytes] of signed.entries()) {
    const results = (await askMailauth(bytes, RECORDS)).slice(0, 2);
    expect(results, plain[index]?.toString('latin1')).toEqual(['pass', 'pass']);
  }
});

describeIf(pythonWithDkim() !== null, 'python3-dkim', 'Python', () => {
  test('verifies all of them', () => {
    const results = askPython(signed, RECORDS);
    for (const [index, result] of results.entries())
      expect(result.slice(0, 2), plain[index]?.toString('latin1')).toEqual([true, true]);
  });
});

describe('a change breaks both signatures', () => {
  const original = letter('Hello  there.\r\n\r\nBye.');
  const bytes = async () => Buffer.concat((await signer.sign(contentOf(original), 'any')).chunks);
  const changes: [string, (text: string) => string][] = [
    ...HEADER.filter((line) => !/^\s/.test(line)).map((line): [string, (text: string) => string] => [
      `of ${line.slice(0, line.indexOf(':'))}`,
      (text) => text.replace(`\r\n${line}`, `\r\n${line.replace(': ', ': x')}`),
    ]),
    ...HEADER.filter((line) => !/^\s/.test(line)).map((line): [string, (text: string) => string] => [
      `another ${line.slice(0, line.indexOf(':'))} on top`,
      (text) => `${line.slice(0, line.indexOf(':'))}: x@evil.example\r\n${text}`,
    ]),
    ['another From behind', (text) => text.replace('\r\n\r\n', '\r\nFrom: x@evil.example\r\n\r\n')],
    ['of the body', (text) => text.replace('Bye', 'bye')],
    ['behind the body', (text) => `${text}x\r\n`],
  ];

  test.each(changes)('%s', async (_what, change) => {
    const text = (await bytes()).toString('latin1');
    const changed = change(text);
    expect(changed).not.toBe(text);
    expect(await askMailauth(Buffer.from(text, 'latin1'), RECORDS)).toEqual(['pass', 'pass']);
    expect(await askMailauth(Buffer.from(changed, 'latin1'), RECORDS)).not.toContain('pass');
  });

  if (pythonWithDkim() !== null)
    test('for Python as well', async () => {
      const text = (await bytes()).toString('latin1');
      const changed = changes.map(([, change]) => Buffer.from(change(text), 'latin1'));
      for (const [index, result] of askPython(changed, RECORDS).entries())
        expect(result, changes[index]?.[0]).not.toContain(true);
    });

  test('one is added where there was none', async () => {
    const bare = letter('Hello', ['From: jane@example.com']);
    const text = Buffer.concat((await signer.sign(contentOf(bare), 'any')).chunks).toString('latin1');
    expect(await askMailauth(Buffer.from(text, 'latin1'), RECORDS)).toEqual(['pass', 'pass']);
    const names = ['To', 'Cc', 'Reply-To', 'Subject', 'Date', 'Message-ID', 'MIME-Version', 'Content-Type'];
    for (const name of [...names, 'Content-Transfer-Encoding']) {
      const changed = Buffer.from(`${name}: x\r\n${text}`, 'latin1');
      expect(await askMailauth(changed, RECORDS), name).not.toContain('pass');
    }
  });

  test('but not what servers put on top, nor blanks', async () => {
    const text = (await bytes()).toString('latin1');
    const changed = `Return-Path: <b@x.example>\r\nReceived: by x\r\n${text.replace('Hello  there.', 'Hello there. ')}\r\n`;
    expect(await askMailauth(Buffer.from(changed, 'latin1'), RECORDS)).toEqual(['pass', 'pass']);
  });
});
