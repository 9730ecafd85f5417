import type { Recipient } from '../domain/envelope.ts';
import type { Reply } from '../domain/outcome.ts';
import type { Returned } from './report-return.ts';

/** What a delivery status notification tells (RFC 3464). */

/** What is told of a recipient (RFC 3464 §2.3.3). */
export type ReportAction = 'failed' | 'delayed' | 'delivered' | 'relayed';

/** A recipient, and what became of its copy. */
export interface ReportedRecipient {
  readonly recipient: Pick<Recipient, 'address' | 'orcpt'>;
  readonly action: ReportAction;
  /** It was given up because it had waited too long. */
  readonly expired: boolean;
  /** The last reply; null when it was never tried. Hostile: a peer wrote it. */
  readonly reply: Reply | null;
  /** Who gave it; null when nobody was reached, or it is not known any more. */
  readonly host: string | null;
  /** Wall ms of the last attempt; null when it was never tried, or it is not known any more. */
  readonly triedAt: number | null;
  /** Wall ms until which it is tried; only told of those that are delayed. */
  readonly triedUntil: number;
}

/** A report on one message. */
export interface Report {
  /** The name of this server. */
  readonly hostname: string;
  /** The reverse-path of the message. */
  readonly to: string;
  /** Its own, with angle brackets. */
  readonly messageId: string;
  /** Wall ms. */
  readonly date: number;
  /** The id under which we keep the message, and when it came (wall ms). */
  readonly message: { readonly id: string; readonly envid: string | null; readonly arrivedAt: number };
  /** At least one; each address once. */
  readonly recipients: readonly ReportedRecipient[];
  readonly returned: Returned;
}
