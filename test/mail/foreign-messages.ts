/**
 * Messages as well-known programs write them, each shape once, with made-up people. One character is one byte; lines end
 * in LF here and in CRLF where they are read.
 */
const DATE = 'Date: Fri, 20 Nov 2026 11:15:00 +0000\nMessage-ID: <1@a.test>\n';

/** See above. */
export const FOREIGN_MESSAGES: readonly { readonly name: string; readonly text: string }[] = [
  {
    name: 'a plain text of a script, without MIME',
    text: `From: root@a.test\nTo: ops@b.test\nSubject: cron\n${DATE}\nline 1\nline 2\n`,
  },
  {
    name: 'Latin-1 in 8 bits',
    text: `From: =?iso-8859-1?Q?J=F6rg?= <j@a.test>\nTo: k@b.test\nSubject: =?iso-8859-1?Q?Gr=FC=DFe?=
${DATE}MIME-Version: 1.0\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: 8bit\n
Gr\xfc\xdfe\n`,
  },
  {
    name: 'webmail: related within alternative within mixed, ids on all files',
    text: `MIME-Version: 1.0\nFrom: Ann <ann@a.test>\n${DATE}Subject: Pictures\nTo: Bob <bob@b.test>, "Doe, C." <c@b.test>
Content-Type: multipart/mixed; boundary="000000000000aaaa01"

--000000000000aaaa01
Content-Type: multipart/related; boundary="000000000000aaaa02"

--000000000000aaaa02
Content-Type: multipart/alternative; boundary="000000000000aaaa03"

--000000000000aaaa03
Content-Type: text/plain; charset="UTF-8"

*Look*
[image: a.png]

--000000000000aaaa03
Content-Type: text/html; charset="UTF-8"
Content-Transfer-Encoding: quoted-printable

<div dir=3D"ltr"><b>Look</b><img src=3D"cid:ii_1"></div>

--000000000000aaaa03--
--000000000000aaaa02
Content-Type: image/png; name="a.png"
Content-Disposition: inline; filename="a.png"
Content-Transfer-Encoding: base64
X-Attachment-Id: ii_1
Content-ID: <ii_1>

iVBORw0KGgo=
--000000000000aaaa02--
--000000000000aaaa01
Content-Type: application/pdf; name="b c.pdf"
Content-Disposition: attachment; filename="b c.pdf"
Content-Transfer-Encoding: base64
X-Attachment-Id: f_1
Content-ID: <f_1>

JVBERi0xLjQK
--000000000000aaaa01--
`,
  },
  {
    name: 'a desktop client: upper-case boundaries, described files with size and dates, a thread',
    text: `Received: from x by y; Fri, 20 Nov 2026 11:15:00 +0000\nFrom: "M\xfcller" <m@a.test>\nTo: n@b.test\nCc: o@b.test
Subject: RE: Plan\n${DATE}References: <0@b.test>\nIn-Reply-To: <0@b.test>\nThread-Index: AdX=
Accept-Language: de-DE, en-US\nContent-Language: de-DE\nX-MS-Has-Attach: yes
Content-Type: multipart/mixed;\n\tboundary="_002_ABC_"\nMIME-Version: 1.0

--_002_ABC_
Content-Type: multipart/alternative;
\tboundary="_000_ABC_"

--_000_ABC_
Content-Type: text/plain; charset="iso-8859-1"
Content-Transfer-Encoding: quoted-printable

Sch=F6n

--_000_ABC_
Content-Type: text/html; charset="iso-8859-1"
Content-Transfer-Encoding: quoted-printable

<p>Sch=F6n</p>

--_000_ABC_--

--_002_ABC_
Content-Type: application/vnd.ms-excel; name="plan.xls"
Content-Description: plan.xls
Content-Disposition: attachment; filename="plan.xls"; size=4;
\tcreation-date="Fri, 20 Nov 2026 11:15:00 GMT";
\tmodification-date="Fri, 20 Nov 2026 11:15:00 GMT"
Content-Transfer-Encoding: base64

AAECAw==

--_002_ABC_--
`.replace('M\xfcller', '=?iso-8859-1?Q?M=FCller?='),
  },
  {
    name: 'a library: base64 text with LF line ends, file names of RFC 2231 in pieces',
    text: `Content-Type: multipart/mixed; boundary="===============123=="\nMIME-Version: 1.0\nFrom: a@a.test\nTo: b@b.test
Reply-To: c@a.test\nSubject: =?utf-8?b?R3LDvMOfZQ==?=\n${DATE}
--===============123==
Content-Type: text/plain; charset="utf-8"
MIME-Version: 1.0
Content-Transfer-Encoding: base64

R3LDvMOfZQp6d2VpCg==

--===============123==
Content-Type: application/octet-stream
MIME-Version: 1.0
Content-Transfer-Encoding: base64
Content-Disposition: attachment;
 filename*0*=utf-8''gr%C3%BC;
 filename*1*=%C3%9Fe.bin

AP8=

--===============123==--
`,
  },
];
