/**
 * How a delivery ended, finer than its status (contract §4). A closed list; `partial` exists only for a
 * whole message and is derived.
 */
export type OutcomeName =
  | 'accepted'
  | 'captured'
  | 'rejected'
  | 'expired'
  | 'cancelled'
  | 'no_route'
  | 'unknown'
  | 'bounced';

/** What a next hop said, or what we say in its stead where it could not. */
export interface Reply {
  /** SMTP reply code (RFC 5321 §4.2) or HTTP status; null when the peer said nothing. */
  readonly code: number | null;
  /** Enhanced status code (RFC 3463), as given or the class's default; null when none applies. */
  readonly enhanced: string | null;
  /** Searchable code of our own for the cause: `smtp_reply`, `connect_refused`, `tls_failed`, … */
  readonly cause: string;
  /** The text, one line, at most 1,000 characters, secrets removed. Hostile: a peer wrote it. */
  readonly text: string;
}

/** A reply in short, without the peer's words: `auth_failed 535 5.7.8`. */
export function shortReply({ cause, code, enhanced }: Reply): string {
  return [cause, ...(code === null ? [] : [code, ...(enhanced === null ? [] : [enhanced])])].join(' ');
}

/**
 * What one attempt did for one recipient.
 * - `delivered`: the next hop took responsibility with a 2xx; `captured` when it is the local inbox.
 * - `deferred`: proven not taken; try again later.
 * - `rejected`: proven not taken and never will be.
 * - `unknown`: the connection ended after the final dot or the last body byte; the peer may have it.
 */
export type Outcome =
  | {
      readonly kind: 'delivered';
      readonly captured: boolean;
      readonly reply: Reply;
      readonly providerMessageId: string | null;
      /** The next hop took over reporting on it (RFC 3461 §5.2.1): it was given the DSN parameters. */
      readonly dsnPassed: boolean;
    }
  | {
      readonly kind: 'rejected';
      readonly reply: Reply;
      /**
       * It was not offered: the hop does not take mail of its form or size. Another may, whenever it can be sent to. Absent where the hop itself
       * refused it, or nobody would take it.
       */
      readonly hopBound?: true;
    }
  | {
      readonly kind: 'deferred';
      readonly reply: Reply;
      /** It was one recipient too many for one transaction, in which others were taken: it may be offered again at once. */
      readonly nextInLine?: true;
      /** It was said at RCPT, of this recipient alone: it says nothing of the hop (greylisting, a full mailbox). */
      readonly ofRecipient?: true;
    }
  | { readonly kind: 'unknown'; readonly reply: Reply };

/** Sorts an SMTP reply code to a RCPT or to the final dot into an outcome kind (RFC 5321 §4.2.1). */
export function outcomeOfReplyCode(code: number): 'delivered' | 'deferred' | 'rejected' {
  if (code >= 200 && code < 300) return 'delivered';
  if (code >= 500 && code < 600) return 'rejected';
  return 'deferred';
}

const MAX_REPLY_TEXT = 1000;

/** A reply of our own making, for a cause the peer did not put into words. */
export function localReply(cause: string, enhanced: string, text: string): Reply {
  return { code: null, enhanced, cause, text: text.slice(0, MAX_REPLY_TEXT) };
}
