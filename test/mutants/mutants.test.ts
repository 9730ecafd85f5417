/** The table of mutants fits the tree as it is; what they come to, `npm run mutants` finds out. */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { edited, StaleMutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import { hasTitle } from './titles.ts';
import { ROOT } from './tree.ts';
import { judge } from './trial.ts';

/** How many there must be at least. */
const LEAST = 12;
/** Titles that a table makes: what their suites have instead, which is how it makes them, and its row. */
const OF_TABLES: ReadonlyMap<string, readonly string[]> = new Map([
  ['seed 2 keeps every promise', ['seed %i keeps every promise']],
  ['seed 10 keeps every promise', ['seed %i keeps every promise']],
  ['seed 8 keeps every promise', ['seed %i keeps every promise']],
  [
    'fdatasync failing with EIO stops writing for good',
    ['%s failing with %s stops writing for good', "fdatasync', 'EIO"],
  ],
  [
    'mail without a sender is never reported on',
    ['mail %s is never reported on, when it fails', 'without a sender'],
  ],
  ['a bare LF is refused at the end of the content', ['is refused at the end of the content', 'a bare LF']],
  ['X-A: "a\\rb"', ['%s: %j', "X-A', 'a\\rb"]],
  ['172.16.0.0/12 and 172.32.0.0: false', ['%s and %s: %s', "172.16.0.0/12', '172.32.0.0"]],
  [
    'a certificate that is self-signed is not taken',
    ['a certificate that is %s is not taken', 'self-signed'],
  ],
  [
    'a bounce that comes too early, and names the message by its token',
    ['a bounce that comes too early, and names the message by %s', 'its token'],
  ],
  [
    'https://[::ffff:127.0.0.1] is not connected to',
    ['%s is not connected to', 'https://[::ffff:127.0.0.1]'],
  ],
  [
    'resend with another secret gets 401',
    ['%s with %s gets %d, and nothing is told', "resend', 'another secret"],
  ],
  ['emails of a batch are not stored in part', ['%s are not stored in part', 'emails of a batch']],
  ['with another secret is refused', ['%s is refused', 'with another secret']],
  ['that leaves out an x-amz header is none', ['%s is none', 'that leaves out an x-amz header']],
  ['of another body is refused', ['%s is refused', 'of another body']],
  [
    'a challenge that fails is told as challenge_failed',
    ['%s is told as %s, and the certificate stays', "a challenge that fails', 'challenge_failed"],
  ],
  [
    'a certificate for another name is told as certificate_unfit',
    ['%s is told as %s, and the certificate stays', 'a certificate for another name'],
  ],
  ['the signature of a stranger signs nobody in', ['%s signs nobody in', 'the signature of a stranger']],
  ['no nonce signs nobody in', ['%s signs nobody in', 'no nonce']],
  ['a second audience signs nobody in', ['%s signs nobody in', 'a second audience']],
  ['an age of six minutes signs nobody in', ['%s signs nobody in', 'an age of six minutes']],
  ['a user who was not verified signs nobody in', ['%s signs nobody in', 'a user who was not verified']],
  ['another site: no operation is done', ['%s: no operation is done', 'another site']],
  ['a bomb in zip ends at the limit', ['a bomb in %s ends at the limit', "zip', zipOf"]],
  ['another token is 404 without a body', ['%s is 404 without a body', 'another token']],
  [
    'plaintext behind STARTTLS is dropped, in the same packet',
    ['plaintext behind STARTTLS is dropped, %s', 'in the same packet'],
  ],
]);

test('there are enough mutants, each under a name of its own', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(LEAST);
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});

test.each(MUTANTS)('$name can still be made, and names tests that are there', ({ edits, traps }) => {
  const sources = new Map<string, string>();
  for (const edit of edits) {
    const source = sources.get(edit.file) ?? readFileSync(join(ROOT, edit.file), 'utf8');
    sources.set(edit.file, edited(source, edit));
  }
  for (const source of sources.values()) expect(() => stripTypeScriptTypes(source)).not.toThrow();
  expect(traps).not.toEqual([]);
  for (const { file, test: name } of traps) {
    const title = name.split(' > ').at(-1) ?? '';
    expect(title).not.toBe('');
    for (const part of OF_TABLES.get(title) ?? [title])
      expect(hasTitle(file, part), `${file}: ${part}`).toBe(true);
  }
});

test('a test that is renamed, or moved, is missed', () => {
  const file = 'src/domain/settle.test.ts';
  const title = 'a deferral past the expiry fails as expired';
  expect(hasTitle(file, title)).toBe(true);
  expect(hasTitle(file, `${title} now`)).toBe(false);
  expect(hasTitle('src/domain/breaker.test.ts', title)).toBe(false);
  expect(hasTitle('src/domain/nowhere.test.ts', title)).toBe(false);
  // Nor does it count what a comment says.
  const said = ['The table of mutants', 'fits the tree'].join(' ');
  expect(hasTitle('test/mutants/mutants.test.ts', said)).toBe(false);
});

test('a mutant whose text is gone, or stands twice, is stale', () => {
  const edit = { file: 'a.ts', before: 'one', after: 'two' };
  expect(edited('one', edit)).toBe('two');
  for (const source of ['', 'one one']) expect(() => edited(source, edit)).toThrow(StaleMutant);
});

describe('a mutant is caught by what a test saw', () => {
  const failing = (error: string, name: string | null = 'holds') => ({
    ended: true,
    seen: [{ file: 'a.test.ts', test: name, passed: false, errors: [error] }],
  });

  test('and by nothing else', () => {
    expect(judge(failing('AssertionError: expected 1 to be 2')).kind).toBe('caught');
    expect(judge(failing('TestTimeoutError: Test timed out in 60000ms.')).kind).toBe('broken');
    expect(judge(failing('ReferenceError: x is not defined')).kind).toBe('broken');
    expect(judge(failing('Error: cannot be read', null)).kind).toBe('broken');
    expect(judge({ ...failing('AssertionError: too late'), ended: false }).kind).toBe('broken');
  });

  test('not while all tests pass, or none was run', () => {
    const passing = { file: 'a.test.ts', test: 'holds', passed: true, errors: [] };
    expect(judge({ ended: true, seen: [passing] }).kind).toBe('passed');
    expect(judge({ ended: true, seen: [] }).kind).toBe('empty');
  });
});
