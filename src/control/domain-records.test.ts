import { expect, test } from 'vitest';
import { premises } from '../../test/support/premises.ts';
import { mechanismsOf, sendersOf } from './domain-records.ts';

/** The mechanisms for a configuration with these relays. */
function mechanisms(relays: string, own: readonly string[] = []): readonly string[] {
  const file = `server: { hostname: mail.example.com }\ndelivery: { default_relay: inbox }\nrelays: [${relays}]`;
  return mechanismsOf(sendersOf(premises({ file }).loaded.config, own));
}

const smtp = (host: string) => `{ name: ${host.replaceAll('.', '-')}, type: smtp, host: ${host} }`;

test.each<[string, readonly string[]]>([
  ['', []],
  [smtp('email-smtp.eu-west-1.amazonaws.com'), ['include:amazonses.com']],
  [smtp('smtp.mailgun.org'), ['include:mailgun.org']],
  [smtp('smtp.sendgrid.net'), ['include:sendgrid.net']],
  [smtp('smtp.postmarkapp.com'), ['include:spf.mtasv.net']],
  [smtp('smtp.resend.com'), ['include:amazonses.com']],
  [smtp('smtp.office365.com'), ['include:spf.protection.outlook.com']],
  [smtp('smtp-relay.gmail.com'), ['include:_spf.google.com']],
  [smtp('notsendgrid.net'), []],
  [`${smtp('smtp.resend.com')}, ${smtp('a.amazonaws.com')}`, ['include:amazonses.com']],
  ['{ name: p, type: postmark, secret: t }', ['include:spf.mtasv.net']],
  [
    '{ name: d, type: mx, source_ips: [192.0.2.7, "2001:db8::7", 10.0.0.1] }',
    ['ip4:192.0.2.7', 'ip6:2001:db8::7'],
  ],
  ['{ name: d, type: mx, source_ips: [10.0.0.1] }', []],
  ['{ name: d, type: mx }', ['ip4:198.51.100.1']],
])('who sends by [%s]', (relays, expected) => {
  expect(mechanisms(relays, ['10.0.0.9', '198.51.100.1'])).toEqual(expected);
});
