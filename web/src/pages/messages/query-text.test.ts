import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Piece, piecesOf } from '../../../../src/domain/query.ts';
import {
  messageNamed,
  readTerms,
  someTimes,
  suggest,
  TOKENS,
  valuesFor,
  withoutTerm,
  withValues,
  writeTerm,
} from './query-text.ts';

const terms = (text: string) => readTerms(text).map(({ token, value }) => [token, value]);

/** A piece as the server reads it; names that it does not know are words here. */
function shownPiece({ token, value, not }: Piece) {
  return token === null || token in TOKENS
    ? { token, value, not }
    : { token: null, value: `${token}:${value}`, not };
}

describe('the text of a search', () => {
  it('names a message by its id, the same as a UUID, or a Message-ID, and by nothing else', () => {
    const names = [
      'msg_01m8ffjcw3a52jyq1cj8d89k6a',
      '019e8f7e-9b83-5142-5ef8-2c4a2d213cca',
      '019E8F7E-9B83-5142-5EF8-2C4A2D213CCA',
      '<01m8@mail.example.com>',
    ];
    for (const name of names) expect(messageNamed(` ${name}\n`)).toBe(name);
    const others = [
      '',
      'msg_',
      `${names[0]} x`,
      'id:msg_01m8ffjcw3a52jyq1cj8d89k6a',
      '<nobody>',
      'a@b.example',
    ];
    expect(others.map(messageNamed)).toEqual(others.map(() => null));
  });

  it('is taken apart into words and tokens', () => {
    expect(terms('invoice to:ada@example.com  status:failed')).toEqual([
      [null, 'invoice'],
      ['to', 'ada@example.com'],
      ['status', 'failed'],
    ]);
  });

  it('keeps together what stands between quotes, closed or not', () => {
    expect(terms('subject:"two words" "a phrase" tag:"open end')).toEqual([
      ['subject', 'two words'],
      [null, 'a phrase'],
      ['tag', 'open end'],
    ]);
  });

  it('takes names it does not know for words', () => {
    expect(terms('http://example.com re:invoice TO:x')).toEqual([
      [null, 'http://example.com'],
      [null, 're:invoice'],
      ['to', 'x'],
    ]);
  });

  it('loses a single term, and nothing else', () => {
    const text = 'invoice to:ada@example.com status:failed';
    const [, term] = readTerms(text);
    expect(withoutTerm(text, term ?? { start: 0, end: 0 })).toBe('invoice status:failed');
  });

  it('has just the values of a token that are wanted, and keeps what must not be so', () => {
    expect(withValues('status:failed x status:queued', 'status', ['retrying'])).toBe('x status:retrying');
    expect(withValues('status:failed x -status:queued', 'status', [])).toBe('x -status:queued');
    expect(withValues('', 'tag', ['two words', 'b'])).toBe('tag:"two words" tag:b');
    expect(valuesFor('x status:queued status:failed -status:retrying', 'status')).toEqual([
      'queued',
      'failed',
    ]);
  });

  it('says what must not be so by a minus', () => {
    expect(readTerms('-tag:bulk -word -').map(({ token, value, not }) => [token, value, not])).toEqual([
      ['tag', 'bulk', true],
      [null, 'word', true],
      [null, '-', false],
    ]);
  });

  it('is taken apart as the server does', () => {
    const parts = fc.constantFrom(
      '"',
      '""',
      ' ',
      '-',
      'to:',
      'tag:',
      'tag:"',
      'http://x',
      'a',
      'b"c',
      '\u00a0',
    );
    fc.assert(
      fc.property(fc.array(parts), (written) => {
        const text = written.join('');
        const read = readTerms(text).map(({ token, value, not }) => ({ token, value, not }));
        // Quotes without a word in them are no chip.
        const said = piecesOf(text).filter(({ token, value }) => token !== null || value.trim() !== '');
        expect(read).toEqual(said.map(shownPiece));
      }),
    );
  });

  it('writes a term so that it is read as the same again', () => {
    for (const value of ['plain', 'two words', 'quo"ted words', '"', '""', ' "a" ', 'a:b', '//x'])
      expect(terms(writeTerm('tag', value))).toEqual([['tag', value]]);
  });
});

describe('suggestions', () => {
  const known = { status: ['queued', 'failed'], key: ['web shop'] };

  it('name every token before anything is typed', () => {
    expect(suggest('', 0, known).map(({ label }) => label)).toContain('subject:');
    expect(suggest('ada ', 4, known).map(({ label }) => label)).toContain('to:');
  });

  it('complete the name of a token where the caret stands', () => {
    const [first] = suggest('ada st more', 6, known);
    expect(first).toMatchObject({ label: 'status:', text: 'ada status: more', caret: 11, complete: false });
  });

  it('offer the values of a token, quoted where needed, and leave a space behind', () => {
    expect(suggest('status:fa', 9, known)).toMatchObject([{ label: 'failed', text: 'status:failed ' }]);
    expect(suggest('key:', 4, known)).toMatchObject([{ text: 'key:"web shop" ', complete: true }]);
  });

  it('are silent where a value is already whole, or a word is no token', () => {
    expect(suggest('status:failed', 13, known)).toEqual([]);
    expect(suggest('xyz', 3, known)).toEqual([]);
    expect(suggest('http://x', 8, known)).toEqual([]);
  });

  it('leave a minus where it stands', () => {
    expect(suggest('-status:fa', 10, known)).toMatchObject([{ text: '-status:failed ' }]);
    expect(suggest('-ta', 3, known)).toMatchObject([{ label: 'tag:', text: '-tag:' }]);
  });

  it('offer times that are often asked for', () => {
    expect(someTimes(Date.UTC(2026, 10, 1, 0, 30))).toEqual([
      '1h',
      '24h',
      '7d',
      '30d',
      'today',
      'yesterday',
      '2026-10-30',
      '2026-10-25',
      '2026-10-02',
    ]);
  });
});
