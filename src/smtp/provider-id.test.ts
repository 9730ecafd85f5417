import { expect, test } from 'vitest';
import { providerMessageId } from './provider-id.ts';

test.each([
  ['Postfix', 'Ok: queued as 4Q2xYz1abcD', '4Q2xYz1abcD'],
  ['Waybill', 'Ok: queued as msg_01k9f8z7c6v5b4n3m2a1s0d9f8', 'msg_01k9f8z7c6v5b4n3m2a1s0d9f8'],
  ['Haraka', 'Message Queued (ok) queued as 5A1B-2', '5A1B-2'],
  ['Exim', 'OK id=1rAbCd-0001aB-2C', '1rAbCd-0001aB-2C'],
  [
    'Exchange',
    '<m@x.test> [InternalId=103079215105, Hostname=A.B.C] 8118 bytes in 0.1, 50 KB/sec Queued mail for delivery',
    '103079215105',
  ],
  ['Gmail', 'OK  1700000000 a1-20020a05620a.123 - gsmtp', 'a1-20020a05620a.123'],
  ['sendmail', '3AB1cD2e012345 Message accepted for delivery', '3AB1cD2e012345'],
  ['OpenSMTPD', 'a1b2c3d4: Message accepted for delivery', 'a1b2c3d4'],
  ['qmail', 'ok 1700000000 qp 12345', 'qp 12345'],
  ['Amazon SES', 'Ok 0102018c0f1e2d3c-4b5a6978-1234-000000', '0102018c0f1e2d3c-4b5a6978-1234-000000'],
])('%s', (_server, text, id) => {
  expect(providerMessageId(text)).toBe(id);
});

test.each(['Ok', 'Great success', 'Message accepted for delivery', ''])('no id in %j', (text) => {
  expect(providerMessageId(text)).toBeNull();
});
