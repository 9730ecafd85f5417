import { type FeedbackForm, mail, TOKEN } from './feedback-forms.ts';

/** Reports of Outlook.com, and of the providers whose feedback loops Validity (once Return Path) runs. */

const SISIMAI = 'github.com/sisimai/set-of-emails';
const BOUNCE_HANDLER = 'github.com/cfortune/PHP-Bounce-Handler, eml';
const ABUSEIO = 'github.com/AbuseIO/parser-fbl, config (the sender); body as of all loops run by Return Path';

const TEXT = `Content-Type: text/plain; charset="US-ASCII"
Content-Transfer-Encoding: 7bit

This is an email abuse report for an email message received from IP 192.0.2.1.`;

const HOTMAIL = `Date: Thu, 30 Dec 10 10:37:16 -0800
From: staff@hotmail.com
Subject: complaint about message from 192.0.2.1
To: fbl@example.com 
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="A80427F4-B4F2-4D64-BECA-12CAD20DE5F5"
Return-Path: staff@hotmail.com
X-OriginalArrivalTime: 30 Dec 2010 18:37:16.0535 (UTC) FILETIME=[9544B870:01CBA850]`;
const HOTMAIL_REPORTED = '2010-12-30T18:37:16.000Z';

export const MICROSOFT: readonly FeedbackForm[] = [
  {
    name: 'Hotmail: the message, its Return-Path at the end and without brackets',
    source: `${BOUNCE_HANDLER}/fbl-hotmail.txt (2010)`,
    mail: mail(
      HOTMAIL,
      `Content-Type: message/rfc822
Content-Disposition: inline

X-HmXmrOriginalRecipient: ann@hotmail.com
X-Reporter-IP: 198.51.100.7
X-SID-PRA: Our Domain <support@example.com>
X-AUTH-Result: NONE
From: "Our Domain" <support@example.com> 
To: "someuser@hotmail.com" <someuser@hotmail.com>
Message-ID: <WEBfb154d7a03bb483591c696782382d12e@WEB>
Return-Path: ${TOKEN}@bounces.example.com

Season's Greetings`,
    ),
    says: {
      form: 'microsoft',
      whom: ['ann@hotmail.com'],
      reported: HOTMAIL_REPORTED,
      path: `${TOKEN}@bounces.example.com`,
      messageId: '<WEBfb154d7a03bb483591c696782382d12e@WEB>',
      token: TOKEN,
    },
  },
  {
    name: 'Outlook.com: the reverse-path only in Authentication-Results',
    source: `${SISIMAI}, arf-22 (2016)`,
    mail: mail(
      HOTMAIL.replace('staff@', '<staff@').replace('hotmail.com\nSubject', 'hotmail.com>\nSubject'),
      `Content-Type: message/rfc822

X-HmXmrOriginalRecipient: <ann@example.org>
X-Reporter-IP: 192.0.2.22
Authentication-Results: example.org; spf=pass (sender IP is 203.0.113.245; identity alignment result is pass and alignment mode is relaxed) smtp.mailfrom=${TOKEN}@bounces.example.com; dkim=pass header.d=example.com
To: ann@example.org
From: name-part-looks-like-an-email-address@kyoto-japan
    <news@example.com>
Message-ID: <0000000000fffffffff0000000000000@example.com>

Hello`,
    ),
    says: {
      form: 'microsoft',
      whom: ['ann@example.org'],
      reported: HOTMAIL_REPORTED,
      path: `${TOKEN}@bounces.example.com`,
      messageId: '<0000000000fffffffff0000000000000@example.com>',
      token: TOKEN,
    },
  },
  {
    name: 'Outlook.com with a GUID, a group instead of recipients',
    source: 'github.com/sisimai/p5-sisimai, pull request 59 (2015)',
    mail: mail(
      HOTMAIL,
      `Content-Type: message/rfc822

X-HmXmrOriginalRecipient: recipient@hotmail.com
X-Reporter-IP: 192.0.2.123
X-Message-Guid: 2eb4d1ee-e1b0-11e4-8830-1803730d5fce
From: sender@example.com
To: undisclosed-recipients:;
Message-ID: <d4cb0d6593464552a34f4429b3e7f92f@example.com>

Hello`,
    ),
    says: {
      form: 'microsoft',
      whom: ['recipient@hotmail.com'],
      reported: HOTMAIL_REPORTED,
      messageId: '<d4cb0d6593464552a34f4429b3e7f92f@example.com>',
    },
  },
  {
    name: 'Hotmail without the field: known by its sender',
    source: 'github.com/postalsys/emailengine, complaint tests',
    mail: mail(
      HOTMAIL,
      'Content-Type: message/rfc822\n\nMessage-ID: <1@example.com>\nTo: ann@hotmail.com\n\nHello',
    ),
    says: { form: 'loop', reported: HOTMAIL_REPORTED, messageId: '<1@example.com>' },
  },
  {
    name: 'Outlook.com, piped by a mailbox that drops the container',
    source: 'github.com/cfortune/PHP-Bounce-Handler, the field in the first header',
    mail: `X-HmXmrOriginalRecipient: <ann@hotmail.com>
Return-Path: <news@example.com>
Date: Fri, 1 Mar 2024 10:00:00 +0000
From: news@example.com
Message-ID: <1.3@example.com>

Hello`,
    says: {
      form: 'microsoft',
      whom: ['ann@hotmail.com'],
      reported: '2024-03-01T10:00:00.000Z',
      path: 'news@example.com',
      messageId: '<1.3@example.com>',
    },
  },
  {
    name: 'Outlook.com in ARF that tells nothing',
    source: 'github.com/rspamd/rspamd, pull request 6148 (2026)',
    mail: mail(
      `From: <staff@hotmail.com>
Subject: complaint about message from 192.0.2.1
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="jmrp"`,
      TEXT,
      'Content-Type: message/feedback-report\n\nFeedback-Type: abuse\nUser-Agent: JMRP/1.0\nVersion: 1',
      `Content-Type: message/rfc822

X-HmXmrOriginalRecipient: <someone@hotmail.example>
Received-SPF: Pass (protection.outlook.com: domain of bounces.example.com designates 192.0.2.1 as
 permitted sender) receiver=protection.outlook.com; client-ip=192.0.2.1; helo=mail.example.com;
 envelope-from="${TOKEN}@bounces.example.com"
From: <sender@example.com>
To: undisclosed-recipients:;

Hello`,
    ),
    says: {
      agent: 'JMRP/1.0',
      whom: ['someone@hotmail.example'],
      path: `${TOKEN}@bounces.example.com`,
      token: TOKEN,
    },
  },
  {
    name: 'Outlook.com in ARF with the source',
    source: 'MailOnRails, FblReportParser tests (JMRP/2.0)',
    mail: mail(
      'Content-Type: multipart/report; report-type=feedback-report; boundary="part"',
      'Content-Type: text/plain\n\nAn email abuse report from a Windows Live Hotmail user.',
      'Content-Type: message/feedback-report\n\nFeedback-Type: abuse\nUser-Agent: JMRP/2.0\nVersion: 1\nSource-IP: 192.0.2.1\n',
      'Content-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: <someone@hotmail.example>\nFrom: <s@example.com>\n\nHello',
    ),
    says: { agent: 'JMRP/2.0', whom: ['someone@hotmail.example'], ip: '192.0.2.1' },
  },
];

/** The form that Return Path, now Validity, writes for all providers whose loops it runs. */
function validity(name: string, from: string, source: string): FeedbackForm {
  return {
    name: `${name}, run by Validity`,
    source,
    mail: mail(
      `From: ${name} FBL Service <${from}>
Date: Sat, 31 Oct 2020 18:32:53 +0000
Mime-Version: 1.0
X-Rp-Fbl: type=arf; subscriptionID=96781
Content-Type: multipart/report; report-type=feedback-report;
 boundary=47ddcc38f0377c4c57be69b027f0e571585485feff72a328f64251165e26
To: fbl@example.com
Subject: ${name} Abuse Report`,
      `Content-Transfer-Encoding: quoted-printable
Content-Type: text/plain; charset=UTF-8

This is a ${name} Abuse Report for an email message received from domain exampl=
e.com, IP 192.0.2.1, on Sat, 31 Oct 2020 18:02:57 +0000.`,
      `Content-Disposition: inline
Content-Transfer-Encoding: 8bit
Content-Type: message/feedback-report

Original-Rcpt-To: ca2b45ef141c63af66829a2f346c832b@example.org
Source-Ip: 192.0.2.1
Feedback-Type: abuse
User-Agent: ReturnPathFBL/2.0
Original-Mail-From: ${TOKEN}@bounces.example.com
Reported-Domain: example.com
Source: ${name}
Abuse-Type: complaint
Subscription-Link: https://fbl.returnpath.net/manage/subscriptions/96781
Version: 1
Arrival-Date: Sat, 31 Oct 2020 18:02:57 +0000
`,
      `Content-Disposition: inline
Content-Transfer-Encoding: 8bit
Content-Type: message/rfc822

Received: from <ca2b45ef141c63af66829a2f346c832b> (localhost [127.0.0.1])
 for <<ca2b45ef141c63af66829a2f346c832b@example.org>>; Sat, 31 Oct 2020 21:02:57 +0300
Return-Path: ${TOKEN}@bounces.example.com
To: <ca2b45ef141c63af66829a2f346c832b@example.org>
From: "=?UTF-8?B?0JTQvtC80LDRiNC90LjQuSDQotC10LrRgdGC0LjQu9GM?="
 <info@example.com>

`,
    ),
    says: {
      agent: 'ReturnPathFBL/2.0',
      mailFrom: `${TOKEN}@bounces.example.com`,
      whom: ['ca2b45ef141c63af66829a2f346c832b@example.org'],
      ip: '192.0.2.1',
      domains: ['example.com'],
      arrived: '2020-10-31T18:02:57.000Z',
      reported: '2020-10-31T18:32:53.000Z',
      path: `${TOKEN}@bounces.example.com`,
      token: TOKEN,
    },
  };
}

/** Of most, only the sender is published; their form is that of the others. */
// biome-ignore format: one loop a line
export const LOOP_SENDERS: readonly (readonly [name: string, from: string, source: string])[] = [
  ['Yandex', 'feedbackloop@yandexfbl.senderscore.net', 'a report published with its parser (2020); form of ReturnPathFBL/2.0'],
  ['Rackspace', 'feedbackloop@rackspacefbl.senderscore.net', `${SISIMAI}, arf-25 (2020)`],
  ['Comcast', 'feedbackloop@comcastfbl.senderscore.net', `${ABUSEIO}; feedback.comcast.net/faq.php`],
  ['Cox', 'feedbackloop@fbl.cox.net', ABUSEIO],
  ['Fastmail', 'feedbackloop@fbl.fastmail.com', ABUSEIO],
  ['USA.NET', 'feedbackloop@fbl.usa.net', ABUSEIO],
  ['OpenSRS', 'feedbackloop@fbl.hostedemail.com', ABUSEIO],
  ['OpenSRS at Return Path', 'feedbackloop@fbl-opensrs.app.returnpath.net', ABUSEIO],
  ['Time Warner Cable', 'feedbackloop@feedback.postmaster.rr.com', ABUSEIO],
  ['Synacor', 'feedbackloop@synacorfbl.senderscore.net', ABUSEIO],
  ['Zoho', 'feedbackloop@fbl.zoho.com', ABUSEIO],
  ['Italia Online', 'feedbackloop@italianonlinefbl.senderscore.net', ABUSEIO],
  ['Mail.ru', 'feedbackloop@mailru.senderscore.net', ABUSEIO],
  ['Terra', 'feedbackloop@terrafbl.senderscore.net', ABUSEIO],
  ['Locaweb', 'feedbackloop@localwebfbl.senderscore.net', ABUSEIO],
  ['Telenor', 'feedbackloop@telnorfbl.senderscore.net', ABUSEIO],
  ['XS4ALL', 'feedbackloop@xs4allfbl.senderscore.net', ABUSEIO],
  ['BlueTie', 'feedbackloop@feedback.bluetie.com', `${ABUSEIO}; feedback.bluetie.com/faq.php`],
];

export const VALIDITY: readonly FeedbackForm[] = LOOP_SENDERS.map(([name, from, source]) =>
  validity(name, from, source),
);
