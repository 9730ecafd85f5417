import type { BodyFlags, Content } from '../domain/message.ts';
import type { Reply } from '../domain/outcome.ts';
import type { Sliced } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { foldableWords, writeField } from './field.ts';
import { type Leaf, multipart, needsDotStuffing, writeMessage } from './part.ts';
import {
  deliveryStatus,
  type Report,
  type ReportAction,
  type ReportedRecipient,
  statusOf,
} from './report-parts.ts';
import { encodeText } from './text-body.ts';
import { formatDate } from './trace.ts';

/** Writes a report: the part for people, and the whole, as multipart/report (RFC 6522). */

/** Most recipients in the part for people; the part for programs has them all. */
const MAX_TOLD = 100;
const MAX_REPLY = 300;
const MAX_SUBJECT = 200;
/** Characters that end a line or steer a display. */
const UNSHOWN = /[\p{C}\p{Z}]+/gu;

const HEADINGS: Readonly<Record<ReportAction, string>> = {
  failed: 'Your message could not be delivered to these recipients, and will not be tried again:',
  delayed:
    'Your message has not been delivered to these recipients yet. It will be tried again automatically; you need not send it again:',
  relayed:
    'Your message was passed on for these recipients. The server that has it now does not confirm deliveries, so you will hear no more from us:',
  delivered: 'Your message was delivered to these recipients:',
};

/** Advice for the sender on a failure, by the beginning of its status (RFC 3463); the first match counts. */
const ADVICE: readonly (readonly [status: string, advice: string])[] = [
  ['5.1.8', 'Your own address was refused. Ask your mail administrator.'],
  ['5.1.7', 'Your own address was refused. Ask your mail administrator.'],
  ['5.1.10', 'This domain accepts no mail. Look for a typing error in the address.'],
  ['5.1.', 'Look for a typing error in the address, or ask the recipient for the right one.'],
  ['5.2.2', 'The mailbox is full. Tell the recipient in another way, and send the message again later.'],
  ['5.2.3', 'The message is too large for this mailbox. Send a link instead of an attachment.'],
  ['5.2.', 'The mailbox does not accept mail. Ask the recipient for another address.'],
  ['5.3.4', 'The message is too large. Send a link instead of an attachment.'],
  ['5.4.', 'The route to the recipient does not work. Ask your mail administrator.'],
  ['5.6.', 'The form of the message was refused. Send it in another form, such as plain text.'],
  [
    '5.7.',
    'The message was refused by a rule. What the other server said may tell which; if not, ask your mail administrator.',
  ],
  [
    '4.4.7',
    'The other side could not be reached, or deferred the message, for as long as a message may wait. Send it again later, or tell the recipient in another way.',
  ],
];

function reportSubject({ recipients }: Pick<Report, 'recipients'>): string {
  const actions = new Set(recipients.map(({ action }) => action));
  if (actions.has('failed')) return 'Your message could not be delivered';
  if (actions.has('delayed')) return 'Your message is delayed';
  return actions.has('relayed') ? 'Your message was passed on' : 'Your message was delivered';
}

/** The text, in any script; lines end in LF. */
function reportText(report: Report): string {
  const { hostname, message, returned, recipients } = report;
  const groups = (['failed', 'delayed', 'relayed', 'delivered'] as const).map((action) =>
    groupOf(
      action,
      recipients.filter((reported) => reported.action === action),
    ),
  );
  const about = [
    ...(returned.subject === '' ? [] : [`  Subject:   ${shown(returned.subject, MAX_SUBJECT)}`]),
    `  Received:  ${formatDate(message.arrivedAt)}`,
    `  Known as:  ${message.id}`,
  ];
  return [
    `This is the mail server ${hostname}.`,
    ...groups.filter((group) => group !== ''),
    `The message:\n\n${about.join('\n')}`,
    `This report was written by a program; nobody reads replies to it. Send questions to postmaster@${hostname}.\n`,
  ].join('\n\n');
}

function groupOf(action: ReportAction, recipients: readonly ReportedRecipient[]): string {
  if (recipients.length === 0) return '';
  const told = recipients.slice(0, MAX_TOLD).map(paragraphOf);
  const rest = recipients.length - told.length;
  if (rest > 0) told.push(`  and ${rest} more, which the attached delivery status names.`);
  return [HEADINGS[action], ...told].join('\n\n');
}

function paragraphOf(reported: ReportedRecipient): string {
  const { recipient, action, reply, host, triedUntil } = reported;
  const lines = [`  ${recipient.address}`];
  if (action === 'failed' || action === 'delayed') lines.push(`    ${saidOf(reply, host)}`);
  const advice = action === 'failed' ? adviceOn(statusOf(reported)) : null;
  if (advice !== null) lines.push(`    ${advice}`);
  if (action === 'delayed') lines.push(`    It is tried until ${formatDate(triedUntil)}.`);
  return lines.join('\n');
}

function saidOf(reply: Reply | null, host: string | null): string {
  if (reply === null) return 'There was no route for it.';
  const { code, enhanced, text } = reply;
  if (code === null) return `${shown(text, MAX_REPLY)}.`.replace(/\.\.$/, '.');
  const who = host === null ? 'The other server' : shown(host, MAX_REPLY);
  return `${who} said: ${shown([code, enhanced, text].filter((word) => word !== null).join(' '), MAX_REPLY)}`;
}

function adviceOn(status: string): string | null {
  return ADVICE.find(([beginning]) => status.startsWith(beginning))?.[1] ?? null;
}

/** Hostile text as one line. */
function shown(text: string, most: number): string {
  const line = text.replace(UNSHOWN, ' ').trim();
  return line.length <= most ? line : `${[...line].slice(0, most).join('')}…`;
}

// Writes delivery status notifications (RFC 3461, 3464, 6522; RFC 6533 for non-ASCII addresses).

/** A report, ready to be sent. */
export interface ComposedReport {
  readonly content: Content;
  /** As written in the header. */
  readonly from: string;
  readonly subject: string;
}

/** Random bytes of a boundary: no content matches it by chance. */
const BOUNDARY_BYTES = 16;
const ASCII = /^[\0-\x7f]*$/;

/**
 * Composes a report. Its body is always 7-bit; its header too, unless the sender's address is not ASCII, which makes it
 * SMTPUTF8. Works in slices on very many recipients.
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
    // RFC 3834 §5: automatic responders must not answer it.
    writeField('Auto-Submitted', ['auto-replied']) +
    'MIME-Version: 1.0\r\n'
  );
}

/** Occurs in none of the parts: the sender wrote what is returned, and a peer its reply. */
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
