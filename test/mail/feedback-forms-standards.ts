import { type FeedbackForm, mail, TOKEN } from './feedback-forms.ts';

/** Reports in the forms of the standards, and the same report however it was wrapped on its way. */

const REPORT =
  'Content-Type: multipart/report; report-type=feedback-report; boundary="part1_13d.2e68ed54_boundary"';
const TEXT = 'Content-Type: text/plain; charset="US-ASCII"\n\nThis is an email abuse report.';
const EARN_MONEY = `Content-Type: message/rfc822
Content-Disposition: inline

From: <somespammer@example.net>
Received: from mailserver.example.net (mailserver.example.net
 [192.0.2.1]) by example.com with ESMTP id M63d4137594e46;
 Tue, 08 Mar 2005 14:00:00 -0400
To: <Undisclosed Recipients>
Subject: Earn money
Message-ID: 8787KJKJ3K4J3K4J3K4J3.mail@example.net
Date: Thu, 02 Sep 2004 12:31:03 -0500

Spam Spam Spam`;
const EARNED = '<8787KJKJ3K4J3K4J3K4J3.mail@example.net>';

/** A part for programs, in the default form. */
function fields(text: string): string {
  return `Content-Type: message/feedback-report\n\n${text}\n`;
}

export const STANDARDS: readonly FeedbackForm[] = [
  {
    name: 'the least that there can be',
    source: 'RFC 5965 appendix B.1',
    mail: mail(
      `From: <abusedesk@example.com>\nDate: Tue, 8 Mar 2005 17:40:36 EDT\nSubject: FW: Earn money\n${REPORT}`,
      TEXT,
      fields('Feedback-Type: abuse\nUser-Agent: SomeGenerator/1.0\nVersion: 1'),
      EARN_MONEY,
    ),
    says: { agent: 'SomeGenerator/1.0', reported: '2005-03-08T21:40:36.000Z', messageId: EARNED },
  },
  {
    name: 'all optional fields',
    source: 'RFC 5965 appendix B.2',
    mail: mail(
      REPORT,
      TEXT,
      fields(`Feedback-Type: abuse
User-Agent: SomeGenerator/1.0
Version: 1
Original-Mail-From: <somespammer@example.net>
Original-Rcpt-To: <user@example.com>
Arrival-Date: Tue, 8 Mar 2005 14:00:00 EDT
Reporting-MTA: dns; mail.example.com
Source-IP: 192.0.2.1
Authentication-Results: mail.example.com;
           spf=fail smtp.mail=somespammer@example.com
Reported-Domain: example.net
Reported-Uri: http://example.net/earn_money.html
Reported-Uri: mailto:user@example.com
Removal-Recipient: user@example.com`),
      EARN_MONEY,
    ),
    says: {
      agent: 'SomeGenerator/1.0',
      mailFrom: 'somespammer@example.net',
      whom: ['user@example.com'],
      ip: '192.0.2.1',
      domains: ['example.net'],
      arrived: '2005-03-08T18:00:00.000Z',
      messageId: EARNED,
    },
  },
  {
    name: 'an opt-out of an early draft, its header under a type of one letter less',
    source: 'draft-shafranovich-feedback-report-00; github.com/cfortune/PHP-Bounce-Handler, eml/arf2.txt',
    mail: mail(
      REPORT,
      TEXT,
      fields(
        'Feedback-Type: opt-out\nUser-Agent: SomeGenerator/1.0\nVersion: 0.1\nRemoval-Recipient: user@example.com',
      ),
      `Content-Type: text/rfc822-header\n\nFrom: <somespammer@example.net>\nMessage-ID: ${EARNED.slice(1, -1)}`,
    ),
    says: { kind: 'unknown', type: 'opt-out', agent: 'SomeGenerator/1.0', messageId: EARNED },
  },
  {
    name: 'an abuse report of an early draft',
    source: 'github.com/cfortune/PHP-Bounce-Handler, eml/arf3.txt',
    mail: mail(
      REPORT,
      TEXT,
      fields(`Feedback-Type: abuse
Version: 0.1
Received-Date: Tue, 8 Mar 2005 14:00:00 EDT
Authentication-Results: mail.example.com
smtp.mail=somespammer@example.com;
spf=fail
Removal-Recipient: user@example.com`),
    ),
    says: { whom: ['user@example.com'], arrived: '2005-03-08T18:00:00.000Z' },
  },
  {
    name: 'not spam after all',
    source: 'RFC 6430 appendix A',
    mail: mail(
      REPORT,
      'Content-Type: text/plain\n\nThis is an email abuse report for an email message that is not spam.',
      fields(`Feedback-Type: not-spam
User-Agent: SomeGenerator/1.0
Version: 1
Original-Mail-From: <${TOKEN}@bounces.example.com>
Original-Rcpt-To: <user@example.com>
Source-IP: 192.0.2.1`),
      EARN_MONEY,
    ),
    says: {
      kind: 'not_spam',
      type: 'not-spam',
      agent: 'SomeGenerator/1.0',
      mailFrom: `${TOKEN}@bounces.example.com`,
      whom: ['user@example.com'],
      ip: '192.0.2.1',
      messageId: EARNED,
      token: TOKEN,
    },
  },
  ...(['fraud', 'virus', 'other'] as const).map((type) => ({
    name: `a report of type ${type}, its value in another case and with a comment`,
    source: 'RFC 5965 §3.5 and §7.3 (structured fields may have comments)',
    mail: mail(
      REPORT,
      TEXT,
      fields(`Feedback-Type: ${type.toUpperCase()} (as the user said)\nIncidents: 12`),
    ),
    says: { type },
  })),
  {
    name: 'a signature that broke',
    source: 'RFC 6591 appendix B',
    mail: mail(
      `From: arf-daemon@example.com\nDate: Sat, 8 Oct 2011 20:16:00 +0000\n${REPORT}`,
      'Content-Type: text/plain; charset=us-ascii\n\nThis is an authentication failure report.',
      fields(`Feedback-Type: auth-failure
User-Agent: Someisp!Mail.filter/1.0
Version: 1
Original-Mail-From: randomuser@example.net
Original-Envelope-Id: o3F52gxO029144
Authentication-Results: mta1011.mail.tp2.example.net;
 dkim=fail (bodyhash) header.d=example.com
Auth-Failure: bodyhash
DKIM-Canonicalized-Body: VGhpcyBpcyBhIG1lc3NhZ2UgYm9keSB0
 aGF0IGdvdCBtb2RpZmllZCBpbiB0cmFuc2l0LgoK
DKIM-Domain: example.com
DKIM-Identity: @example.com
DKIM-Selector: testkey
Arrival-Date: 8 Oct 2011 20:15:58 +0000 (GMT)
Source-IP: 192.0.2.1
Reported-Domain: a.sender.example
Reported-URI: http://www.sender.example/`),
      `Content-Type: text/rfc822-headers

Authentication-Results: mta1011.mail.tp2.example.net; dkim=fail (bodyhash) header.d=example.com;
 spf=pass smtp.mailfrom=anexample.reply@a.sender.example
From: anexample.reply@a.sender.example
To: someuser@example.net
Message-ID: <87913910.1318094604546@out.sender.example>`,
    ),
    says: {
      kind: 'auth_failure',
      type: 'auth-failure',
      agent: 'Someisp!Mail.filter/1.0',
      mailFrom: 'randomuser@example.net',
      ip: '192.0.2.1',
      domains: ['a.sender.example'],
      arrived: '2011-10-08T20:15:58.000Z',
      reported: '2011-10-08T20:16:00.000Z',
      auth: 'bodyhash',
      path: 'anexample.reply@a.sender.example',
      messageId: '<87913910.1318094604546@out.sender.example>',
    },
  },
  {
    name: 'SPF that failed, with the port of the source',
    source: 'RFC 6652 §4; RFC 6692 §3',
    mail: mail(
      REPORT,
      TEXT,
      fields(`Feedback-Type: auth-failure
Auth-Failure: spf
SPF-DNS: txt : example.com : "v=spf1 -all"
Source-IP: 2001:db8::1
Source-Port: 12345
Delivery-Result: reject`),
    ),
    says: { kind: 'auth_failure', type: 'auth-failure', auth: 'spf', result: 'reject', ip: '2001:db8::1' },
  },
  {
    name: 'DMARC that failed, by a list that rewrites reverse-paths',
    source: 'draft-ietf-dmarc-failure-reporting appendix B (RFC 9991); RFC 7489 §7.3',
    mail: mail(
      `From: DMARC Filter <DMARC@gen.example>;
Content-Type: multipart/report; report-type=feedback-report;
  boundary="=_mime_boundary_"
Message-Id: <20220719055748.4AE9D403CC@gen.example>;

This is a MIME-formatted message.`,
      TEXT,
      `Content-Type: message/feedback-report
Content-Transfer-Encoding: 7bit

Feedback-Type: auth-failure
Version: 1
User-Agent: DMARC-Filter/1.2.3
Auth-Failure: dmarc
Authentication-Results: gen.example;
  dmarc=fail header.from=consumer.example
Identity-Alignment: dkim
Original-Mail-From: author=gen.example@forwarder.example
Source-IP: 192.0.2.2
Reported-Domain: consumer.example`,
      `Content-Type: message/rfc822; charset=utf-8
Content-Transfer-Encoding: 7bit

X-Original-To: users@forwarder.example
Message-ID: <2431dc66-b010-c9cc-4f2b-a1f889f8bdb4@consumer.example>
List-Unsubscribe: <mailto:users+unsubscribe@forwarder.example>
To: users@forwarder.example
From: Message Author <author@consumer.example>

[ Message body was here ]`,
    ),
    says: {
      kind: 'auth_failure',
      type: 'auth-failure',
      agent: 'DMARC-Filter/1.2.3',
      auth: 'dmarc',
      mailFrom: 'author=gen.example@forwarder.example',
      whom: ['users@forwarder.example'],
      ip: '192.0.2.2',
      domains: ['consumer.example'],
      messageId: '<2431dc66-b010-c9cc-4f2b-a1f889f8bdb4@consumer.example>',
      unsubscribe: ['mailto:users+unsubscribe@forwarder.example'],
    },
  },
  {
    name: 'a receiver that may tell nobody who complained',
    source: 'RFC 9477 §6 (a report with the least that is needed)',
    mail: mail(
      REPORT,
      TEXT,
      fields(
        'Feedback-Type: abuse\nUser-Agent: FBL/0.1\nVersion: 0.1\nOriginal-Mail-From: sender@mailer.example.com\nArrival-Date: Tue, 23 Jun 2020 06:31:38 GMT\nReported-Domain: example.com\nSource-IP: 2001:DB8::25',
      ),
      'Content-Type: text/rfc822-headers; charset=UTF-8\nContent-Transfer-Encoding: 7bit\n\nCFBL-Feedback-ID: 111:222:333:4444\nMessage-ID: <a37e51bf-3050-2aab-1234-543a0828d14a@example.com>',
    ),
    says: {
      agent: 'FBL/0.1',
      mailFrom: 'sender@mailer.example.com',
      ip: '2001:db8::25',
      domains: ['example.com'],
      arrived: '2020-06-23T06:31:38.000Z',
      messageId: '<a37e51bf-3050-2aab-1234-543a0828d14a@example.com>',
    },
  },
];

/** The same report, however it was wrapped on its way. */
const PLAIN = 'Feedback-Type: abuse\nOriginal-Rcpt-To: <ann@example.org>';
const WRAPPED = { whom: ['ann@example.org'] };
const HANDED_ON = 'forms that mailboxes and people make of reports when they hand them on';

export const WRAPPINGS: readonly FeedbackForm[] = [
  {
    name: 'a container that says delivery-status',
    source: 'contract A3: any part, whatever the container says',
    mail: mail('Content-Type: multipart/report; report-type=delivery-status; boundary="b"', fields(PLAIN)),
    says: WRAPPED,
  },
  {
    name: 'the part without a container, types and names in capitals',
    source: 'RFC 5965 §2; RFC 2045 §5.1 (types ignore case)',
    mail: 'CONTENT-TYPE: MESSAGE/FEEDBACK-REPORT\n\nFEEDBACK-TYPE: Abuse\nORIGINAL-RCPT-TO: <ann@example.org>\n',
    says: WRAPPED,
  },
  {
    name: 'blank lines between the fields',
    source: 'as AOL wrote after them',
    mail: mail(REPORT, fields(`\n\n${PLAIN.replace('\n', '\n\n')}\n\n`)),
    says: WRAPPED,
  },
  {
    name: 'in quoted-printable',
    source: 'RFC 5965 §2 forbids it; gateways do it',
    mail: mail(
      REPORT,
      `Content-Transfer-Encoding: quoted-printable\nContent-Type: message/feedback-report\n\n${PLAIN.replaceAll(':', '=3A')}`,
    ),
    says: WRAPPED,
  },
  {
    name: 'inside a mixed message with a footer',
    source: HANDED_ON,
    mail: mail(
      'Content-Type: multipart/mixed; boundary="outer"',
      `${REPORT}\n\n--part1_13d.2e68ed54_boundary\n${fields(PLAIN)}\n--part1_13d.2e68ed54_boundary--`,
      'Content-Type: text/plain\n\nA footer.',
    ),
    says: WRAPPED,
  },
  {
    name: 'forwarded as an attachment',
    source: HANDED_ON,
    mail: mail(
      'Date: Fri, 1 Mar 2024 10:00:00 +0000\nContent-Type: multipart/mixed; boundary="outer"',
      'Content-Type: text/plain\n\nSee below.',
      `Content-Type: message/rfc822\n\nDate: Thu, 29 Feb 2024 10:00:00 +0000\n${mail(REPORT, TEXT, fields(PLAIN))}`,
    ),
    says: { ...WRAPPED, reported: '2024-02-29T10:00:00.000Z' },
  },
  {
    name: 'addresses and a header in UTF-8',
    source: 'RFC 6532; RFC 6533 §5 (message/global-headers)',
    mail: mail(
      REPORT,
      fields('Feedback-Type: abuse\nOriginal-Rcpt-To: <zoë@bücher.example>'),
      'Content-Type: message/global-headers\n\nMessage-ID: <1@example.com>',
    ),
    says: { whom: ['zoë@xn--bcher-kva.example'], messageId: '<1@example.com>' },
  },
  {
    name: 'a mailbox whose name ends in a dot',
    source: 'addresses of Japanese phones, as NTT Docomo gave them out until 2009',
    mail: mail(REPORT, fields('Feedback-Type: abuse\nOriginal-Rcpt-To: <ann.@docomo.example>')),
    says: { whom: ['"ann."@docomo.example'] },
  },
  {
    name: 'several recipients in one field',
    source: HANDED_ON,
    mail: mail(
      REPORT,
      fields('Feedback-Type: abuse\nOriginal-Rcpt-To: ann@example.org, Bob <bob@example.org>'),
    ),
    says: { whom: ['ann@example.org', 'bob@example.org'] },
  },
];
