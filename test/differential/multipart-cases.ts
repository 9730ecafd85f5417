import type { Reading, ReadPart } from './multipart-readers.ts';

/**
 * Forms on which the readers disagree, each with what every one of them makes of it and who is right. The table of
 * `docs/decisions/0003-multipart-disagreements.md` is this one.
 */
export interface JudgedForm {
  readonly what: string;
  /** Latin-1. */
  readonly form: string;
  readonly ours: string;
  readonly busboy: string;
  readonly fastify: string;
  /** What the standards say, and why we do as we do. */
  readonly verdict: string;
  readonly right: 'we' | 'busboy' | 'both others' | '@fastify/busboy';
}

/** A reading in few words: `name=body`, `name@filename=body`, or `refused`. */
export function tell(reading: Reading): string {
  if ('refused' in reading) return 'refused';
  return reading.parts.map(tellPart).join(', ') || 'no part';
}

function tellPart({ name, filename, body }: ReadPart): string {
  const file = filename === null ? '' : `@${filename || '(empty)'}`;
  return JSON.stringify(`${name ?? '(none)'}${file}=${body}`).slice(1, -1);
}

const NAME_A = 'Content-Disposition: form-data; name="a"';
const withParameters = (parameters: string) => withHeader(`Content-Disposition: form-data; ${parameters}`);
const withHeader = (header: string, body = 'x') => `--xYz\r\n${header}\r\n\r\n${body}\r\n--xYz--\r\n`;

type Row = readonly [
  what: string,
  form: string,
  outcomes: readonly [ours: string, busboy: string, fastify: string],
  right: JudgedForm['right'],
  verdict: string,
];

const ROWS: readonly Row[] = [
  [
    'padding after a boundary',
    `--xYz \t\r\n${NAME_A}\r\n\r\nx\r\n--xYz--\r\n`,
    ['a=x', 'no part', 'no part'],
    'we',
    'RFC 2046 §5.1.1: a receiver must accept it. The others silently lose the part.',
  ],
  [
    'a line that begins with the boundary and goes on',
    withHeader(NAME_A, 'x\r\n--xYzz\r\ny'),
    ['refused', 'a=x', 'a=x'],
    'we',
    'RFC 2046 §5.1.1: the beginning of the line decides, so this is a boundary, and a bad one. The others lose what follows.',
  ],
  [
    'text after a boundary',
    `--xYz x\r\n${NAME_A}\r\n\r\nx\r\n--xYz--\r\n`,
    ['refused', 'no part', 'no part'],
    'we',
    'RFC 2046 §5.1.1 allows only white space. The others lose the part.',
  ],
  [
    'text after the last boundary',
    `--xYz\r\n${NAME_A}\r\n\r\nx\r\n--xYz--y`,
    ['refused', 'a=x', 'a=x'],
    'we',
    'RFC 2046 §5.1.1: only white space and a line end may follow. We cannot distinguish it from a part that was cut off.',
  ],
  [
    'parts after the last boundary',
    `--xYz--\r\n--xYz\r\n${NAME_A}\r\n\r\nx\r\n--xYz--\r\n`,
    ['refused', 'no part', 'no part'],
    'both others',
    'RFC 2046 §5.1.1: an epilogue is to be ignored. We refuse one that holds a boundary: a part would be lost.',
  ],
  [
    'a boundary inside a header',
    `--xYz\r\nX: y\r\n--xYz\r\n${NAME_A}\r\n\r\nx\r\n--xYz--\r\n`,
    ['refused', 'a=x', 'a=x'],
    'we',
    'RFC 2046 §5.1: a part has a blank line. The others drop the broken part and go on.',
  ],
  [
    'the last boundary as the name of a header',
    `--xYz\r\n--xYz--: y\r\n${NAME_A}\r\n\r\nx\r\n--xYz--\r\n`,
    ['refused', 'no part', 'no part'],
    'we',
    'RFC 2046 §5.1.1: a boundary must not appear in a part. We read it as a header until this test found it.',
  ],
  [
    'a header without a blank line before the last boundary',
    `--xYz\r\n${NAME_A}\r\n--xYz--\r\n`,
    ['refused', 'refused', 'no part'],
    'we',
    'RFC 2046 §5.1: the blank line is required.',
  ],
  [
    'a part without a body',
    `--xYz\r\n${NAME_A}\r\n\r\n--xYz--\r\n`,
    ['a=', 'refused', 'no part'],
    'we',
    'RFC 2046 §5.1.1: the line end before a boundary belongs to it, and a body is optional.',
  ],
  [
    'a part without a header',
    '--xYz\r\n\r\nx\r\n--xYz--\r\n',
    ['refused', 'refused', 'no part'],
    'we',
    'RFC 7578 §4.2: Content-Disposition is required.',
  ],
  [
    'no Content-Disposition',
    withHeader('Content-Type: text/plain'),
    ['refused', 'no part', 'no part'],
    'we',
    'RFC 7578 §4.2: it is required. The others lose the part.',
  ],
  [
    'a disposition other than form-data',
    withHeader('Content-Disposition: attachment; name="a"'),
    ['refused', 'no part', 'no part'],
    'we',
    'RFC 7578 §4.2: it must be form-data. The others lose the part.',
  ],
  [
    'no name',
    withHeader('Content-Disposition: form-data'),
    ['refused', '(none)=x', '(none)=x'],
    'we',
    'RFC 7578 §4.2: a name is required.',
  ],
  [
    'an empty name',
    withParameters('name=""'),
    ['=x', '(none)=x', '=x'],
    'we',
    'RFC 7578 §4.2 does not forbid it; it is then an unknown field.',
  ],
  [
    'a name twice',
    withParameters('name="a"; name="b"'),
    ['refused', 'a=x', 'b=x'],
    'we',
    'RFC 2045 §5.1, RFC 2183 §2: a parameter appears once. Two readers, two fields.',
  ],
  [
    'a filename twice',
    withParameters('name="a"; filename="b"; filename="c"'),
    ['refused', 'a@b=x', 'a@b=x'],
    'we',
    'RFC 2183 §2: once.',
  ],
  [
    'a Content-Disposition twice',
    withHeader(`${NAME_A}\r\nContent-Disposition: form-data; name="b"`),
    ['refused', 'a=x', 'a=x'],
    'we',
    'RFC 7578 §4.2 has only one. The others drop the second.',
  ],
  [
    'a Content-Type twice',
    withHeader(`${NAME_A}\r\nContent-Type: text/plain\r\nContent-Type: text/html`),
    ['refused', 'a=x', 'a=x'],
    'we',
    'RFC 2045 §5: one.',
  ],
  [
    'a malformed Content-Type',
    withHeader(`${NAME_A}\r\nContent-Type: plain`),
    ['refused', 'a=x', 'a=x'],
    'both others',
    'RFC 2045 §5.2 suggests text/plain for it. We refuse it, because we would have to write it into the mail.',
  ],
  [
    'an empty parameter',
    withParameters('; name="a"'),
    ['a=x', 'no part', 'a=x'],
    'busboy',
    'RFC 2183 §2 does not have it. Real clients send it and nothing is lost by it, so we accept it.',
  ],
  [
    'a semicolon at the end',
    withParameters('name="a";'),
    ['a=x', 'no part', 'a=x'],
    'busboy',
    'As above; busboy loses the part.',
  ],
  [
    'blanks around the equals sign',
    withParameters('name = "a"'),
    ['refused', 'no part', 'a=x'],
    'we',
    'RFC 9110 §5.6.6: no white space there.',
  ],
  [
    'a blank in a bare value',
    withParameters('name=a b'),
    ['refused', 'no part', 'ab=x'],
    'we',
    'RFC 2045 §5.1: a blank needs quotes.',
  ],
  [
    'text after a quoted value',
    withParameters('name="a"b'),
    ['refused', 'no part', 'a=x'],
    'we',
    'RFC 2045 §5.1. Most often this is an unescaped quotation mark: the name would be wrong.',
  ],
  [
    'a quote that is not closed',
    withParameters('name="a'),
    ['refused', 'no part', 'a=x'],
    'we',
    'RFC 2045 §5.1, RFC 5322 §3.2.4.',
  ],
  [
    '%22 in a name',
    withParameters('name="a%22b"'),
    ['a\\"b=x', 'a%22b=x', 'a%22b=x'],
    'we',
    'HTML §4.10.21.8: browsers write a quotation mark like this, and it can mean nothing else.',
  ],
  [
    '%0D%0A in a filename',
    withParameters('name="a"; filename="b%0D%0Ac"'),
    ['a@b\\r\\nc=x', 'a@b%0D%0Ac=x', 'a@b%0D%0Ac=x'],
    'we',
    'HTML §4.10.21.8. Such a file name is then refused as a file name.',
  ],
  [
    'an empty filename',
    withHeader('Content-Disposition: form-data; name="a"; filename=""', ''),
    ['a@(empty)=', 'a=', 'a@(empty)='],
    'we',
    'HTML §4.10.21.8: a file input left empty. RFC 7578 §4.2: filename marks a file.',
  ],
  [
    'application/octet-stream without a filename',
    withHeader(`${NAME_A}\r\nContent-Type: application/octet-stream`),
    ['a=x', 'a@(empty)=x', 'a@(empty)=x'],
    'we',
    'RFC 7578 §4.2: filename marks a file, not the type.',
  ],
  [
    'a blank after a media type',
    withHeader(`${NAME_A}\r\nContent-Type: application/octet-stream `),
    ['a=x', 'a@(empty)=x', 'a=x'],
    'we',
    'RFC 5322 §2.2: it is not part of the value. One of the others then has a different type.',
  ],
  [
    'a semicolon after a media type',
    withHeader(`${NAME_A}\r\nContent-Type: application/octet-stream;`),
    ['a=x', 'a=x', 'a@(empty)=x'],
    'we',
    'RFC 9110 §5.6.6 lets a parameter be empty. One of the others then loses the type.',
  ],
  [
    'filename before filename*',
    withParameters('name="a"; filename="b"; filename*=UTF-8\'\'c'),
    ['a@c=x', 'a@c=x', 'a@b=x'],
    'we',
    'RFC 7578 §4.2 forbids filename*; if it is sent, RFC 6266 §4.3 says that it wins.',
  ],
  [
    'filename* in Latin-1',
    withParameters('name="a"; filename*=iso-8859-1\'\'%E9'),
    ['refused', 'a@é=x', 'a@é=x'],
    'we',
    'RFC 8187 §3.2.1: only UTF-8 must be supported.',
  ],
  [
    'filename* that is not UTF-8',
    withParameters('name="a"; filename*=UTF-8\'\'%E9'),
    ['refused', 'a@\ufffd=x', 'a@\ufffd=x'],
    'we',
    'RFC 8187 §3.2. The others invent a name.',
  ],
  [
    'filename* without a charset',
    withParameters('name="a"; filename*=b'),
    ['refused', 'no part', 'a@=b=x'],
    'we',
    'RFC 8187 §3.2.1: the charset is required.',
  ],
  [
    'name*',
    withParameters("name*=UTF-8''a"),
    ['refused', '(none)=x', 'a=x'],
    'we',
    'RFC 7578 §4.2: a name is written plainly, in UTF-8 (§5.1).',
  ],
  [
    'a filename in pieces',
    withParameters('name="a"; filename*0="b"; filename*1="c"'),
    ['refused', 'a=x', 'a@1=c=x'],
    'we',
    'RFC 2231 §3 is not for forms. The others lose the name.',
  ],
  [
    'a folded header line',
    withHeader('Content-Disposition: form-data;\r\n name="a"'),
    ['refused', 'a=x', 'a=x'],
    'both others',
    'RFC 5322 §2.2.3 allows it. No client does it, and readers differ in what a fold becomes; the refusal says so.',
  ],
  [
    'a blank before the colon',
    withHeader('Content-Disposition : form-data; name="a"'),
    ['refused', 'refused', 'no part'],
    'we',
    'RFC 5322 §2.2, RFC 9112 §5.1.',
  ],
  [
    'a header line without a colon',
    withHeader(`${NAME_A}\r\nhello`),
    ['refused', 'refused', 'a=x'],
    'we',
    'RFC 5322 §2.2.',
  ],
  [
    'LF alone between header lines',
    withHeader(`${NAME_A}\nX: y`),
    ['refused', 'refused', 'no part'],
    'we',
    'RFC 5322 §2.2: lines end in CRLF.',
  ],
  [
    'CR alone in a header line',
    withHeader(`${NAME_A}\r\nX: y\rz`),
    ['refused', 'refused', 'a=x'],
    'we',
    'RFC 5322 §2.2.',
  ],
  [
    'NUL in a header line',
    withHeader(`${NAME_A}\r\nX: \0`),
    ['refused', 'refused', 'a=x'],
    'we',
    'RFC 5322 §2.2: printable characters.',
  ],
  [
    'a name in Latin-1',
    withParameters('name="\xe9"'),
    ['refused', '\ufffd=x', '\ufffd=x'],
    'we',
    'RFC 7578 §5.1: UTF-8. The others invent a name.',
  ],
  [
    'base64',
    withHeader(`${NAME_A}\r\nContent-Transfer-Encoding: base64`, 'eA=='),
    ['refused', 'a=eA==', 'a=eA=='],
    'we',
    'RFC 7578 §4.7: senders should not encode. Taken as it is, the text would be wrong.',
  ],
  [
    'a charset that is not UTF-8',
    withHeader(`${NAME_A}\r\nContent-Type: text/plain; charset=utf-16le`, 'x\0'),
    ['refused', 'a=x', 'a=x'],
    'both others',
    'RFC 7578 §4.5 allows it. We accept only UTF-8 and say so, rather than guess at names of charsets.',
  ],
  [
    'an unknown charset',
    withHeader(`${NAME_A}\r\nContent-Type: text/plain; charset=none`),
    ['refused', 'a=', 'a=x'],
    'we',
    'RFC 2046 §4.1.2. One of the others loses the text.',
  ],
];

/** Every judged form. */
export const JUDGED: readonly JudgedForm[] = ROWS.map(
  ([what, form, [ours, busboy, fastify], right, verdict]) => ({
    what,
    form,
    ours,
    busboy,
    fastify,
    verdict,
    right,
  }),
);
