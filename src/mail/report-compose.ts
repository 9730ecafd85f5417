import type { BodyFlags, Content } from '../domain/message.ts';
import type { Sliced } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { formatDate } from './date.ts';
import { foldableWords, writeField } from './field.ts';
import { type Leaf, multipart, needsDotStuffing, writeMessage } from './part.ts';
import type { Report } from './report.ts';
import { deliveryStatus } from './report-status.ts';
import { reportSubject, reportText } from './report-text.ts';
import { encodeText } from './transfer.ts';

/** Writing delivery status notifications (RFC 3461, 3464, 6522; RFC 6533 for addresses that are not ASCII). */

/** A report, ready to be sent. */
export interface ComposedReport {
  readonly content: Content;
  /** As they stand in the header. */
  readonly from: string;
  readonly subject: string;
}

/** Drawn for a boundary: enough that no content meets it by chance. */
const BOUNDARY_BYTES = 16;
const ASCII = /^[\0-\x7f]*$/;

/**
 * Composes a report. Its body is always 7-bit; its header too, unless the sender's address is not ASCII, which makes
 * it SMTPUTF8. In slices where it names very many recipients.
 */
export function* composeReport(report: Report, random: Random): Sliced<ComposedReport> {
  const from = `Mail delivery <MAILER-DAEMON@${report.hostname}>`;
  const subject = reportSubject(report);
  const { encoding, body } = yield* encodeText(reportText(report));
  const text: Leaf = {
    kind: 'leaf',
    fields: `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n`,
    body,
    dotStuffing: false,
  };
  const status: Leaf = {
    kind: 'leaf',
    fields: 'Content-Type: message/delivery-status\r\n',
    body: deliveryStatus(report),
    dotStuffing: false,
  };
  const { part } = report.returned;
  const leaves = part === null ? [text, status] : [text, status, part];
  const parameters = [['report-type', 'delivery-status']] as const;
  const root = multipart('report', leaves, boundaryFor(leaves, random), parameters);
  const chunks = writeMessage(headerOf(report, from, subject), root);
  const utf8 = !ASCII.test(report.to);
  const flags: BodyFlags = { eightBit: utf8, utf8, dotStuffing: needsDotStuffing(root) };
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { content: { chunks, sizeBytes, flags }, from, subject };
}

function headerOf(report: Report, from: string, subject: string): string {
  const { messageId: original } = report.returned;
  return (
    writeField('Date', [formatDate(report.date)]) +
    writeField('From', [from]) +
    writeField('To', [`<${report.to}>`]) +
    writeField('Subject', foldableWords(subject)) +
    writeField('Message-ID', [report.messageId]) +
    (original === null ? '' : writeField('In-Reply-To', [original]) + writeField('References', [original])) +
    // RFC 3834 §5: nobody's automatic answer must come back to it.
    writeField('Auto-Submitted', ['auto-replied']) +
    'MIME-Version: 1.0\r\n'
  );
}

/** One that stands in none of the parts: the sender wrote what is returned, and a peer its reply. */
function boundaryFor(leaves: readonly Leaf[], random: Random): string {
  for (;;) {
    const boundary = `=_${Buffer.from(random.fill(new Uint8Array(BOUNDARY_BYTES))).toString('hex')}`;
    if (!leaves.some(({ body }) => occursIn(body, boundary))) return boundary;
  }
}

function occursIn(body: Leaf['body'], boundary: string): boolean {
  if (typeof body === 'string') return body.includes(boundary);
  return body.some((piece) =>
    Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).includes(boundary),
  );
}
