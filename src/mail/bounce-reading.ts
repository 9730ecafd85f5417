import { isAutomaticReply, isDaemon } from './automatic-mail.ts';
import { type DeliveryStatus, type RecipientStatus, readDeliveryStatus } from './delivery-status.ts';
import { fieldValue } from './header-block.ts';
import { inlineHeader, plainText, readPlainBounce } from './plain-bounce.ts';
import { parameterOf, type ReportPart, type ReturnedHeader, returnedHeader } from './report-reading.ts';

/** Reads what comes to the return path of a message: bounces in all forms, and automatic replies. */

/** What came. Everything in it is hostile text: anyone who knows the return path may have written it. */
export type BounceReading = {
  /** The header of the message that it is about, if it returns one. */
  readonly returned: ReturnedHeader | null;
} & (
  | ({ readonly kind: 'dsn' } & DeliveryStatus)
  | {
      /** A bounce in words. */
      readonly kind: 'bounce';
      /** Those that are named; otherwise one status that names nobody. Each action is `failed` or `delayed`. */
      readonly recipients: readonly RecipientStatus[];
    }
  /** Sent by a program for somebody: an absence, a receipt. */
  | { readonly kind: 'reply' }
  | { readonly kind: 'undetermined' }
);

const STATUS_TYPES: ReadonlySet<string> = new Set([
  'message/delivery-status',
  'message/global-delivery-status',
]);

/**
 * Reads the parts of a message that came to a return path. `reversePath` is its own reverse-path, '' for the null one; null if that
 * is not known, as of a mailbox that is piped. Never throws.
 */
export function readBounce(parts: readonly ReportPart[], reversePath: string | null): BounceReading {
  const found = deliveryStatusIn(parts);
  if (found !== null) {
    const [status, level] = found;
    return { kind: 'dsn', ...status, returned: returnedHeader(parts, level) };
  }
  const fields = parts[0]?.fields ?? [];
  const text = plainText(parts);
  const returned = returnedHeader(parts, 0) ?? inlineHeader(text);
  // Bounces call themselves automatic replies, too; and a reply in somebody's name may contain any number.
  const isFromServer = isDaemon(fieldValue(fields, 'from') ?? '');
  const isReply = !isFromServer && (isAutomaticReply(fields) || isReceipt(parts));
  const mayBounce = isFromServer || isServerPath(reversePath ?? fieldValue(fields, 'return-path'));
  const recipients = mayBounce ? readPlainBounce(fields, text, !isReply) : [];
  if (recipients.length > 0) return { kind: 'bounce', recipients, returned };
  return { kind: isReply ? 'reply' : 'undetermined', returned };
}

/** The first delivery status of the message itself, else of a message inside it: somebody forwarded that one. */
function deliveryStatusIn(parts: readonly ReportPart[]): readonly [DeliveryStatus, level: number] | null {
  const mislabelled = parts[0] !== undefined && isStatusReport(parts[0]);
  const candidates = parts
    .filter(({ type, level }) => STATUS_TYPES.has(type) || (mislabelled && level === 0 && isPlain(type)))
    .toSorted((a, b) => a.level - b.level || Number(isPlain(a.type)) - Number(isPlain(b.type)));
  for (const { body, level } of candidates) {
    const status = readDeliveryStatus(body);
    if (status !== null) return [status, level];
  }
  return null;
}

function isStatusReport(part: ReportPart): boolean {
  const reportType = parameterOf(part, 'report-type')?.toLowerCase();
  return part.type === 'multipart/report' && reportType === 'delivery-status';
}

/** As gateways rename a delivery status. */
function isPlain(type: string): boolean {
  return type === 'text/plain' || type === 'application/octet-stream';
}

/** Tells whether it was read (RFC 8098). */
function isReceipt([root]: readonly ReportPart[]): boolean {
  return root !== undefined && parameterOf(root, 'report-type')?.toLowerCase() === 'disposition-notification';
}

function isServerPath(path: string | null): boolean {
  const bare = path?.trim().replace(/^<(.*)>$/, '$1');
  return bare !== undefined && (bare === '' || isDaemon(bare));
}
