import { expect, test } from 'vitest';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { warnsOfEnd } from './certificate-end.ts';

type Certificate = ResultOf<'certificate'>;

/** One with so many days left of its life; by ACME if `failures` is given. */
function certificate(daysLeft: number, life: number, failures: number | null): Certificate {
  const from = Date.UTC(2026, 10, 1);
  const acme = {
    names: ['mail.example.com'],
    directory: 'https://ca.example/directory',
    challenge: 'http-01',
    ordering: false,
    nextAt: null,
    advised: false,
    explanation: null,
    failures: failures ?? 0,
    fault: null,
  };
  return {
    origin: failures === null ? 'uploaded' : 'acme',
    subject: '',
    issuer: 'CN=Test',
    names: ['mail.example.com'],
    validFrom: new Date(from).toISOString(),
    validUntil: new Date(from + life * 86_400_000).toISOString(),
    daysLeft,
    fingerprint: 'AB:CD',
    acme: failures === null ? null : acme,
  };
}

test.each<[what: string, Certificate, boolean]>([
  ['has weeks left', certificate(14, 90, 0), false],
  ['has days left', certificate(13, 90, 0), true],
  ['is meant to last six days', certificate(3, 6, 0), false],
  ['is as short, and its renewal fails', certificate(3, 6, 1), true],
  ['is as short, and has ended', certificate(-1, 6, 0), true],
  ['is as short, and was uploaded', certificate(3, 6, null), true],
])('a certificate that %s', (_what, shown, expected) => {
  expect(warnsOfEnd(shown)).toBe(expected);
});
