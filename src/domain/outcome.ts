/**
 * How a delivery ended, finer than its status (contract §4). A closed list; `partial` exists only for a whole message
 * and is derived.
 */
export type OutcomeName =
  | 'accepted'
  | 'captured'
  | 'rejected'
  | 'expired'
  | 'cancelled'
  | 'no_route'
  | 'unknown'
  | 'bounced'
  | 'suppressed';

/** A next hop's reply, or ours in its place if it gave none. */
export interface Reply {
  /** SMTP reply code (RFC 5321 §4.2) or HTTP status; null if the peer said nothing. */
  readonly code: number | null;
  /** Enhanced status code (RFC 3463), as given or the class's default; null if none applies. */
  readonly enhanced: string | null;
  /** Our own searchable code for the cause: `smtp_reply`, `connect_refused`, `tls_failed`, … */
  readonly cause: string;
  /** The text, one line, at most 1,000 characters, secrets removed. Hostile: written by a peer. */
  readonly text: string;
}

/** A reply in short, without the peer's words: `auth_failed 535 5.7.8`. */
export function shortReply({ cause, code, enhanced }: Reply): string {
  return [cause, ...(code === null ? [] : [code, ...(enhanced === null ? [] : [enhanced])])].join(' ');
}

/**
 * What one attempt did for one recipient.
 * - `delivered`: the next hop took responsibility with a 2xx; `captured` if it is the local inbox.
 * - `deferred`: proved not taken; try again later.
 * - `rejected`: proved not taken, and it never will be.
 * - `unknown`: the connection ended after the final dot or the last body byte; the peer may have it.
 */
export type Outcome =
  | {
      readonly kind: 'delivered';
      readonly captured: boolean;
      readonly reply: Reply;
      readonly providerMessageId: string | null;
      /** The next hop got the DSN parameters, and reports on it from now on (RFC 3461 §5.2.1). */
      readonly dsnPassed: boolean;
    }
  | {
      readonly kind: 'rejected';
      readonly reply: Reply;
      /**
       * It was not offered: the hop does not take mail of its form or size, but another may. Absent if the hop itself
       * refused it, or no hop would take it.
       */
      readonly hopBound?: true;
    }
  | {
      readonly kind: 'deferred';
      readonly reply: Reply;
      /**
       * It was one recipient too many for a transaction in which others were taken: it may be offered again at once.
       */
      readonly nextInLine?: true;
      /**
       * It was the reply to RCPT for this recipient alone, and says nothing about the hop (greylisting, a full
       * mailbox).
       */
      readonly ofRecipient?: true;
    }
  | { readonly kind: 'unknown'; readonly reply: Reply };

/** The outcome kind of an SMTP reply code to RCPT or to the final dot (RFC 5321 §4.2.1). */
export function outcomeOfReplyCode(code: number): 'delivered' | 'deferred' | 'rejected' {
  if (code >= 200 && code < 300) return 'delivered';
  if (code >= 500 && code < 600) return 'rejected';
  return 'deferred';
}

const MAX_REPLY_TEXT = 1000;

/** A reply of our own, for a cause without a peer's reply. */
export function localReply(cause: string, enhanced: string, text: string): Reply {
  return { code: null, enhanced, cause, text: text.slice(0, MAX_REPLY_TEXT) };
}
