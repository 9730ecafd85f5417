import { expect, test } from 'vitest';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { type Deed, type Known, namedEntries, standingEntries } from './entries.ts';
import { MAX_MATCHES, matching } from './matching.ts';

const KNOWN = {
  relays: [
    { name: 'inbox', type: 'inbox', state: 'ready' },
    { name: 'out', type: 'smtp', state: 'ready' },
    { name: 'news-eu', type: 'ses', state: 'paused' },
  ],
  domains: [{ name: 'example.com' }],
  keys: [{ id: 'k1', name: 'Café', prefix: 'wb_live_abc123', revokedAt: null, expiresAt: null }],
  templates: [{ alias: 'welcome', name: 'Welcome aboard' }],
} as unknown as Known;

const STANDING = standingEntries({ resident: false, zone: 'Europe/Berlin' });
const ALL = [...STANDING, ...namedEntries(KNOWN, 0)];
const labels = (text: string) => matching(ALL, text).map(({ label }) => label);

/** What a deed asks of the server in the end. */
function operationOf(deed: Deed): keyof typeof OPERATIONS | null {
  if (deed.kind === 'hold' || deed.kind === 'resume') return 'hold';
  if (deed.kind === 'open')
    return ({ compose: 'submit', key: 'createKey', suppress: 'addSuppression', test: 'testRelay' } as const)[
      deed.dialog.what
    ];
  if (deed.kind !== 'go' || deed.to.to !== '/relays') return null;
  return deed.to.search === undefined ? null : 'addRelay';
}

test('an act is offered from the role on that may do it', () => {
  const acts = ALL.flatMap(({ from, deed }) => {
    const operation = operationOf(deed);
    return operation === null ? [] : [[operation, from] as const];
  });
  expect(new Set(acts.map(([operation]) => operation)).size).toBe(6);
  for (const [operation, from] of acts)
    expect([operation, from]).toEqual([operation, OPERATIONS[operation].access.role]);
  const sends = ALL.find(({ label }) => label.startsWith('Send a test message'));
  expect(sends?.from).toBe(OPERATIONS.sendTestMessage.access.role);
});

test('every entry is another one', () => {
  expect(new Set(ALL.map(({ id }) => id)).size).toBe(ALL.length);
});

test.each([
  ['what a label begins with comes before what has it further on', 'mess', ['Messages', 'Write a message']],
  ['each word begins one of the label, in any order', 'out pau', ['Pause out']],
  ['case and accents make no difference', 'CAFE', ['Café']],
  ['a word that only describes it', 'smarthost', ['Add a relay']],
  [
    'the middle of a name',
    'ews-',
    ['news-eu', 'Resume news-eu', 'Test news-eu', 'Send a test message through news-eu'],
  ],
  [
    'what lies within other words is left out beside better',
    'out',
    ['out', 'Sign out', 'Pause out', 'Test out'],
  ],
  ['what nothing is called', 'zebra', []],
])('%s', (_, text, expected) => {
  expect(labels(text).slice(0, Math.max(1, expected.length))).toEqual(expected);
});

test('what is called exactly so is found', () => {
  const groups = matching(ALL, 'OUT').map(({ label, group }) => [label, group]);
  expect(groups.slice(0, 2)).toEqual([
    ['out', 'Found'],
    ['Sign out', 'Do'],
  ]);
  expect(groups.flat()).not.toContain('Routes');
});

test('what is held can be resumed, and the inbox cannot be held', () => {
  expect(labels('resume')).toEqual(['Resume news-eu']);
  expect(labels('pause')).toEqual(['Pause out']);
});

test('nobody signs out where nobody signs in, and there is no choice of one time zone', () => {
  const found = standingEntries({ resident: true, zone: null }).map(({ id }) => id);
  expect(found.filter((id) => /^(leave|times|page-Your account)/.test(id))).toEqual([]);
});

test('however much is found, so much is shown', () => {
  const relays = Array.from({ length: 100 }, (_, place) => ({ ...KNOWN.relays[1], name: `out-${place}` }));
  const many = namedEntries({ ...KNOWN, relays } as Known, 0);
  expect(matching(many, 'out')).toHaveLength(MAX_MATCHES);
});
