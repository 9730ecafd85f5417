/** How a recipient was addressed. All three reach the envelope; `bcc` never appears in the message. */
export type RecipientKind = 'to' | 'cc' | 'bcc';

/** One forward-path with its delivery-status options (RFC 5321 §4.1.1.3, RFC 3461 §4). */
export interface Recipient {
  /** What RCPT TO carries, without the angle brackets: exactly what was accepted. */
  readonly address: string;
  readonly kind: RecipientKind;
  /** RFC 3461 NOTIFY as given (`NEVER` or a comma list); null when not given. */
  readonly notify: string | null;
  /** RFC 3461 ORCPT as given, still xtext; null when not given. */
  readonly orcpt: string | null;
}

/** What SMTP carries about a message, as opposed to what the message says (RFC 5598 §4). Never headers. */
export interface Envelope {
  /** MAIL FROM without the angle brackets; '' is the null reverse-path. */
  readonly reversePath: string;
  /** Each address once, in the order of submission; at least one. */
  readonly recipients: readonly Recipient[];
  /** RFC 3461 RET: return full message or headers in a failure report; null when not given. */
  readonly ret: 'FULL' | 'HDRS' | null;
  /** RFC 3461 ENVID as given, still xtext; null when not given. */
  readonly envid: string | null;
}
