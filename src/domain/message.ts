import type { MessageStatus } from './delivery.ts';
import type { ProviderName } from './drop-in.ts';
import type { Wait } from './next-try.ts';
import type { OutcomeName } from './outcome.ts';

/** The order in which waiting mail of a lane goes. */
export const PRIORITIES = ['high', 'normal', 'bulk'] as const;

/** See {@link PRIORITIES}. */
export type Priority = (typeof PRIORITIES)[number];

/** How a message came in; `report`: a delivery status notification, or a TLS report of ours. */
export type Source = 'api' | 'smtp' | 'cli' | 'report';

/**
 * What a sender demands of the way (RFC 8689).
 * - `required`: REQUIRETLS. Only a hop that is authenticated, and promises the same for the rest of the way, gets it.
 * - `optional`: `TLS-Required: No`. It goes even where the recipient's domain (DANE, MTA-STS) would keep it back.
 */
export type TlsDemand = 'required' | 'optional';

/**
 * Whether the next hop must promise TLS for the rest of the way. Mail without a sender goes without the promise: it should
 * not be lost (RFC 8689 §5).
 */
export function mustPromiseTls(tls: TlsDemand | null | undefined, reversePath: string): boolean {
  return tls === 'required' && reversePath !== '';
}

/** What a hop must support, determined once when the contents are made (RFC 6152, RFC 6531). */
export interface BodyFlags {
  /** Some byte is above 127: needs 8BITMIME or a conversion. */
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

/** Contents above this size are large. */
const LARGE_CONTENT_BYTES = 1024 * 1024;

/** Whether contents of this size are large: they go to the disk in a turn of their own, and do not wait in memory. */
export function isLarge(sizeBytes: number): boolean {
  return sizeBytes > LARGE_CONTENT_BYTES;
}

/** Whether nobody needs the contents in memory once they are accepted: they are large, and the same for all. */
export function isReadBack({ content, copies }: Pick<Submission, 'content' | 'copies'>): boolean {
  return isLarge(content.sizeBytes) && copies === undefined;
}

/** The place of the contents in the spool. Opaque except for `segment`, whose live messages the store counts. */
export interface ContentRef {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

/** A part of contents: one recipient's copy, where each recipient has a copy of its own, one after another. */
export interface ContentPart {
  /** Bytes of the contents before it. */
  readonly start: number;
  readonly length: number;
  /** CRC-32 of its bytes. */
  readonly checksum: number;
}

/** The header fields that status, lists and search show. Display text, hostile like all content. */
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

/** The author domains for which mail may be signed: `any`, these (by `maySendFrom`), or (an empty list) none. */
export type SigningRights = 'any' | readonly string[];

/** What an ingress submits, parsed and checked, before we accept it. */
export interface Submission {
  /** The message's id, if its text contains it: one from the intake's `newId`. Otherwise it gets one. */
  readonly id?: string;
  readonly envelope: Envelope;
  readonly content: Content;
  /** The length of each recipient's copy, in envelope order, if the content is one copy for each; else absent. */
  readonly copies?: readonly number[];
  readonly header: HeaderSummary;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** Not before this wall time in ms; null means now. */
  readonly sendAt: number | null;
  readonly priority: Priority;
  readonly source: Source;
  /** The provider whose API it came through; absent: none. */
  readonly door?: ProviderName;
  /** The box that it is captured in (domain/box.ts); absent: none. */
  readonly box?: string;
  /** The peer's address; null for the command line. */
  readonly sourceAddress: string | null;
  /** The request that brought it, for the log; null if there was none. */
  readonly requestId: string | null;
  /** The API key that submitted it; null for the command line and unauthenticated sources. */
  readonly keyId: string | null;
  /** That key's name, which routing rules use; null without a key. */
  readonly keyName: string | null;
  /**
   * A delivery status notification may go to its reverse-path (contract §11): it arrived over SMTP, from a sender whose
   * key or named source is restricted to the reverse-path's domain.
   */
  readonly reportable: boolean;
  /** What the suppression list knows the mail by, in the form of `streamKey`; null: it belongs to no stream. */
  readonly stream: string | null;
  /** Only complaints stop it (`suppression: "ignore"`, contract-2 §A5). */
  readonly ignoresSuppression: boolean;
  /** The domains it may be signed for: those that its submitter may send from. */
  readonly signing: SigningRights;
  /** A test key's mail: always captured by the local inbox, whatever the routes say, and never sent. */
  readonly test: boolean;
  readonly idempotency: Idempotency | null;
  /** Absent: none. */
  readonly tls?: TlsDemand;
  /** An operator's choice of relay, whatever the rules say; a test key's mail is captured all the same. */
  readonly via?: string;
}

/** What a message of the server's own says for itself. */
export interface OwnMessage {
  /** See {@link Submission.id}. */
  readonly id: string;
  readonly recipients: readonly string[];
  /** Whether a notification may be asked of later hops (RFC 3461 §4.1); null: nothing is said. */
  readonly notify: Recipient['notify'];
  readonly header: HeaderSummary;
  readonly content: Content;
  readonly priority: Priority;
  readonly tags?: readonly string[];
  /** The only relay that it goes by; absent: the rules choose. */
  readonly via?: string;
}

/**
 * A message of the server's own: a report or an alert. It has the null reverse-path, so that no report is ever sent about
 * one (RFC 3461 §5.2), and belongs to no key: no key lists it or is charged for it.
 */
export function ownSubmission(own: OwnMessage): Submission {
  const { id, recipients, notify, header, content, priority, tags = [], via } = own;
  return {
    id,
    envelope: {
      reversePath: '',
      recipients: recipients.map((address) => ({ address, kind: 'to', notify, orcpt: null })),
      ret: null,
      envid: null,
    },
    content,
    header,
    tags,
    metadata: {},
    sendAt: null,
    priority,
    source: 'report',
    sourceAddress: null,
    requestId: null,
    keyId: null,
    keyName: null,
    reportable: false,
    stream: null,
    ignoresSuppression: false,
    signing: 'any',
    test: false,
    idempotency: null,
    ...(via === undefined ? {} : { via }),
  };
}

/** Marks a message of the server's own that holds a link by which a user chooses a password. */
export const INVITATION_TAG = 'invitation';

/** Whether a message is such an invitation. What others submit never is, whatever its tags. */
export function isInvitation({ source, tags }: Pick<MessageRecord, 'source' | 'tags'>): boolean {
  return source === 'report' && tags.includes(INVITATION_TAG);
}

/** An accepted message as read back, without details of its recipients. Times are wall ms. */
export interface MessageRecord {
  readonly id: string;
  readonly keyId: string | null;
  readonly status: MessageStatus;
  /** Finer than status; null until every recipient is final. `partial` if their outcomes differ. */
  readonly outcome: OutcomeName | 'partial' | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When `status` last changed. */
  readonly statusAt: number;
  /** When the last recipient became final; null before. */
  readonly finalAt: number | null;
  /** When the first recipient was delivered. */
  readonly deliveredAt: number | null;
  /** What waits, one entry per lane: what comes due there first. Empty if no recipient waits. */
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
  /** Of all copies together. */
  readonly sizeBytes: number;
  readonly flags: BodyFlags;
  /** Null: none. */
  readonly tls: TlsDemand | null;
  readonly priority: Priority;
  readonly source: Source;
  /** The provider whose API it came through. */
  readonly door: ProviderName | null;
  /** The box that it is captured in (domain/box.ts); null: none. */
  readonly box: string | null;
  readonly test: boolean;
  /** The first delivered recipient's relay, else the first recipient's. */
  readonly relay: string | null;
  readonly providerMessageId: string | null;
  /** Number of attempt records. */
  readonly attempts: number;
  readonly lastError: LastError | null;
  /** Null once retention has removed the contents. */
  readonly content: ContentRef | null;
  /** Each recipient's copy, in envelope order; null: all have the same contents. */
  readonly copies: readonly ContentPart[] | null;
  /** An attempt ended without our knowing whether the peer took the message (contract §4, design §7). */
  readonly possibleDuplicate: boolean;
  /** Of captured mail: whether a test has read it. */
  readonly inboxRead: boolean;
  /** Of captured mail: what was put in the place of its tags, there alone; null: nothing. */
  readonly inboxTags: readonly string[] | null;
}

/**
 * Whether a final message lies in the inbox, as long as its contents are kept: it was captured. A test key's mail is there
 * once anybody got it, whatever else became of it.
 */
export function isInInbox({
  test,
  outcome,
  deliveredAt,
}: Pick<MessageRecord, 'test' | 'outcome' | 'deliveredAt'>): boolean {
  return test ? deliveredAt !== null : outcome === 'captured';
}

/** The newest failed or deferred reply of a message. */
export interface LastError {
  readonly code: string;
  readonly class: 'transient' | 'permanent' | 'unknown';
  readonly message: string;
  readonly recipient: string;
  /** As in the recipient's last reply: SMTP reply code or HTTP status. Absent if the peer gave none. */
  readonly replyCode?: number;
  /** Enhanced status code (RFC 3463); absent where none applies. */
  readonly enhancedCode?: string;
}

/** 1 to 128 characters, without control characters, line ends and lone surrogates. */
const TAG = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,128}$/u;

/** Whether text may be a tag, by which senders group their messages (contract §2). */
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
  /** RFC 3461 NOTIFY as given (`NEVER` or a comma list); null if not given. */
  readonly notify: string | null;
  /** RFC 3461 ORCPT as given, still xtext; null if not given. */
  readonly orcpt: string | null;
}

/** What SMTP carries about a message, as opposed to the message itself (RFC 5598 §4). Never headers. */
export interface Envelope {
  /** MAIL FROM without the angle brackets; '' is the null reverse-path. */
  readonly reversePath: string;
  /** Each address once, in the order of submission; at least one. */
  readonly recipients: readonly Recipient[];
  /** RFC 3461 RET: return the full message or the headers in a failure report; null if not given. */
  readonly ret: 'FULL' | 'HDRS' | null;
  /** RFC 3461 ENVID as given, still xtext; null if not given. */
  readonly envid: string | null;
}
