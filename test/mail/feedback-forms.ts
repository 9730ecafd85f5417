/**
 * Feedback reports as mailbox providers send them, written down by hand from published ones: what they say is kept, what
 * only fills them is not. Addresses are examples; `b-…@bounces.example.com` has a token of ours.
 */

/** A report, where its form was published, and what must be read from it. */
export interface FeedbackForm {
  readonly name: string;
  readonly source: string;
  readonly mail: string;
  readonly says: Said;
}

/** What differs from a complaint in ARF of type `abuse` that says nothing else. */
export interface Said {
  readonly form?: string;
  readonly kind?: string;
  readonly type?: string;
  readonly agent?: string;
  readonly mailFrom?: string;
  /** Whom the feedback is about. */
  readonly whom?: readonly string[];
  readonly ip?: string;
  readonly domains?: readonly string[];
  readonly arrived?: string;
  readonly reported?: string;
  readonly auth?: string;
  readonly result?: string;
  /** The first reverse-path in the returned header. */
  readonly path?: string;
  readonly messageId?: string;
  readonly providerId?: string;
  readonly unsubscribe?: readonly string[];
  /** The token that was found. */
  readonly token?: string;
}

/** A message with these header fields and parts; its boundary is the one that the header names. */
export function mail(header: string, ...parts: readonly string[]): string {
  const boundary = /boundary=(?:"([^"]+)"|([^\s;]+))/.exec(header);
  const line = `--${boundary?.[1] ?? boundary?.[2]}`;
  return `${header}\n\n${parts.map((part) => `${line}\n${part}\n`).join('\n')}\n${line}--\n`;
}

/** The local part of a token of ours, as the tests recognise it. */
export const TOKEN = 'b-0123456789abcdefghjkmnpqrstvwxyz01234567';

const SISIMAI = 'github.com/sisimai/set-of-emails';
const BOUNCE_HANDLER = 'github.com/cfortune/PHP-Bounce-Handler, eml';

const TEXT = `Content-Type: text/plain; charset="US-ASCII"
Content-Transfer-Encoding: 7bit

This is an email abuse report for an email message received from IP 192.0.2.1.`;

export const AOL_AND_YAHOO: readonly FeedbackForm[] = [
  {
    name: 'AOL, everything about the recipient redacted',
    source: `${BOUNCE_HANDLER}/fbl-aol.txt (2010)`,
    mail: mail(
      `Received: from scomp@aol.net by scmp-d41.mail.aol.com; Thu, 30 Dec 2010 13:45:14 EST
To: fbl@example.com
From: scomp@aol.net
Date: Thu, 30 Dec 2010 13:45:14 EST
Subject: Email Feedback Report for IP 192.0.2.1
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="boundary-1138-29572-2659438-18612"
X-AOL-INRLY: example.com [192.0.2.1] scmp-d41
X-Loop: scomp`,
      TEXT,
      `Content-Disposition: inline
Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: AOL SComp
Version: 0.1
Received-Date: Thu, 30 Dec 2010 09:23:16 -0500 (EST)
Source-IP: 192.0.2.1
Reported-Domain: example.com
Redacted-Address: redacted
Redacted-Address: redacted@

`,
      `Content-Type: message/rfc822
Content-Disposition: inline

Return-Path: <${TOKEN}@bounces.example.com>
Received: from example.com (example.com [192.0.2.1])
	by mtain-dj08.r1000.mx.aol.com (Internet Inbound) with SMTP id DCF633800021B
	for <redacted>; Thu, 30 Dec 2010 09:23:16 -0500 (EST)
From: "Support" <support@example.com> 
To: redacted@aol.com
Message-ID: <WEB8e6e5512333834e5792b28af4d88dc308@web>
X-RCPT-TO: <redacted>

Dear USER`,
    ),
    says: {
      agent: 'AOL SComp',
      ip: '192.0.2.1',
      domains: ['example.com'],
      arrived: '2010-12-30T14:23:16.000Z',
      reported: '2010-12-30T18:45:14.000Z',
      path: `${TOKEN}@bounces.example.com`,
      messageId: '<WEB8e6e5512333834e5792b28af4d88dc308@web>',
      token: TOKEN,
    },
  },
  {
    name: 'AOL before 2008: the message alone',
    source:
      "SpamAssassin's test corpus, an AOL TOS notification (2006); emailkarma.net/2008/09/aol-arf-switch-over",
    mail: mail(
      `From: <scomp@bigisp.example>
Message-ID: <f6.60a93eea.310c5103@aol.com>
Date: Fri, 27 Jan 2006 23:45:55 EST
Subject: Client TOS Notification
To: <undisclosed_recipients@aol.com>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="part1_f6.60a93eea.310c5103_boundary"
X-Loop: scomp`,
      'Content-Type: text/plain; charset="US-ASCII"\nContent-Transfer-Encoding: 7bit\n\n \n',
      `Content-Type: message/rfc822
Content-Disposition: inline

Return-Path: <news@example.com>
Received: from  rly-yj01.mx.aol.com by air-yj04.mail.aol.com; Sun, 15 Jan 2006 16:35:50 -0500
From: News <news@example.com>
To: undisclosed-recipients:;
Message-ID: <20060115.1@example.com>

Hello`,
    ),
    says: {
      form: 'loop',
      reported: '2006-01-28T04:45:55.000Z',
      path: 'news@example.com',
      messageId: '<20060115.1@example.com>',
    },
  },
  {
    name: 'Yahoo 1.0, with the line of a mailbox file in the returned message',
    source: `${BOUNCE_HANDLER}/fbl-yahoo.txt (2010)`,
    mail: mail(
      `X-Yahoo-Newman-Id: cfl-test
MIME-Version: 1.0
Content-Transfer-Encoding: 7bit
Content-Type: multipart/report; boundary="_----------=_12937329419079035"; report-type="feedback-report"
Date: Thu, 30 Dec 2010 10:15:41 -0800
From: Yahoo! Mail AntiSpam Feedback <feedback@arf.mail.yahoo.com>
To: fbl@example.com
Subject: Some Subject Line
X-Yahoo-Newman-Property: cfl

This is a multi-part message in MIME format.`,
      TEXT,
      `Content-Disposition: inline
Content-Transfer-Encoding: 7bit
Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: Yahoo!-Mail-Feedback/1.0
Version: 0.1
Original-Mail-From: <support@example.com>
Original-Rcpt-To: someuser@yahoo.com
Received-Date: Tue, 28 Dec 2010 11:57:56 PST
Reported-Domain: example.com
Authentication-Results: `,
      `Content-Disposition: inline
Content-Transfer-Encoding: 7bit
Content-Type: message/rfc822

From Tim's Advisors Tue Dec 28 18:43:07 2010
X-Apparently-To: someuser@yahoo.com via 98.138.90.126; Tue, 28 Dec 2010 11:57:56 -0800
Return-Path: <support@example.com>
Received-SPF: pass (mta1253.mail.ac4.yahoo.com: domain of support@example.com designates 192.0.2.1 as permitted sender)
From: "Support" <support@example.com> 
To: "someuser@yahoo.com" <someuser@yahoo.com>
Message-ID: <WEB8daf12e7d45340df91f4dc4d66fb19f7@web8>
`,
    ),
    says: {
      agent: 'Yahoo!-Mail-Feedback/1.0',
      mailFrom: 'support@example.com',
      whom: ['someuser@yahoo.com'],
      domains: ['example.com'],
      arrived: '2010-12-28T19:57:56.000Z',
      reported: '2010-12-30T18:15:41.000Z',
      path: 'support@example.com',
      messageId: '<WEB8daf12e7d45340df91f4dc4d66fb19f7@web8>',
    },
  },
  {
    name: 'Yahoo 1.0, fields of the container folded after each semicolon, a header for each part',
    source: `${SISIMAI}, arf-02 (2013)`,
    mail: mail(
      `MIME-Version: 1.0
Content-Type: multipart/report; 
    boundary="_----------=F000000000000000000000"; 
    report-type="feedback-report"
From: Yahoo! Mail AntiSpam Feedback <feedback@arf.mail.yahoo.com>
Subject: Fw: News`,
      `MIME-Version: 1.0\nDate: Thu, 29 Apr 2013 23:45:00 -0800\n${TEXT}`,
      `Content-Disposition: inline
Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: Yahoo!-Mail-Feedback/1.0
Version: 0.1
Original-Mail-From: <${TOKEN}@bounces.example.com>
Original-Rcpt-To: ann@yahoo.example
Received-Date: Thu, 29 Apr 2013 23:45:50 PST
Reported-Domain: example.com
Authentication-Results: 
`,
      `Content-Type: message/rfc822

X-Apparently-To: ann@yahoo.example via 192.0.2.45; Thu, 29 Apr 2013 23:45:10 -0800
Return-Path: <${TOKEN}@bounces.example.com>
Message-ID: <0.smtp@example.com>

Hello`,
    ),
    says: {
      agent: 'Yahoo!-Mail-Feedback/1.0',
      mailFrom: `${TOKEN}@bounces.example.com`,
      whom: ['ann@yahoo.example'],
      domains: ['example.com'],
      arrived: '2013-04-30T07:45:50.000Z',
      path: `${TOKEN}@bounces.example.com`,
      messageId: '<0.smtp@example.com>',
      token: TOKEN,
    },
  },
  {
    name: 'Yahoo 1.0 with a return path of another making',
    source: 'MantaMTA, FeedbackLoopEmails (2013)',
    mail: mail(
      'Content-Type: multipart/report; boundary="_----------=_1361747059"; report-type="feedback-report"',
      TEXT,
      `Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: Yahoo!-Mail-Feedback/1.0
Version: 0.1
Original-Mail-From: <return-some.user=yahoo.co.uk-1@colony.example>
Original-Rcpt-To: some.user@yahoo.co.uk
Received-Date: Sun, 24 Feb 2013 13:44:19 PST
Reported-Domain: colony.example
Authentication-Results: `,
    ),
    says: {
      agent: 'Yahoo!-Mail-Feedback/1.0',
      mailFrom: 'return-some.user=yahoo.co.uk-1@colony.example',
      whom: ['some.user@yahoo.co.uk'],
      domains: ['colony.example'],
      arrived: '2013-02-24T21:44:19.000Z',
    },
  },
  {
    name: 'Yahoo 2.0, passed on by Amazon SES',
    source: `${SISIMAI}, arf-14 (2017); docs.aws.amazon.com/ses, email feedback forwarding`,
    mail: mail(
      `Return-Path: <no-reply@amazonses.com>
Date: Thu, 29 Apr 2017 23:34:45 +0000
From: complaints@email-abuse.amazonses.com
To: fbl@example.com
Subject: Fw: News
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; 
	boundary="----=_Part_22220022_2222222200.22222222222"
X-SES-Outgoing: 2017.04.29-192.0.2.222`,
      TEXT,
      `Content-Type: message/feedback-report
Content-Transfer-Encoding: 7bit
Content-Disposition: inline

Feedback-Type: abuse
User-Agent: Yahoo!-Mail-Feedback/2.0
Version: 0.1
Original-Mail-From: <0100015bbbe8eeee-22222222-0000-eeee-ffff-222222222222-000000@amazonses.com>
Original-Rcpt-To: ann@y.example.com
Received-Date: Thu, 29 Apr 2017 23:34:45 +0000
Reported-Domain: amazonses.com
Authentication-Results: mta2222.mail.bf2.yahoo.com  from=example.jp; domainkeys=neutral (no sig);  from=amazonses.com; dkim=pass (ok)`,
      `Content-Type: message/rfc822
Content-Disposition: inline

X-Apparently-To: ann@yahoo.com; Thu, 29 Apr 2017 23:34:45 +0000
Return-Path: <0100015bbbe8eeee-22222222-0000-eeee-ffff-222222222222-000000@amazonses.com>
From: News <news@example.com>
Message-ID: <0100015bbbe8eeee-22222222-0000-eeee-ffff-222222222222-000000@email.amazonses.com>
To: ann@yahoo.com
Feedback-ID: 1.us-east-1.x:AmazonSES

Hello`,
    ),
    says: {
      agent: 'Yahoo!-Mail-Feedback/2.0',
      mailFrom: '0100015bbbe8eeee-22222222-0000-eeee-ffff-222222222222-000000@amazonses.com',
      whom: ['ann@y.example.com'],
      domains: ['amazonses.com'],
      arrived: '2017-04-29T23:34:45.000Z',
      reported: '2017-04-29T23:34:45.000Z',
      path: '0100015bbbe8eeee-22222222-0000-eeee-ffff-222222222222-000000@amazonses.com',
      messageId: '<0100015bbbe8eeee-22222222-0000-eeee-ffff-222222222222-000000@email.amazonses.com>',
      providerId: '0100015bbbe8eeee-22222222-0000-eeee-ffff-222222222222-000000',
    },
  },
  {
    name: 'Yahoo 2.0, only the header returned',
    source: 'reddit.com/r/aws, f21pc6 (2020); senders.yahooinc.com/complaint-feedback-loop',
    mail: mail(
      'Content-Type: multipart/report; report-type=feedback-report; boundary="----=_Part_1_2.3"',
      TEXT,
      `Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: Yahoo!-Mail-Feedback/2.0
Version: 0.1
Original-Mail-From: <shop@example.com>
Original-Rcpt-To: <ann@yahoo.com>
Received-Date: Wed, 22 Jan 2020 03:38:34 +0000
Reported-Domain: example.com
Authentication-Results: authentication result string is not available
Source-IP: 2001:DB8::25`,
      `Content-Type: text/rfc822-headers

Message-ID: <1.2@example.com>
List-Unsubscribe: <https://mail.example.com/u/${TOKEN}>,
 <mailto:u-${TOKEN}@bounces.example.com?subject=unsubscribe>`,
    ),
    says: {
      agent: 'Yahoo!-Mail-Feedback/2.0',
      mailFrom: 'shop@example.com',
      whom: ['ann@yahoo.com'],
      ip: '2001:db8::25',
      domains: ['example.com'],
      arrived: '2020-01-22T03:38:34.000Z',
      messageId: '<1.2@example.com>',
      unsubscribe: [
        `https://mail.example.com/u/${TOKEN}`,
        `mailto:u-${TOKEN}@bounces.example.com?subject=unsubscribe`,
      ],
      token: TOKEN,
    },
  },
];
