/** The suppression lists of providers, as each exports them (`exports/`), moved over. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { World } from './world.ts';

const AT = '2023-11-14T22:13:20.000Z';

let world: World;
let key: string;
beforeEach(async () => {
  world = await World.start();
  key = await world.key({ id: 'key_admin', name: 'root', scopes: ['admin'] });
});
afterEach(() => world.close());

/** Imports a file; what the answer says of rows, and each entry by its address. */
async function moved(file: string, query = '') {
  const type = file.includes('.json') ? 'application/json' : 'text/csv';
  const body = readFileSync(join(import.meta.dirname, 'exports', file));
  const path = '/api/v1/suppressions';
  const { status, json } = await world.ask({
    method: 'POST',
    path: `${path}/import${query}`,
    key,
    body,
    headers: { 'Content-Type': type },
  });
  expect([status, json['updated']]).toEqual([200, 0]);
  const { suppressions } = (await world.ask({ path, key })).json as unknown as { suppressions: Entry[] };
  expect(suppressions).toHaveLength(Number(json['added']));
  return { invalid: json['invalid'], entries: new Map(suppressions.map((entry) => [entry.address, entry])) };
}

interface Entry {
  readonly address: string;
  readonly reason: string;
  readonly stream: string | null;
}

/** What led to an entry. */
const evidence = (at: string, text = '', code: number | null = null, enhancedCode: string | null = null) => ({
  messageId: null,
  at,
  code,
  enhancedCode,
  text,
});

test.each<readonly [file: string, entries: Readonly<Record<string, object>>]>([
  [
    'sendgrid-bounces.csv',
    {
      'ann@example.org': {
        reason: 'hard_bounce',
        evidence: evidence(AT, '550 5.1.1 <ann@example.org>: no "such" user, try another', null, '5.1.1'),
        note: '',
      },
      'bob@example.org': {
        reason: 'import',
        evidence: evidence('2023-11-14T22:13:21.000Z', '550 5.7.1 not from you', null, '5.7.1'),
      },
      'eve@example.org': { reason: 'import', evidence: evidence('2023-11-14T22:13:22.000Z') },
    },
  ],
  [
    'sendgrid-bounces.json',
    {
      'ann@example.org': {
        reason: 'hard_bounce',
        evidence: evidence(AT, '550 5.1.1 no such user', null, '5.1.1'),
      },
    },
  ],
  [
    'sendgrid-spam-reports.csv',
    {
      'ann@example.org': { reason: 'complaint', evidence: evidence(AT) },
      'bob@example.org': { reason: 'complaint' },
    },
  ],
  ['sendgrid-unsubscribes.csv', { 'ann@example.org': { reason: 'unsubscribe', evidence: evidence(AT) } }],
  [
    'sendgrid-invalid-emails.csv',
    {
      'ann@example.invalid': {
        reason: 'import',
        evidence: evidence(AT, 'Mail domain mentioned in email address is unknown'),
      },
    },
  ],
  [
    'mailgun-bounces.csv',
    {
      'ann@example.org': { reason: 'hard_bounce', evidence: evidence(AT, 'No such user, sorry', 550) },
      'bob@example.org': { reason: 'hard_bounce', evidence: null, note: '' },
    },
  ],
  ['mailgun-complaints.csv', { 'ann@example.org': { reason: 'complaint', evidence: evidence(AT) } }],
  [
    'postmark-dump.json',
    {
      'ann@example.org': { reason: 'hard_bounce', evidence: evidence(AT) },
      'bob@example.org': { reason: 'complaint' },
      'eve@example.org': { reason: 'unsubscribe' },
      'dan@example.org': { reason: 'manual' },
    },
  ],
  [
    'postmark.csv',
    {
      'ann@example.org': { reason: 'hard_bounce', evidence: evidence(AT) },
      'eve@example.org': { reason: 'unsubscribe' },
    },
  ],
  [
    'ses-list.json',
    {
      'ann@example.org': { reason: 'complaint', evidence: evidence(AT) },
      'bob@example.org': { reason: 'hard_bounce', evidence: evidence('2023-11-14T22:13:20.077Z') },
    },
  ],
  [
    'ses-job.csv',
    {
      'ann@example.org': { reason: 'hard_bounce', evidence: null },
      'bob@example.org': { reason: 'complaint' },
    },
  ],
  [
    'ses-job.jsonl',
    { 'ann@example.org': { reason: 'hard_bounce' }, 'bob@example.org': { reason: 'complaint' } },
  ],
  [
    'resend-list.json',
    {
      'ann@example.org': { reason: 'hard_bounce', evidence: evidence(AT) },
      'bob@example.org': { reason: 'complaint', evidence: evidence(AT) },
      'eve@example.org': { reason: 'manual', evidence: evidence(AT) },
    },
  ],
])('%s', async (file, expected) => {
  const { invalid, entries } = await moved(file);
  expect(invalid).toEqual([]);
  expect([...entries.keys()].sort()).toEqual(Object.keys(expected).sort());
  for (const [address, entry] of Object.entries(expected))
    expect(entries.get(address)).toMatchObject({ scope: 'global', stream: null, expiresAt: null, ...entry });
});

test.each([
  ['mailgun-unsubscribes.csv', 4, 'newsletter', 2],
  ['mailgun-unsubscribes.jsonl', 2, 'news, offers', 1],
])('%s: who left only mail with a tag is not taken for more', async (file, line, tag, others) => {
  const { invalid, entries } = await moved(file);
  expect(invalid).toEqual([{ line, detail: expect.stringContaining(`"${tag}"`) }]);
  expect([...entries.values()].map(({ reason }) => reason)).toEqual(Array(others).fill('unsubscribe'));
});

test('…but where a stream is given, it is that, and who left all mail gets none', async () => {
  const { invalid, entries } = await moved('mailgun-unsubscribes.csv', '?stream=newsletter');
  expect(invalid).toEqual([]);
  const streams = [...entries.values()].map(({ address, stream }) => [address, stream]).sort();
  expect(streams).toEqual([
    ['ann@example.org', null],
    ['bob@example.org', null],
    ['eve@example.org', 'newsletter'],
  ]);
});

test('a time that cannot be is none, and the text becomes the note', async () => {
  const times = [
    '1',
    '99999999999',
    'yesterday',
    'Tue, 99 Nov 2023 22:13:20 UTC',
    '2999-01-01T00:00:00Z',
    '1999-12-31T23:59:59Z',
    ' ',
  ];
  const rows = times.map((at, n) => `a${n}@example.org,550,No such user,${at}`);
  const body = ['address,code,error,created_at', ...rows].join('\n');
  const headers = { 'Content-Type': 'text/csv' };
  await world.ask({ method: 'POST', path: '/api/v1/suppressions/import', key, body, headers });
  for (const n of times.keys()) {
    const { json } = await world.ask({ path: `/api/v1/suppressions/a${n}@example.org`, key });
    expect(json).toMatchObject({ evidence: null, note: 'No such user', reason: 'hard_bounce' });
  }
});
