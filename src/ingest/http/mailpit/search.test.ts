import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  type Condition,
  holdsListed,
  holdsSaid,
  isListed,
  type ListedFacts,
  MAX_CONDITIONS,
  MAX_QUERY,
  readSearch,
  type SaidFacts,
  searchable,
} from './search.ts';

const read = (query: string, timeZone: string | null = null) => {
  const search = readSearch(query, timeZone);
  return search.ok ? search.conditions : search.detail;
};
const text = (part: string, not = false) => ({ kind: 'text', part, not });
const at = (fields: string[], part: string, not = false) => ({ kind: 'address', fields, part, not });

describe('a query', () => {
  it.each<[string, readonly object[]]>([
    ['', []],
    ['  ""  ', []],
    ['Hello World', [text('hello'), text('world')]],
    ['"Hello  World"', [text('hello world')]],
    ['"Hello World', [text('hello world')]],
    ['-hello !world', [text('hello', true), text('world', true)]],
    ['-', [text('-')]],
    ['a<b>,c;d', [text('a b c d')]],
    ['to:Ann', [at(['to'], 'ann')]],
    ['TO:Ann@Example.com', [at(['to'], 'ann@example.com')]],
    ['-from:ann', [at(['from'], 'ann', true)]],
    ['cc:a bcc:b reply-to:c', [at(['cc'], 'a'), at(['bcc'], 'b'), at(['replyTo'], 'c')]],
    ['addressed:a', [at(['to', 'from', 'cc', 'bcc', 'replyTo'], 'a')]],
    ['subject:"Reset your, password"', [{ kind: 'subject', part: 'reset your, password', not: false }]],
    ['subject:My Test', [{ kind: 'subject', part: 'my', not: false }, text('test')]],
    ['message-id:<A@b>', [{ kind: 'messageId', part: 'a@b', not: false }]],
    ['tag:"Two Words"', [{ kind: 'tag', tag: 'two words', not: false }]],
    ['is:read', [{ kind: 'read', not: false }]],
    ['is:unread', [{ kind: 'read', not: true }]],
    ['!IS:UNREAD', [{ kind: 'read', not: false }]],
    ['is:tagged', [{ kind: 'tagged', not: false }]],
    ['is:urgent', [text('is:urgent')]],
    [
      'has:attachment has:attachments',
      [
        { kind: 'attachment', not: false },
        { kind: 'attachment', not: false },
      ],
    ],
    ['-has:inline', [{ kind: 'inline', not: true }]],
    ['larger:1.5k', [{ kind: 'larger', bytes: 1536, not: false }]],
    ['smaller:"2 MB"', [{ kind: 'smaller', bytes: 2 * 1024 * 1024, not: false }]],
    ['larger:10', [{ kind: 'larger', bytes: 10, not: false }]],
    ['larger:huge', [text('larger:huge')]],
    ['smaller:0', [text('smaller:0')]],
    ['before:2026-11-20', [{ kind: 'before', at: Date.UTC(2026, 10, 20), not: false }]],
    ['-after:"2026-11-20 11:15"', [{ kind: 'after', at: Date.UTC(2026, 10, 20, 11, 15), not: true }]],
    ['to: subject: tag:"" before: message-id:<>', []],
    ['constructor:x __proto__:y', [text('constructor:x'), text('__proto__:y')]],
    ['http://example.com/?a=b', [text('http://example.com/?a=b')]],
  ])('%s', (query, conditions) => {
    expect(read(query)).toEqual(conditions);
  });

  it('has times in the zone that is asked for', () => {
    expect(read('after:2026-11-20', 'Pacific/Auckland')).toEqual([
      { kind: 'after', at: Date.UTC(2026, 10, 19, 11), not: false },
    ]);
  });

  it.each([
    ['before:yesterday', 'before: needs a day'],
    ['after:2026-02-30', 'after: needs a day'],
    ['x'.repeat(MAX_QUERY + 1), 'at most 2000 characters'],
    ['a '.repeat(MAX_CONDITIONS + 1), 'at most 50 conditions'],
  ])('is refused: %.30s', (query, detail) => {
    expect(read(query)).toContain(detail);
  });

  it('may be as long as this, and have as many conditions', () => {
    expect(read('x'.repeat(MAX_QUERY))).toHaveLength(1);
    expect(read('a '.repeat(MAX_CONDITIONS))).toHaveLength(MAX_CONDITIONS);
  });
});

const LISTED: ListedFacts = {
  subject: 'Reset your Password',
  messageId: 'Abc.1@mail.example',
  tags: ['Orders', 'two, words'],
  read: false,
  createdAt: Date.UTC(2026, 10, 20, 12),
  sizeBytes: 2048,
};
const SAID: SaidFacts = {
  addresses: {
    from: ['shop shop@example.com'],
    to: ['doe jane jane@example.org', 'bob@example.org'],
    cc: [],
    bcc: ['secret@example.org'],
    replyTo: ['help@example.com'],
  },
  text: 'your code is 135790',
  attachments: 1,
  inline: 0,
};

const holds = (query: string) => {
  const conditions = read(query);
  if (typeof conditions === 'string') throw new Error(conditions);
  return conditions.every((one) => (isListed(one) ? holdsListed(one, LISTED) : holdsSaid(one, SAID)));
};

test.each([
  'subject:password',
  'subject:"YOUR pass"',
  '-subject:invoice',
  'message-id:abc.1@',
  'tag:orders',
  'tag:"two, words"',
  'is:tagged',
  'is:unread',
  'after:2026-11-20',
  'before:2026-11-21',
  'larger:2047',
  'smaller:2049',
  'to:"Doe, Jane"',
  'to:bob',
  'bcc:secret',
  'addressed:help',
  '-cc:jane',
  'code',
  '"code is 1357"',
  'has:attachment',
  '-has:inline',
  'to:jane subject:reset -is:read code',
])('%s finds it', (query) => {
  expect(holds(query)).toBe(true);
});

test.each([
  'subject:invoice',
  'tag:order',
  '-tag:ORDERS',
  'is:read',
  'after:2026-11-21',
  'before:2026-11-20',
  'larger:2048',
  'smaller:2k',
  'to:shop',
  '-to:jane',
  '!addressed:shop',
  'invoice',
  'has:inline',
  '-has:attachment',
  'to:jane invoice',
])('%s does not find it', (query) => {
  expect(holds(query)).toBe(false);
});

test('a time is on both sides of itself', () => {
  expect(holds('before:2026-11-20T12:00:00Z after:2026-11-20T12:00:00Z')).toBe(true);
});

const word = fc.stringMatching(/^[a-z0-9@.]{1,12}$/);
const named = fc.constantFrom(
  '',
  'to:',
  'from:',
  'cc:',
  'bcc:',
  'reply-to:',
  'addressed:',
  'subject:',
  'tag:',
  'message-id:',
);
const term = fc.tuple(fc.constantFrom('', '-', '!'), named, word);

test('what is written as a query is read as it was meant', () =>
  fc.assert(
    fc.property(fc.array(term, { maxLength: MAX_CONDITIONS }), (terms) => {
      const query = terms.map(([not, name, value]) => `${not}${name}"${value}"`).join(' ');
      const parts = terms.map(([not, , value]) => ({ not: not !== '', part: value }));
      const conditions = read(query);
      if (typeof conditions === 'string') throw new Error(conditions);
      expect(
        conditions.map((one) => ({
          not: one.not,
          part: 'part' in one ? one.part : 'tag' in one ? one.tag : '',
        })),
      ).toEqual(parts);
    }),
  ));

test('what is negated finds the others', () =>
  fc.assert(
    fc.property(term, ([, name, value]) => {
      const [one] = read(`${name}"${value}"`) as readonly Condition[];
      const [other] = read(`-${name}"${value}"`) as readonly Condition[];
      if (one === undefined || other === undefined) throw new Error('not read');
      const found = (condition: Condition) =>
        isListed(condition) ? holdsListed(condition, LISTED) : holdsSaid(condition, SAID);
      expect(found(one)).toBe(!found(other));
    }),
  ));

test('a text is found in a text that has it', () =>
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (before, part, after) => {
      const searched = searchable(part);
      expect(searchable(searched)).toBe(searched);
      if (searched !== '') expect(searchable(`${before} ${part} ${after}`)).toContain(searched);
    }),
  ));
