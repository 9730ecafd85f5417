import { expect, test } from 'vitest';
import { dmarcReport } from '../../test/support/dmarc-report.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { seededRandom } from '../lib/random.ts';
import { Events } from '../observe/events.ts';
import type { AddedDmarcReport } from '../store/dmarc-reports.ts';
import { createDmarcDesk } from './dmarc-desk.ts';

const NOW = Date.UTC(2026, 10, 22);

function desk(domains: readonly string[]) {
  const added: AddedDmarcReport[] = [];
  const dmarc = { addDmarcReport: async (report: AddedDmarcReport) => added.push(report) === 1 };
  const parts = { dmarc, clock: new ManualClock(NOW), random: seededRandom(1), events: new Events() };
  return { added, ...createDmarcDesk({ ...parts, domains: () => domains, days: () => 90 }) };
}

test.each([
  ['example.com', 'added'],
  ['mail.example.com', 'added'],
  ['badexample.com', 'not_ours'],
  ['com', 'not_ours'],
  ['example.org', 'not_ours'],
])('of the domain example.com, a report about %s is %s', async (domain, verdict) => {
  expect(await desk(['example.com']).take(dmarcReport({ domain }), 'mail')).toBe(verdict);
});

test('the record of an organizational domain is about the domains below it, too', async () => {
  const { take } = desk(['mail.example.co.uk']);
  expect(await take(dmarcReport({ domain: 'example.co.uk' }), 'mail')).toBe('added');
  expect(await take(dmarcReport({ domain: 'co.uk' }), 'mail')).toBe('not_ours');
});

test('a report is kept with the time and the way it came', async () => {
  const { take, added } = desk(['example.com']);
  await take(dmarcReport(), 'upload');
  expect(added).toEqual([
    { ...dmarcReport(), id: expect.stringMatching(/^dmr_\w{26}$/), receivedAt: NOW, via: 'upload' },
  ]);
  expect(await take(dmarcReport(), 'upload')).toBe('known');
});

test.each([
  ['of the future', { endAt: NOW + 2 * 86_400_000 }],
  ['too old', { beginAt: NOW - 91 * 86_400_000 }],
])('a report that is %s is not kept', async (_, change) => {
  const { take, added } = desk(['example.com']);
  expect(await take(dmarcReport(change), 'mail')).toBe('dated');
  expect(added).toEqual([]);
});
