import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MESSAGE_STATUSES } from './delivery.ts';
import { holdsWords, MAX_WORD, wordsOf } from './mail-words.ts';
import { ANY_MAIL, type Piece, parseAgo, parseDay, parseQuery, piecesOf, QUERY_TOKENS } from './query.ts';
import { type MailFacts, queryTest } from './query-test.ts';

const read = (text: string) => {
  const { query, notes } = parseQuery(text);
  const changed = Object.entries(query).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(ANY_MAIL[name as keyof typeof ANY_MAIL]),
  );
  return { ...Object.fromEntries(changed), ...(notes.length === 0 ? {} : { notes: notes.length }) };
};

/** What cannot be read, and that therefore nothing matches. */
const NOTHING = { statuses: [], notes: 2 };

/** A piece as it is typed. */
function pieceText({ token, value, not }: Piece): string {
  const quoted = !/^\w+$/.test(value);
  return `${not ? '-' : ''}${token === null ? '' : `${token}:`}${quoted ? `"${value.replaceAll('"', '""')}"` : value}`;
}

const word = (words: string[], field = 'any', not = false) => ({ kind: 'words', field, words, not });

const NOW = Date.UTC(2026, 10, 22);

const FACTS: MailFacts = {
  id: 'msg_01m7wd8qsh4008fyzq8yebgvfy',
  keyId: 'key_a',
  status: 'failed',
  test: false,
  from: 'Ann <ann@shop.example>',
  reversePath: 'bounce@mail.example',
  subject: 'Invoice 77',
  messageId: '<1@shop.example>',
  tags: ['news'],
  box: 'worker-1',
  sendAt: null,
  metadata: () => ['order-77'],
  recipients: () => [
    {
      address: 'bob@example.net',
      relay: 'out',
      captured: false,
      hopId: '4F7C12',
      reply: () => '250 2.0.0 Ok: queued as 4F7C12',
    },
  ],
};

describe('a query', () => {
  it.each<[string, object]>([
    ['', {}],
    ['   ', {}],
    ['Invoice', { terms: [word(['invoice'])] }],
    ['invoice paid', { terms: [word(['invoice']), word(['paid'])] }],
    ['"invoice paid"', { terms: [word(['invoice', 'paid'])] }],
    ['"invoice paid', { terms: [word(['invoice', 'paid'])] }],
    ['-invoice', { terms: [word(['invoice'], 'any', true)] }],
    ['a - b', { terms: [word(['a']), word(['b'])], notes: 1 }],
    ['subject:"Straße Zürich"', { terms: [word(['straße', 'zurich'], 'subject')] }],
    ['SUBJECT:x', { terms: [word(['x'], 'subject')] }],
    ['to:ann', { terms: [word(['ann'], 'to')] }],
    [
      'to:Ann@Example.com',
      { terms: [{ kind: 'address', field: 'to', address: 'ann@example.com', not: false }] },
    ],
    [
      '-from:@example.com',
      { terms: [{ kind: 'address', field: 'from', address: '@example.com', not: true }] },
    ],
    [
      'from:"Ann <ann@x.org>"',
      { terms: [{ kind: 'address', field: 'from', address: 'ann@x.org', not: false }] },
    ],
    ['invoi*', { terms: [{ ...word(['invoi']), isStart: true }] }],
    ['"invoice 7*"', { terms: [{ ...word(['invoice', '7']), isStart: true }] }],
    ['-to:An*', { terms: [{ ...word(['an'], 'to', true), isStart: true }] }],
    ['2 *', { terms: [word(['2'])], notes: 1 }],
    ['"Sale!*"', { terms: [word(['sale'])] }],
    [
      'to:Ann@Exam*',
      { terms: [{ kind: 'address', field: 'to', address: 'ann@exam', isStart: true, not: false }] },
    ],
    ['metadata:Order-77', { terms: [{ kind: 'part', field: 'metadata', part: 'Order-77', not: false }] }],
    ['-reply:"mailbox full"', { terms: [{ kind: 'part', field: 'reply', part: 'mailbox full', not: true }] }],
    ['reply:', NOTHING],
    ['hop:4F7C12', { terms: [{ kind: 'hop', id: '4F7C12', not: false }] }],
    ['to:bob@*', { terms: [{ kind: 'address', field: 'to', address: 'bob@', isStart: true, not: false }] }],
    ['to:@*', NOTHING],
    ['box:worker-1', { terms: [{ kind: 'box', box: 'worker-1', not: false }] }],
    ['tag:"two words"', { terms: [{ kind: 'tag', tag: 'two words', not: false }] }],
    ['tag:" 5"" nails"', { terms: [{ kind: 'tag', tag: ' 5" nails', not: false }] }],
    ['tag:5"nails', { terms: [{ kind: 'tag', tag: '5"nails', not: false }] }],
    ['tag:"" x', NOTHING],
    ['to:" a@b "', { terms: [{ kind: 'address', field: 'to', address: 'a@b', not: false }] }],
    ['"a""b" "c" " "', { terms: [word(['a', 'b']), word(['c'])], notes: 1 }],
    ['"', { notes: 1 }],
    ['""', { notes: 1 }],
    ['-"" x', { terms: [word(['x'])], notes: 1 }],
    ['id:<a@b>', { terms: [{ kind: 'id', start: 'a@b', not: false }] }],
    ['status:failed status:Retrying', { statuses: ['failed', 'retrying'] }],
    ['-status:delivered', { statuses: ['queued', 'processing', 'retrying', 'failed'] }],
    ['status:failed -status:failed', { statuses: [] }],
    ['status:lost', NOTHING],
    ['relay:a relay:b -relay:c', { relays: ['a', 'b'], notRelays: ['c'] }],
    ['key:"shop one" -key:two', { keys: ['shop one'], notKeys: ['two'] }],
    ['is:captured', { captured: true }],
    ['-is:captured', { captured: false }],
    ['is:urgent', NOTHING],
    ['is:scheduled', NOTHING],
    [
      'after:2026-11-20 before:2026-11-21T10:00:00Z',
      { since: Date.UTC(2026, 10, 20), until: Date.UTC(2026, 10, 21, 10) },
    ],
    ['before:2026-11-21 before:2026-11-20', { until: Date.UTC(2026, 10, 20) }],
    ['before:tomorrow x', NOTHING],
    ['before:7d', NOTHING],
    ['before:2026-02-30', NOTHING],
    ['-after:2026-11-20', NOTHING],
    ['colour:red x', NOTHING],
    ['tag:news -status:lost', NOTHING],
    ['subject:!? x', NOTHING],
    ['Re: x', NOTHING],
    ['to:', NOTHING],
    ['https://x.org/a', { terms: [word(['https', 'x', 'org', 'a'])] }],
    ['10:30', { terms: [word(['10', '30'])] }],
    ['!?', { notes: 1 }],
    [
      'tag:x '.repeat(32),
      { terms: Array.from({ length: 32 }, () => ({ kind: 'tag', tag: 'x', not: false })) },
    ],
    ['-tag:x '.repeat(33), NOTHING],
  ])('%j is read as %j', (text, meaning) => {
    expect(read(text)).toEqual(meaning);
  });

  it('is read whatever was typed: never an error, all bounded', () => {
    const parts = [
      ...QUERY_TOKENS.map((name) => `${name}:`),
      '"',
      '-',
      ' ',
      'a',
      '@',
      '<',
      '>',
      '2026-11-20',
      '日',
      ':',
    ];
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...parts), fc.string({ unit: 'binary' }))), (pieces) => {
        const { query, notes } = parseQuery(pieces.join(''));
        expect(query.terms.length).toBeLessThanOrEqual(32);
        for (const note of notes) expect(note.length).toBeLessThan(200);
        for (const term of query.terms)
          if (term.kind === 'words') expect(term.words.length).toBeGreaterThan(0);
        for (const status of query.statuses ?? []) expect(MESSAGE_STATUSES).toContain(status);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is read back from the text of its pieces', () => {
    const token = fc.option(fc.constantFrom(...QUERY_TOKENS));
    const piece = fc.record({ token, value: fc.string(), not: fc.boolean() });
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(piecesOf(pieces.map(pieceText).join(' '))).toEqual(pieces);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['!!!', '!!!'],
    ['"', '""'],
    ['" "', '""'],
  ])('of no word says so: %s', (text, shown) => {
    expect(parseQuery(text).notes).toEqual([`There is no word in ${shown}, so it was left out.`]);
  });

  it('of what is scheduled finds what is queued until later', () => {
    const later: MailFacts = { ...FACTS, status: 'queued', sendAt: NOW + 1 };
    const holds = (text: string, facts: MailFacts) => queryTest(parseQuery(text, NOW).query)?.(facts);
    const others: MailFacts[] = [
      { ...later, sendAt: NOW },
      { ...later, sendAt: null },
      { ...later, status: 'retrying' },
    ];
    expect([later, ...others].map((facts) => holds('is:Scheduled', facts))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect([later, ...others].map((facts) => holds('-is:scheduled', facts))).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  it('finds what holds, and with a minus all the rest', () => {
    const tokens = [
      'invoice',
      'from:ann',
      'from:@mail.example',
      'to:bob',
      'tag:news',
      'tag:x',
      'invo*',
      'nvo*',
      'to:bob@ex*',
      'to:@ex*',
      'to:@net*',
      'metadata:ORDER',
      'metadata:78',
      'reply:4f7c12',
      'reply:"250 2.0.0 ok"',
      'reply:550',
      'hop:4F7C12',
      'hop:4F7C1',
      'relay:out',
      'key:key_a',
    ];
    const one = fc.constantFrom(
      ...tokens,
      'status:failed',
      'status:queued',
      'is:captured',
      'id:msg_01m7',
      '"77 invoice"',
    );
    fc.assert(
      fc.property(one, (text) => {
        const holds = queryTest(parseQuery(text).query)?.(FACTS);
        const other = queryTest(parseQuery(`-${text}`).query)?.(FACTS);
        expect([holds, other]).toContain(true);
        expect([holds, other]).toContain(false);
      }),
    );
  });
});

describe('words', () => {
  it.each([
    ['Straße ÉCOLE naïve', ['straße', 'ecole', 'naive']],
    ['İstanbul', ['istanbul']],
    ['ﬁne ①', ['fine', '1']],
    ['日本語 text', ['日', '本', '語', 'text']],
    ['ann.smith+news@mail.example.com', ['ann', 'smith', 'news', 'mail', 'example', 'com']],
    ['--- !', []],
  ])('of %j are %j', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it('cost no more for marks without end on one letter', () => {
    const before = process.threadCpuUsage().user;
    expect(wordsOf(`e${'\u0301\u0316'.repeat(30_000)}`)).toEqual(['e']);
    expect((process.threadCpuUsage().user - before) / 1000).toBeLessThan(1000);
  });

  it('are the same when they are taken apart again, and in every case', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const words = wordsOf(text);
        expect(wordsOf(words.join(' '))).toEqual(words);
        for (const one of words) expect(one.length).toBeLessThanOrEqual(MAX_WORD);
        expect(holdsWords(text, words)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a day', () => {
  it.each([
    ['2026-11-20', Date.UTC(2026, 10, 20)],
    ['2026-11-20T11:15:00Z', Date.UTC(2026, 10, 20, 11, 15)],
    ['2026-11-20T11:15Z', Date.UTC(2026, 10, 20, 11, 15)],
    ['2026-11-20t11:15:00.1234z', Date.UTC(2026, 10, 20, 11, 15, 0, 123)],
    ['2026-02-29', null],
    ['2026-13-01', null],
    ['0050-01-01', null],
    ['2026-11-20T24:00:00Z', null],
    ['2026-11-20T11:15:00+01:00', null],
    ['today', null],
  ])('%s is %s', (text, ms) => {
    expect(parseDay(text)).toBe(ms);
  });

  it.each([
    ['30m', Date.UTC(2026, 10, 20, 10, 45)],
    ['2H', Date.UTC(2026, 10, 20, 9, 15)],
    ['7d', Date.UTC(2026, 10, 13, 11, 15)],
    ['2w', Date.UTC(2026, 10, 6, 11, 15)],
    ['today', Date.UTC(2026, 10, 20)],
    ['Yesterday', Date.UTC(2026, 10, 19)],
    ['12345d', null],
    ['7 d', null],
    ['-7d', null],
  ])('%s is so long ago', (text, ms) => {
    const now = Date.UTC(2026, 10, 20, 11, 15);
    expect(parseAgo(text, now)).toBe(ms);
    expect(parseQuery(`after:"${text}"`, now).query).toMatchObject(
      ms === null ? { statuses: [] } : { since: ms, statuses: null },
    );
  });
});
