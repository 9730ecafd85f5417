import type { MessageStatus } from './delivery.ts';
import type { Wait } from './next-try.ts';
import type { OutcomeName } from './outcome.ts';

/** Which waiting mail of a lane goes first, in this order. */
export const PRIORITIES = ['high', 'normal', 'bulk'] as const;

/** See {@link PRIORITIES}. */
export type Priority = (typeof PRIORITIES)[number];

/** The way a message came in; `report`: a delivery status notification that we wrote. */
export type Source = 'api' | 'smtp' | 'cli' | 'report';

/** What a hop must be able to take, found once when the contents are made (RFC 6152, RFC 6531). */
export interface BodyFlags {
  /** Some byte is over 127: needs 8BITMIME or a transform. */
  readonly eightBit: boolean;
  /** Some header or envelope address is not ASCII: needs SMTPUTF8. */
  readonly utf8: boolean;
  /** Some line begins with a dot: the bytes must be dot-stuffed when sent by DATA. */
  readonly dotStuffing: boolean;
}

/** The wire form of a message: CRLF lines, ending in CRLF, not dot-stuffed. The bytes never change again. */
export interface Content {
  readonly chunks: readonly Uint8Array[];
  readonly sizeBytes: number;
  readonly flags: BodyFlags;
}

/** Where the contents lie in the spool. Opaque but for `segment`, whose live messages the store counts. */
export interface ContentRef {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

/** The parts of the header that status, lists and search show. Display text, hostile like all content. */
export interface HeaderSummary {
  /** The From mailbox as written into the message. */
  readonly from: string;
  readonly subject: string;
  /** The Message-ID with its angle brackets. */
  readonly messageId: string;
}

/** Ties a submission to a client's key, so that a repeat gets the first answer (contract §2). */
export interface Idempotency {
  readonly key: string;
  /** Hash of the parsed submission, hex. */
  readonly hash: string;
}

/** For which author domains mail may be signed: `any`, these (by `maySendFrom`), or (none of them) no domain at all. */
export type SigningRights = 'any' | readonly string[];

/** What an ingress hands over, parsed and checked, before it is ours. */
export interface Submission {
  /** The id it is to have, where its own text names it: one that the intake gave for it. Else it gets one. */
  readonly id?: string;
  readonly envelope: Envelope;
  readonly content: Content;
  readonly header: HeaderSummary;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** Not before this wall time in ms; null means now. */
  readonly sendAt: number | null;
  readonly priority: Priority;
  readonly source: Source;
  /** The peer's address; null for the command line. */
  readonly sourceAddress: string | null;
  /** The request that brought it, for the log; null when there was none. */
  readonly requestId: string | null;
  /** The API key that submitted it; null for the command line and unauthenticated sources. */
  readonly keyId: string | null;
  /** That key's name, by which rules of routing know it; null without a key. */
  readonly keyName: string | null;
  /**
   * A delivery status notification may go to its reverse-path (contract §11): it came in over SMTP, from a sender whose
   * key or named source is bound by name to the reverse-path's domain.
   */
  readonly reportable: boolean;
  /** Which domains it may be signed for: those that whoever submitted it may send from. */
  readonly signing: SigningRights;
  /** A test key's mail: captured by the local inbox whatever the routes say, and never leaves. */
  readonly test: boolean;
  readonly idempotency: Idempotency | null;
  /** By this relay alone, whatever the rules say, as an operator wants; a test key's mail is captured all the same. */
  readonly via?: string;
}

/** An accepted message as it is read back, without its recipients' detail. Times are wall ms. */
export interface MessageRecord {
  readonly id: string;
  readonly keyId: string | null;
  readonly status: MessageStatus;
  /** Finer than status; null until every recipient has ended. `partial` for mixed ends. */
  readonly outcome: OutcomeName | 'partial' | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When `status` last changed. */
  readonly statusAt: number;
  /** When the last recipient became final; null before. */
  readonly finalAt: number | null;
  /** When the first recipient was delivered. */
  readonly deliveredAt: number | null;
  /** What waits, one for each lane: what comes due there first. Empty when no recipient waits. */
  readonly waits: readonly Wait[];
  readonly sendAt: number | null;
  readonly expiresAt: number;
  readonly envelopeFrom: string;
  readonly header: HeaderSummary;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  readonly flags: BodyFlags;
  readonly priority: Priority;
  readonly source: Source;
  readonly test: boolean;
  /** The first delivered recipient's relay, else the first recipient's. */
  readonly relay: string | null;
  readonly providerMessageId: string | null;
  /** Number of attempt records. */
  readonly attempts: number;
  readonly lastError: LastError | null;
  /** Null once retention has removed the contents. */
  readonly content: ContentRef | null;
  /** An attempt ended without our knowing whether the peer took it (contract §4, design §7). */
  readonly possibleDuplicate: boolean;
}

/** The newest failed or deferred answer of a message. */
export interface LastError {
  readonly code: string;
  readonly class: 'transient' | 'permanent' | 'unknown';
  readonly message: string;
  readonly recipient: string;
  /** As in the recipient's last reply: SMTP reply code or HTTP status. Absent where the peer gave none. */
  readonly replyCode?: number;
  /** Enhanced status code (RFC 3463); absent where none applies. */
  readonly enhancedCode?: string;
}

/** 1 to 128 characters, none of them a control, a line end or half a surrogate pair. */
const TAG = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,128}$/u;

/** Whether text may be a tag, the word that senders group their messages by (contract §2). */
export function isTag(text: string): boolean {
  return TAG.test(text);
}

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
