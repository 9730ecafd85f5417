import { expect, test } from 'vitest';
import { type DnsRecord, type Finding, findingOf, otherFindings, worstOf } from './page.tsx';

const finding = (name: string, status: Finding['status']): Finding => ({
  name,
  status,
  found: '',
  cure: null,
});
const record = (purpose: DnsRecord['purpose'], name: string) => ({
  purpose,
  name,
  type: 'TXT' as const,
  value: '',
  zoneLine: '',
  note: '',
});

const FOUND = [
  finding('DKIM wb1', 'ok'),
  finding('DKIM wb11', 'fail'),
  finding('SPF', 'ok'),
  finding('SPF', 'warn'),
  finding('MX', 'skipped'),
  finding('return path MX', 'ok'),
];

test('each record has what was found on it, and the worst of that', () => {
  expect(findingOf(record('dkim', 'wb1._domainkey.example.com'), FOUND)).toBe(FOUND[0]);
  expect(findingOf(record('spf', 'example.com'), FOUND)).toBe(FOUND[3]);
  expect(findingOf(record('return_path_mx', 'bounces.example.com'), FOUND)).toBe(FOUND[5]);
  expect(findingOf(record('dmarc', '_dmarc.example.com'), FOUND)).toBeNull();
});

test('the rest is about no record', () => {
  const records = [record('dkim', 'wb1._domainkey.example.com'), record('spf', 'example.com')];
  expect(otherFindings(records, FOUND)).toEqual([FOUND[1], FOUND[2], FOUND[4], FOUND[5]]);
});

test('the worst counts', () => {
  expect(worstOf(FOUND)).toBe('fail');
  expect(worstOf([finding('MX', 'skipped'), finding('SPF', 'ok')])).toBe('ok');
  expect(worstOf([])).toBeNull();
});
