/**
 * What the API takes and gives, as plain types. A test holds them equal to the schemas that the server validates
 * and documents with. Times are RFC 3339 in UTC; a field that does not apply is absent, except where a shape is
 * constant and it is `null`.
 */

/** Where a message or a recipient stands; `delivered` and `failed` are final. */
export type MessageStatus = 'queued' | 'processing' | 'delivered' | 'retrying' | 'failed';

/** How a recipient ended. `unknown` is held: only a retry by hand leaves it. */
export type RecipientOutcome =
  | 'accepted'
  | 'captured'
  | 'rejected'
  | 'expired'
  | 'cancelled'
  | 'no_route'
  | 'unknown'
  | 'bounced';

/** How a message ended; `partial` when its recipients ended differently. */
export type MessageOutcome = RecipientOutcome | 'partial';

/** What a waiting recipient waits for. `turn`: it is due, and its relay has no room yet. */
export type WaitingFor =
  | 'scheduled'
  | 'backoff'
  | 'turn'
  | 'relay_resting'
  | 'relay_probing'
  | 'relay_spent'
  | 'relay_paused'
  | 'relay_disabled'
  | 'relay_missing'
  | 'no_route';

/** Which mail goes first where some has to wait. */
export type Priority = 'high' | 'normal' | 'bulk';

/** Which header field a recipient came from. */
export type RecipientType = 'to' | 'cc' | 'bcc';

/** A file of a {@link Submission}. */
export interface SubmissionAttachment {
  /** Name without a path. */
  readonly filename?: string | null | undefined;
  /** The bytes in base64. */
  readonly content: string;
  /** Media type; found from the name when absent. */
  readonly contentType?: string | null | undefined;
  /** Name by which HTML refers to it: `<img src="cid:…">`. */
  readonly contentId?: string | null | undefined;
  /** `attachment` (default) or `inline`. */
  readonly disposition?: string | null | undefined;
}

/** The body of a submission as the API takes it. `null` and empty equal absent. */
export interface Submission {
  /** One mailbox: `a@example.com` or `Name <a@example.com>`. */
  readonly from: string;
  /** An array of one mailbox each; a single string is an address list. At least one over to, cc and bcc. */
  readonly to?: string | readonly string[] | null | undefined;
  readonly cc?: string | readonly string[] | null | undefined;
  /** Gets the message, and appears nowhere in it. */
  readonly bcc?: string | readonly string[] | null | undefined;
  readonly subject?: string | null | undefined;
  /** At least one of text, html and attachments is needed. */
  readonly text?: string | null | undefined;
  readonly html?: string | null | undefined;
  /** Further header fields, such as `Reply-To`. */
  readonly headers?: Readonly<Record<string, string | null>> | null | undefined;
  readonly attachments?: readonly SubmissionAttachment[] | null | undefined;
  /** At most 10 words to find the message by. */
  readonly tags?: readonly string[] | null | undefined;
  /** Not before this time, at most 30 days ahead. */
  readonly sendAt?: string | null | undefined;
  /** At most 20 names and values, given back with the status; never in the mail. */
  readonly metadata?: Readonly<Record<string, string | null>> | null | undefined;
  readonly priority?: Priority | null | undefined;
  /** Check all of it, store and send nothing. */
  readonly dryRun?: boolean | null | undefined;
}

/** The answer to a message that was accepted: it is on stable storage now. */
export interface Receipt {
  readonly id: string;
  /** What happens next, in words: it is queued, or will only be captured. */
  readonly message: string;
  readonly status: 'queued';
}

/** The answer to a dry run. */
export interface Verdict {
  readonly dryRun: true;
  readonly message: string;
  /** It would only be captured in the local inbox. */
  readonly captured: boolean;
  /** Size of the message as it would be sent. */
  readonly sizeBytes: number;
  /** The envelope's sender. */
  readonly from: string;
  readonly recipients: readonly VerdictRecipient[];
}

/** The way one recipient's copy would take. */
export interface VerdictRecipient {
  readonly address: string;
  readonly type: RecipientType;
  /** `null`: there is no route, it would wait. */
  readonly relay: string | null;
  /** The rule that decided; `null` for the default relay. */
  readonly rule: string | null;
  /** `null` where nothing would be sent now. */
  readonly alignment: Alignment | null;
}

/** Whether a copy would align with the domain of its From, as DMARC asks, as far as names tell. */
export interface Alignment {
  readonly verdict: 'aligned' | 'not_aligned' | 'depends_on_provider';
  /** `by_provider`: the provider signs, not the server. */
  readonly dkim: 'aligned' | 'none' | 'by_provider';
  /** The domain that would sign; `null` where none of the server's would. */
  readonly dkimDomain: string | null;
  /** Whether the reverse-path aligns. Whether SPF passes is not looked at. */
  readonly spf: 'aligned' | 'not_aligned' | 'by_provider';
  /** `null` for the null reverse-path, and for the provider's own. */
  readonly spfDomain: string | null;
  /** How it stands, and what to do about it, in one sentence. */
  readonly detail: string;
}

/** One faulty field of a request. */
export interface FieldFault {
  /** JSON pointer (RFC 6901) to the field, such as `/to/1`. */
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** An error as the API tells it (RFC 9457). */
export interface Problem extends ItemProblem {
  /** Names this request in the server's log. */
  readonly requestId: string;
}

/** Why one message of a batch was refused. */
export interface ItemProblem {
  /** `urn:waybill:problem:` and the code. */
  readonly type: string;
  readonly title: string;
  /** The HTTP status that the message would have got by itself. */
  readonly status: number;
  readonly detail: string;
  /** What to tell errors apart by; stable. */
  readonly code: string;
  /** The detail, shortened. */
  readonly error: string;
  /** Every faulty field. */
  readonly errors: readonly FieldFault[];
}

/** A message of a batch that was accepted. */
export interface BatchAccepted extends Receipt {
  /** Its place in the batch, from 0. */
  readonly index: number;
}

/** A message of a batch that was refused. */
export interface BatchRefused {
  readonly index: number;
  readonly error: ItemProblem;
}

/** A message of a batch that was only to be checked. */
export interface BatchChecked {
  readonly index: number;
  readonly verdict: Verdict;
}

/** What became of one message of a batch; tell them apart with `'error' in item`. */
export type BatchItem = BatchAccepted | BatchRefused | BatchChecked;

/** The answer to a batch. */
export interface BatchReceipt {
  /** One for each message, in order. */
  readonly results: readonly BatchItem[];
}

/** The newest failed or deferred answer of a message. */
export interface LastError {
  readonly code: string;
  readonly class: 'transient' | 'permanent' | 'unknown';
  readonly message: string;
  readonly recipient: string;
  /** SMTP reply code or HTTP status; absent where the next hop said nothing. */
  readonly replyCode?: number;
  /** Enhanced status code (RFC 3463). */
  readonly enhancedCode?: string;
}

/** A message as lists show it. */
export interface MessageRecord {
  readonly id: string;
  readonly status: MessageStatus;
  /** What the next hop called it, when it said so. */
  readonly providerMessageId?: string;
  /** When the status last changed. */
  readonly timestamp: string;
  /** From acceptance, or `sendAt`, to the final outcome. */
  readonly durationMs?: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deliveredAt?: string;
  /** When it is really tried next; absent where nobody can tell. */
  readonly nextAttemptAt?: string;
  /** What the recipient that is next waits for; absent when none waits. */
  readonly waitingFor?: WaitingFor;
  readonly sendAt?: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  /** The header field Message-ID, with its angle brackets. */
  readonly messageId: string;
  /** The way it came in. */
  readonly source: 'api' | 'smtp' | 'cli' | 'report';
  /** Which mail goes first where not all may go at once. */
  readonly priority: Priority;
  readonly relay?: string;
  /** How often delivery was tried. */
  readonly attempts: number;
  /** How it ended; absent until every recipient has. */
  readonly outcome?: MessageOutcome;
  readonly lastError?: LastError;
  /** An attempt ended without our knowing whether the next hop took the message. */
  readonly possibleDuplicate?: true;
}

/** What became of one recipient. Its shape is constant. */
export interface RecipientRecord {
  readonly address: string;
  readonly type: RecipientType;
  readonly status: MessageStatus;
  readonly outcome: RecipientOutcome | null;
  readonly relay: string | null;
  readonly attempts: number;
  readonly providerMessageId: string | null;
  readonly lastCode: number | null;
  readonly lastEnhancedCode: string | null;
  /** The next hop's own words. */
  readonly lastReply: string | null;
  /** When it is really tried next: in the past for what is due and has not had its turn; `null` where nobody can tell. */
  readonly nextAttemptAt: string | null;
  /** `null` unless it waits. */
  readonly waitingFor: WaitingFor | null;
}

/** A message with its recipients. */
export interface StatusRecord extends MessageRecord {
  readonly recipients: readonly RecipientRecord[];
}

/** A page of a list. */
export interface MessagesPage {
  readonly messages: readonly MessageRecord[];
  readonly hasMore: boolean;
  /** Where the next page begins; absent on the last one. */
  readonly nextCursor?: string;
}

/** Where an attempt's time went; `null` for what did not happen, as with a reused connection. */
export interface AttemptTimings {
  /** From being due, or accepted, to the begin of the attempt. */
  readonly queueMs: number | null;
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From MAIL to the last answer to RCPT. */
  readonly mailMs: number | null;
  /** From DATA, or the first BDAT, to the final dot. */
  readonly transferMs: number | null;
  /** From the final dot to its answer. */
  readonly replyMs: number | null;
  readonly totalMs: number;
}

/** One step of the conversation with a next hop, secrets removed. */
export interface AttemptStep {
  readonly verb: string;
  readonly reply: string;
  /** Milliseconds since the attempt began. */
  readonly atMs: number;
}

/** A question to the DNS that an attempt was decided by, and its answer. */
export interface DnsLookup {
  readonly name: string;
  /** `MX`, `A`, `AAAA`, `TXT` or `TLSA`. */
  readonly type: string;
  /** `found`, `nodata`, `nxdomain`, or why nothing is known. */
  readonly result: string;
  /** Records as text, written by a stranger; not more than some. */
  readonly answers: readonly string[];
  /** The resolver vouches for it (DNSSEC). */
  readonly authenticated: boolean;
}

/** What was decided about the security of the way to a host, and why. */
export interface TransportSecurity {
  /**
   * `dane`: the certificate matches a TLSA record; `unverified`: encrypted only; `none`: in clear; `null`: no session
   * came about, so that no mail was sent.
   */
  readonly verdict: 'verified' | 'dane' | 'unverified' | 'none' | null;
  /** What the recipient's domain asks for by MTA-STS: `enforce`, `testing`, `none`; `null`: not looked at. */
  readonly mtaSts: string | null;
  /** What its TLSA records ask for: `usable`, `unusable`, `none`; `null`: not looked at. */
  readonly dane: string | null;
}

/** What an attempt did for one recipient. */
export interface AttemptResult {
  readonly recipient: string;
  readonly outcome: 'delivered' | 'deferred' | 'rejected' | 'unknown';
  readonly class: 'success' | 'transient' | 'permanent' | 'unknown';
  readonly code: number | null;
  readonly enhancedCode: string | null;
  readonly reply: string;
  readonly providerMessageId: string | null;
}

/** One try to hand a message to a next hop. */
export interface Attempt {
  /** From 1, oldest first. */
  readonly number: number;
  readonly startedAt: string;
  readonly relay: string;
  readonly host: string | null;
  readonly address: string | null;
  /** Our own address on the connection. */
  readonly localAddress: string | null;
  /** Protocol and cipher; `null` without TLS. */
  readonly tls: string | null;
  /** `null` when no connection came about, or the attempt is too old to tell. */
  readonly security: TransportSecurity | null;
  /** Empty where the system's resolver was asked. */
  readonly dns: readonly DnsLookup[];
  readonly reused: boolean;
  readonly timings: AttemptTimings;
  readonly steps: readonly AttemptStep[];
  readonly results: readonly AttemptResult[];
}

/** A page of a message's attempts. */
export interface AttemptsPage {
  readonly attempts: readonly Attempt[];
  readonly hasMore: boolean;
  /** Where the next page begins; absent on the last one. */
  readonly nextCursor?: string;
}
