import type { BodyFlags, Content } from '../domain/message.ts';
import { foldableWords, writeField } from './field.ts';
import { type Leaf, multipart, needsDotStuffing, writeMessage } from './part.ts';
import { formatDate } from './trace.ts';
import { encodeBase64 } from './transfer-encoding.ts';

/** Writes the message that carries a TLS report (RFC 8460 §5.3). */

/** What the message is made from. All of it is ASCII. */
export interface TlsReportMail {
  /** An address, whose domain must sign the message. */
  readonly from: string;
  readonly to: string;
  /** The domain that the report is about. */
  readonly domain: string;
  /** The name of whoever sends it. */
  readonly submitter: string;
  readonly reportId: string;
  /** With angle brackets. */
  readonly messageId: string;
  /** Wall ms. */
  readonly date: number;
  readonly fileName: string;
  /** The report, compressed by gzip. */
  readonly gzip: Uint8Array;
}

/** The message, and its subject. */
export function composeTlsReport(mail: TlsReportMail): {
  readonly content: Content;
  readonly subject: string;
} {
  const { domain, submitter, reportId, fileName } = mail;
  const subject = `Report Domain: ${domain} Submitter: ${submitter} Report-ID: <${reportId}>`;
  const text: Leaf = {
    kind: 'leaf',
    fields: 'Content-Type: text/plain; charset=us-ascii\r\nContent-Transfer-Encoding: 7bit\r\n',
    body: `This is a TLS report (RFC 8460) of ${submitter}\r\nabout mail to ${domain}.\r\n`,
    dotStuffing: false,
  };
  const file: Leaf = {
    kind: 'leaf',
    fields:
      'Content-Type: application/tlsrpt+gzip\r\nContent-Transfer-Encoding: base64\r\n' +
      `Content-Disposition: attachment;\r\n filename="${fileName}"\r\n`,
    body: [encodeBase64(mail.gzip)],
    dotStuffing: false,
  };
  // No line of base64, and none of the text, begins with two hyphens.
  const root = multipart('report', [text, file], '=_tls-report', [['report-type', 'tlsrpt']]);
  const chunks = writeMessage(headerOf(mail, subject), root);
  const flags: BodyFlags = { eightBit: false, utf8: false, dotStuffing: needsDotStuffing(root) };
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { content: { chunks, sizeBytes, flags }, subject };
}

function headerOf(mail: TlsReportMail, subject: string): string {
  return (
    writeField('Date', [formatDate(mail.date)]) +
    writeField('From', [mail.from]) +
    writeField('To', [mail.to]) +
    writeField('Subject', foldableWords(subject)) +
    writeField('Message-ID', [mail.messageId]) +
    writeField('TLS-Report-Domain', [mail.domain]) +
    writeField('TLS-Report-Submitter', [mail.submitter]) +
    // RFC 8689 §5: a report on broken TLS must not be lost to broken TLS.
    writeField('TLS-Required', ['No']) +
    writeField('Auto-Submitted', ['auto-generated']) +
    'MIME-Version: 1.0\r\n'
  );
}
