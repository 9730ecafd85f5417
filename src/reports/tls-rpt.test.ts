import { expect, test } from 'vitest';
import { REPORTED_DAY, tlsSession } from '../../test/support/tls-report.ts';
import { mailAddressIn, tlsReportFile, tlsReportJson, tlsReportTargets } from './tls-rpt.ts';

test.each([
  ['v=TLSRPTv1; rua=mailto:tls@example.net', ['mailto:tls@example.net']],
  ['v=TLSRPTv1;rua=https://tls.example.net/v1?a=b', ['https://tls.example.net/v1?a=b']],
  [
    'v=TLSRPTv1; rua=mailto:a@example.net , https://b.example/;',
    ['mailto:a@example.net', 'https://b.example/'],
  ],
  ['v=TLSRPTv1; ext=1; rua = mailto:a@example.net', ['mailto:a@example.net']],
  ['v=TLSRPTv1; rua=mailto:a@x.test,mailto:a@x.test', ['mailto:a@x.test']],
  [
    `v=TLSRPTv1; rua=${[1, 2, 3, 4, 5].map((n) => `mailto:${n}@x.test`).join()}`,
    ['mailto:1@x.test', 'mailto:2@x.test', 'mailto:3@x.test'],
  ],
])('the record %s names its destinations', (record, targets) => {
  expect(tlsReportTargets(['v=spf1 -all', record])).toEqual(targets);
});

test.each([
  [[]],
  [['v=TLSRPTv1; rua=mailto:a@x.test', 'v=TLSRPTv1; rua=mailto:b@x.test']],
  [['v=TLSRPTv1;']],
  [['v=TLSRPTv2; rua=mailto:a@x.test']],
  [['v=TLSRPTv1; rua=http://x.test/']],
  [['v=TLSRPTv1; rua=https://user:secret@x.test/']],
  [['v=TLSRPTv1; rua=mailto:a@x.test?cc=b@x.test']],
  [['v=TLSRPTv1; rua=mailto:a@x.test!10m']],
  [['v=TLSRPTv1; rua=mailto:%@x.test']],
  [['v=TLSRPTv1; rua=mailto:a@x.test%0d%0aBcc: b@x.test']],
  [[`v=TLSRPTv1; rua=https://x.test/${'a'.repeat(1000)}`]],
])('the records %j name none', (records) => {
  expect(tlsReportTargets(records)).toBeNull();
});

test('an address is what its URI encodes', () => {
  const uri = 'mailto:tls%21rpt%2Bx@x.test';
  expect(tlsReportTargets([`v=TLSRPTv1; rua=${uri}`])).toEqual([uri]);
  expect(mailAddressIn(uri)).toBe('tls!rpt+x@x.test');
  expect(mailAddressIn('https://x.test/')).toBeNull();
});

const HEAD = {
  organization: 'Example',
  contact: 'tls@example.com',
  reportId: '2026-11-20@mail.example.com',
  domain: 'example.net',
  day: REPORTED_DAY,
};
const STS = {
  type: 'sts',
  strings: ['version: STSv1', 'mode: enforce'],
  mxHosts: ['*.example.net'],
} as const;

test('a report has an entry for each policy, with what went wrong', () => {
  const expired = tlsSession({
    policy: STS,
    result: 'certificate-expired',
    mxHost: 'mx.example.net',
    mxAddress: '192.0.2.1',
    localAddress: '198.51.100.1',
    reason: 'CERT_HAS_EXPIRED',
  });
  const sessions = [
    { session: tlsSession({ policy: STS }), count: 5 },
    { session: expired, count: 2 },
    { session: tlsSession(), count: 1 },
  ];
  expect(tlsReportJson(HEAD, sessions)).toEqual({
    'organization-name': 'Example',
    'date-range': { 'start-datetime': '2026-11-20T00:00:00Z', 'end-datetime': '2026-11-20T23:59:59Z' },
    'contact-info': 'tls@example.com',
    'report-id': '2026-11-20@mail.example.com',
    policies: [
      {
        policy: {
          'policy-type': 'sts',
          'policy-string': ['version: STSv1', 'mode: enforce'],
          'policy-domain': 'example.net',
          'mx-host': ['*.example.net'],
        },
        summary: { 'total-successful-session-count': 5, 'total-failure-session-count': 2 },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'sending-mta-ip': '198.51.100.1',
            'receiving-mx-hostname': 'mx.example.net',
            'receiving-ip': '192.0.2.1',
            'failed-session-count': 2,
            'failure-reason-code': 'CERT_HAS_EXPIRED',
          },
        ],
      },
      {
        policy: { 'policy-type': 'no-policy-found', 'policy-domain': 'example.net' },
        summary: { 'total-successful-session-count': 1, 'total-failure-session-count': 0 },
      },
    ],
  });
});

test('the file is named as the RFC has it', () => {
  expect(tlsReportFile(HEAD, 'mail.example.com')).toBe(
    'mail.example.com!example.net!1795132800!1795219199!20261120mailexamplecom.json.gz',
  );
});
