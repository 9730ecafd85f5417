import { expect, test } from 'vitest';
import { ok, warn } from '../control/doctor/finding.ts';
import type { DomainDetail, DomainKeyView } from '../operations/domains.ts';
import { checkedText, rotatedText } from './domains.ts';

const T = '2026-11-22T00:00:00.000Z';

function key(selector: string, change: Partial<DomainKeyView>): DomainKeyView {
  return {
    selector,
    algorithm: 'rsa-sha256',
    state: 'signing',
    createdAt: T,
    activeSince: T,
    retiredAt: null,
    recordUntil: null,
    unreadable: false,
    ...change,
  };
}

const retired = (selector: string, retiredAt: string) =>
  key(selector, { state: 'retired', retiredAt, recordUntil: T });

function detail(keys: readonly DomainKeyView[]): DomainDetail {
  return { name: 'example.com', since: T, keys, returnPath: null, records: [] };
}

test('keys that sign at once say what becomes of lost ones and of betrayed ones, with the line for these', () => {
  const lines = rotatedText(
    detail([retired('older', '2026-10-01T00:00:00.000Z'), retired('old', T), key('new', {})]),
  ).split('\n');
  expect(lines.filter((line) => line.includes('IN TXT'))).toEqual([
    'old._domainkey.example.com. 3600 IN TXT "v=DKIM1; k=rsa; p="',
  ]);
  expect(lines.join('\n')).toMatch(/only lost, leave .* 35 days.*\nIf others may have them/);
});

test('keys that wait leave those that sign alone', () => {
  const text = rotatedText(detail([key('old', {}), key('new', { state: 'waiting', activeSince: null })]));
  expect(text).not.toContain('p="');
  expect(text).not.toContain('lost');
});

test('what is found of all domains alike is told once', () => {
  const address = ok('address 192.0.2.1', 'Is mail.example.com.');
  const checked = ['a.test', 'b.test'].map((name) => ({
    name,
    switchedTo: [],
    findings: [warn('SPF', `Of ${name}.`, 'do'), address],
  }));
  const text = checkedText(checked, 80);
  expect(text.match(/Is mail[.]example[.]com/g)).toHaveLength(1);
  expect(text).toMatch(/^a[.]test\n.*\n\nb[.]test\n.*\n\nFor all domains\n/s);
  expect(checkedText(checked.slice(0, 1), 80)).not.toContain('For all domains');
});
