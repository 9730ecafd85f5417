import { type FeedbackForm, mail, TOKEN } from './feedback-forms.ts';

/** Reports of programs and services, most of them not mailbox providers. */

const SISIMAI = 'github.com/sisimai/set-of-emails';
const REPORT =
  'Content-Type: multipart/report; report-type=feedback-report; boundary="part1_13d.2e68ed54_boundary"';
const TEXT = 'Content-Type: text/plain; charset="US-ASCII"\n\nThis is an email abuse report.';

/** A part for programs, in the default form. */
function fields(text: string): string {
  return `Content-Type: message/feedback-report\n\n${text}\n`;
}

export const SERVICES: readonly FeedbackForm[] = [
  {
    name: 'Comcast in 2010: recipients with a name, the Message-ID without brackets',
    source: 'github.com/cfortune/PHP-Bounce-Handler, eml/fbl-comcast.txt',
    mail: mail(
      `Content-Transfer-Encoding: binary
Content-Type: multipart/report; boundary="_----------=_12937385352787524276"; report-type="feedback-report"
Date: Thu, 30 Dec 2010 19:48:55 UT
From: feedbackloop@comcastfbl.senderscore.net

This is a multi-part message in MIME format.`,
      TEXT,
      fields(`User-Agent: comcast Feedback Loop (V0.01)
Reported-Domain: example.com
Arrival-Date: Fri, 24 Dec 2010 02:07:37 +0000
Feedback-Type: abuse
Version: 1
Source-IP: 192.0.2.1
Original-Message-ID: WEB984880f6664cc4cfcb65239d134bfd9c7@web9
Original-Rcpt-To: undisclosed comcast recipient <redacted@comcast.net>
Original-Mail-From: support@example.com`),
      'Content-Type: message/rfc822\n\nReturn-Path: support@example.com\nX-RCPT-TO: <redacted@comcast.net>\n\nHello',
    ),
    says: {
      agent: 'comcast Feedback Loop (V0.01)',
      mailFrom: 'support@example.com',
      whom: ['redacted@comcast.net'],
      ip: '192.0.2.1',
      domains: ['example.com'],
      arrived: '2010-12-24T02:07:37.000Z',
      reported: '2010-12-30T19:48:55.000Z',
      path: 'support@example.com',
      messageId: '<WEB984880f6664cc4cfcb65239d134bfd9c7@web9>',
    },
  },
  ...(['example.org', 'terra.com'] as const).map((domain) => ({
    name: `Return Path 1.0 from ${domain}: no recipient, no end`,
    source: `${SISIMAI}, arf-15 and arf-21 (2015); p5-sisimai, pull request 37`,
    mail: mail(
      `Content-Type: multipart/report; boundary="_----------=_15000000000000000000";
    report-type="feedback-report"
From: feedbackloop@feedback.${domain}`,
      TEXT,
      fields(
        'User-Agent: ReturnPathFBL/1.0\nAbuse-Type: complaint\nFeedback-Type: abuse\nVersion: 1\nOriginal-Mail-From: news@example.net',
      ),
      'Content-Type: message/rfc822\n\nReturn-Path: <news@example.net>\nTo: "undisclosed"\nMessage-ID: <f0@example.net>\n\nHello',
    ).replace(/\n--[^\n]*--\n$/, ''),
    says: {
      agent: 'ReturnPathFBL/1.0',
      mailFrom: 'news@example.net',
      path: 'news@example.net',
      messageId: '<f0@example.net>',
    },
  })),
  {
    name: 'Junk Email Filter through Return Path: several recipients',
    source: `${SISIMAI}, arf-16 (2015)`,
    mail: mail(
      REPORT,
      TEXT,
      fields(`User-Agent: ReturnPathFBL/1.0
Feedback-Type: abuse
Original-Rcpt-To: kijitora@example.com
Original-Rcpt-To: sironeko@example.com
Original-Rcpt-To: kijitora@example.com
Original-Mail-From: neko@example.jp
Reported-Domain: example.com
Reported-Domain: example.org`),
      'Content-Type: message/rfc822\n\nMessage-Id: <f1@example.jp>\nTo: a@example.com\n\nHello',
    ),
    says: {
      agent: 'ReturnPathFBL/1.0',
      mailFrom: 'neko@example.jp',
      whom: ['kijitora@example.com', 'sironeko@example.com'],
      domains: ['example.com', 'example.org'],
      messageId: '<f1@example.jp>',
    },
  },
  {
    name: 'Abusix: a spam trap',
    source: `${SISIMAI}, arf-17 (2016)`,
    mail: mail(
      `Content-Type: multipart/report; report-type="feedback-report";
  boundary="==f000000000111111111110000000eee=="
Message-ID: 000000-FFFFFF-22-ARF
Auto-Submitted: auto-generated`,
      TEXT,
      `Content-Type: message/feedback-report
MIME-Version: 1.0

Original-Envelope-Id: 000000-FFFFFF-22
Feedback-Type: abuse
Original-Mail-From: ${TOKEN}@bounces.example.com
User-Agent: abusix-py/0.1
Version: 1
Original-Rcpt-To: trap@example.com
Source-IP: 192.0.2.3`,
    ),
    says: {
      agent: 'abusix-py/0.1',
      mailFrom: `${TOKEN}@bounces.example.com`,
      whom: ['trap@example.com'],
      ip: '192.0.2.3',
      token: TOKEN,
    },
  },
  {
    name: 'a DMARC report of LinkedIn, an address in its Message-ID field',
    source: `${SISIMAI}, arf-18 (2015)`,
    mail: mail(
      `Content-Type: multipart/report; report-type=feedback-report;
    boundary="_----NekoNyaan/222nnn300===_22/00-22002-00000225"`,
      TEXT,
      fields(`Feedback-Type: auth-failure
User-Agent: Lua/1.0
Version: 1.0
Original-Mail-From: sironeko@example.org
Original-Rcpt-To: kijitora@example.com
Message-ID: <000000000.2222222.1500000000222@example.net>
Source-IP: 192.0.2.222
Delivery-Result: delivered
Auth-Failure: dmarc
Reported-Domain: example.net`),
    ),
    says: {
      kind: 'auth_failure',
      type: 'auth-failure',
      agent: 'Lua/1.0',
      mailFrom: 'sironeko@example.org',
      whom: ['kijitora@example.com'],
      ip: '192.0.2.222',
      domains: ['example.net'],
      auth: 'dmarc',
      result: 'delivered',
      messageId: '<000000000.2222222.1500000000222@example.net>',
    },
  },
  {
    name: 'NetEase, no blank line before the boundary',
    source: `${SISIMAI}, arf-19 (2015)`,
    mail: `MIME-Version: 1.0
Content-Type: multipart/report; report-type="feedback-report";
 boundary="===============00000000002222200=="
From: <abuse@126.example.com>

--===============00000000002222200==
Content-Type: text/plain

This is a spf/dkim authentication-failure report.
--===============00000000002222200==
Content-Type: message/feedback-report
MIME-Version: 1.0

Feedback-Type: auth-failure
User-Agent: NtesDmarcReporter/1.0
Version: 1
Original-Mail-From: <sironeko@neko.example.com>
Source-IP: 203.0.113.2
Reported-Domain: example.net
DKIM-Domain: ietf.org; example.net
Delivery-Result: delivered
--===============00000000002222200==
Content-Type: text/rfc822-headers; charset="us-ascii"

Delivered-To: dmarc@ietf.example.org
Message-ID: <000000000.2222222.0000000000002@example.net>
--===============00000000002222200==--`,
    says: {
      kind: 'auth_failure',
      type: 'auth-failure',
      agent: 'NtesDmarcReporter/1.0',
      mailFrom: 'sironeko@neko.example.com',
      whom: ['dmarc@ietf.example.org'],
      ip: '203.0.113.2',
      domains: ['example.net'],
      result: 'delivered',
      messageId: '<000000000.2222222.0000000000002@example.net>',
    },
  },
  {
    name: 'NetEase, an attachment in base64',
    source: 'github.com/liuch/dmarc-srg and its kin, notes on multipart/mixed with base64 feedback reports',
    mail: mail(
      'Content-Type: multipart/mixed; boundary="b"',
      TEXT,
      `Content-Type: message/feedback-report
Content-Transfer-Encoding: BASE64
Content-Disposition: attachment; filename="feedback.eml"

${Buffer.from('Feedback-Type: auth-failure\r\nAuth-Failure: dmarc\r\nReported-Domain: example.net\r\n').toString('base64')}`,
    ),
    says: { kind: 'auth_failure', type: 'auth-failure', auth: 'dmarc', domains: ['example.net'] },
  },
  {
    name: 'OpenDMARC, a colon in its boundary',
    source: `${SISIMAI}, arf-20 (2015)`,
    mail: mail(
      'From: OpenDMARC Filter <p@example.net>\nContent-Type: multipart/report;\n\treport-type=feedback-report;\n\tboundary="example.net:0022FFEE"',
      TEXT,
      fields(
        'Feedback-Type: auth-failure\nVersion: 1\nUser-Agent: OpenDMARC-Filter/1.3.0\nAuth-Failure: dmarc\nOriginal-Envelope-Id: 0022FFEE\nOriginal-Mail-From: dmarc-bounces@ietf.example.org\nSource-IP: 203.0.113.2',
      ),
      'Content-Type: text/rfc822-headers\n\nReceived-SPF: Pass (sender SPF authorized) identity=mailfrom; client-ip=203.0.113.2; helo=mail.ietf.example.org; envelope-from=dmarc-bounces@ietf.example.org; receiver=ietf@example.com\nMessage-ID: <000000000eee@example.net>\nDate: now',
    ),
    says: {
      kind: 'auth_failure',
      type: 'auth-failure',
      agent: 'OpenDMARC-Filter/1.3.0',
      auth: 'dmarc',
      mailFrom: 'dmarc-bounces@ietf.example.org',
      ip: '203.0.113.2',
      path: 'dmarc-bounces@ietf.example.org',
      messageId: '<000000000eee@example.net>',
    },
  },
  {
    name: 'LBBS, a DMARC report whose boundaries end in a bare LF',
    source: 'github.com/InterLinked1/lbbs, mod_mimeparse and mod_smtp_filter_dmarc',
    mail: mail(
      'Content-Type: multipart/report;\n\treport-type=feedback-report;\n\tboundary="bbs.example:7"',
      TEXT,
      fields(
        'Feedback-Type: auth-failure\nVersion: 1\nUser-Agent: LBBS 0.1 DMARC Failure Reporter\nAuth-Failure: dmarc\nOriginal-Mail-From: news@example.com',
      ),
    )
      .replaceAll('\n', '\r\n')
      .replaceAll(/(--bbs[^\r]*)\r\n/g, '$1\n'),
    says: {
      kind: 'auth_failure',
      type: 'auth-failure',
      agent: 'LBBS 0.1 DMARC Failure Reporter',
      auth: 'dmarc',
      mailFrom: 'news@example.com',
    },
  },
  {
    name: "SparkPost's test reports: slashes and equals signs in a boundary without quotes",
    source: 'github.com/SparkPost, FBL and OOB generator',
    mail: mail(
      'From: <fbl@example.com>\nDate: Mon, 02 Jan 2006 15:04:05 MST\nContent-Type: multipart/report; report-type=feedback-report;\n      boundary=_----1136239445===_61/00-25439-267B0055',
      TEXT,
      fields('Feedback-Type: abuse\nUser-Agent: SomeGenerator/1.0\nVersion: 0.1'),
      'Content-Type: message/rfc822\nContent-Disposition: inline\n\nFrom: <news@example.com>\nX-MSFBL: eyJyIjoiYSJ9\nMessage-ID: 8787.mail@example.com\n\nSpam',
    ),
    says: {
      agent: 'SomeGenerator/1.0',
      reported: '2006-01-02T22:04:05.000Z',
      messageId: '<8787.mail@example.com>',
    },
  },
  {
    name: 'Mailio: reasons in words, addresses with names',
    source: 'github.com/mailio, complaint writer',
    mail: mail(
      REPORT,
      TEXT,
      fields(
        'Feedback-Type: I never asked for this\nUser-Agent: mail.example.org\nVersion: 1\nOriginal-Mail-From: "News" <news@example.com>\nOriginal-Rcpt-To: "Doe, Jane" <jane@example.org>',
      ),
    ),
    says: {
      kind: 'unknown',
      type: '',
      agent: 'mail.example.org',
      mailFrom: 'news@example.com',
    },
  },
  {
    name: 'Postmark in the returned header',
    source: 'postmarkapp.com/developer, X-PM-Message-Id',
    mail: mail(
      REPORT,
      TEXT,
      fields('Feedback-Type: abuse\nOriginal-Rcpt-To: rfc822;ann@example.org'),
      'Content-Type: message/rfc822\n\nX-PM-Message-Id: 0a129aee-e1cd-480d-b08d-4f48548ff48d\nMessage-ID: <0a129aee@mtasv.net>\n\nHello',
    ),
    says: {
      whom: ['ann@example.org'],
      messageId: '<0a129aee@mtasv.net>',
      providerId: '0a129aee-e1cd-480d-b08d-4f48548ff48d',
    },
  },
];
