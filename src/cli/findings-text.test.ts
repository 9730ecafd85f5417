import { expect, test } from 'vitest';
import { ok, warn } from '../control/doctor/finding.ts';
import { publish, zoneLine } from '../control/domain-records.ts';
import { findingsText } from './findings-text.ts';

const LONG = 'v=DKIM1; k=rsa; p='.padEnd(400, 'A');

test('what is to be pasted is never folded, moved in or made anything else', () => {
  const line = zoneLine('s1._domainkey.example.com', LONG);
  const command = `waybill relays add out --type smtp ${'--host smtp.example.net '.repeat(5)}--default`;
  const findings = [
    warn('DKIM s1', 'It is new, and '.repeat(10), publish(line)),
    warn('relay', 'It is not there.', command),
    ok('SPF', 'Well.'),
  ];
  const lines = findingsText(findings, 80).split('\n');
  expect(lines).toContain('      fix: publish, in the DNS:');
  expect(lines).toContain(line);
  expect(lines).toContain(`      fix: ${command}`);
  expect(lines.filter((one) => one.length > 80)).toEqual([line, `      fix: ${command}`]);
});

test('what strangers say cannot make a line of its own', () => {
  const line = zoneLine('example.com', 'v=spf1 \n; rm\u001b[2J "x"');
  expect(line).toBe('example.com. 3600 IN TXT "v=spf1 \\010; rm\\027[2J \\"x\\""');
  expect(findingsText([warn('a', 'b\nc', 'd')], 80)).toContain('b\\u000ac');
});
