// biome-ignore-all format: it is generated
/**
 * What the API takes and gives: made by `node tools/client-types.ts` from the server's schemas. Times are RFC 3339 in
 * UTC. What does not apply is absent from an answer, or `null`; in what is sent, `null` equals absent.
 */

/** How a message ended; `partial` if its recipients ended differently. */
export type MessageOutcome = 'accepted' | 'captured' | 'rejected' | 'expired' | 'cancelled' | 'no_route' | 'unknown' | 'bounced' | 'suppressed' | 'partial';

/**
 * `scheduled`: its `sendAt`; `backoff`: the pause after an attempt; `turn`: it is due, and its relay has no room yet;
 * `relay_resting`: the next hop failed, and delivery pauses; `relay_probing`: single attempts test whether it works
 * again; `relay_spent`: the relay has used up its allowance for today (UTC); `relay_paused`: an operator holds the
 * relay, or its lane; `relay_disabled`, `relay_missing`: the relay is disabled, or does not exist; `no_route`: no relay
 * may carry it.
 */
export type WaitingFor = 'scheduled' | 'backoff' | 'turn' | 'relay_resting' | 'relay_probing' | 'relay_spent' | 'relay_paused' | 'relay_disabled' | 'relay_missing' | 'no_route';

/** Which mail is sent first when not all can be sent at once. */
export type Priority = 'high' | 'normal' | 'bulk';

/** Which header field a recipient came from. */
export type RecipientType = 'to' | 'cc' | 'bcc';

/** A message to be sent. null and empty lists, texts and objects equal absent ones. */
export interface Submission {
  /** The sender, exactly one mailbox: `a@example.com` or `Name <a@example.com>`. */
  readonly from: string;
  /**
   * Recipients. At least one in to, cc and bcc together; at most `api.max_recipients` (default 1000). An array with one
   * mailbox each, or one address list.
   */
  readonly to?: string | readonly string[] | null | undefined;
  /** Recipients of a copy. An array with one mailbox each, or one address list. */
  readonly cc?: string | readonly string[] | null | undefined;
  /** Recipients that the message does not show. An array with one mailbox each, or one address list. */
  readonly bcc?: string | readonly string[] | null | undefined;
  /** At most 2,000 characters; may be empty. */
  readonly subject?: string | null | undefined;
  /** The body as plain text. At least one of text, html and attachments is required. */
  readonly text?: string | null | undefined;
  /** The body as HTML. */
  readonly html?: string | null | undefined;
  /**
   * The alias or id of a template whose published version says what the message says; not beside subject, text and
   * html. It is rendered at acceptance.
   */
  readonly template?: string | null | undefined;
  /** The values for the names in the template. A name without a value refuses the message. */
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  /**
   * Header fields by name, as text without line breaks. At most `api.max_headers` (default 50) and
   * `api.max_header_bytes` (default 65536). Fields that Waybill writes itself (From, Subject, Content-*, Received, …)
   * are refused by name.
   */
  readonly headers?: Readonly<Record<string, string | null>> | null | undefined;
  /**
   * At most `api.max_attachments` (default 500). The message as sent and the body as received may each have
   * `api.max_message_bytes` (default 26214400); base64 makes attachments grow by 37 %.
   */
  readonly attachments?: readonly SubmissionAttachment[] | null | undefined;
  /**
   * For finding messages, never in the mail: at most `api.max_tags` (default 10), of 1 to 128 printable characters.
   */
  readonly tags?: readonly string[] | null | undefined;
  /** Not before this time (RFC 3339), at most 30 days ahead. A past time means now. */
  readonly sendAt?: string | null | undefined;
  /**
   * Your own names and values: at most `api.max_metadata` (default 20), names of 1 to 64 of `A-Z a-z 0-9 _ . -`, values
   * up to 4,096 bytes. They are returned with the status, never sent in the mail.
   */
  readonly metadata?: Readonly<Record<string, string | null>> | null | undefined;
  /** `high`, `normal` (default) or `bulk`: which waiting mail goes first. */
  readonly priority?: Priority | null | undefined;
  /**
   * What this mail belongs to, such as a newsletter: an entry of the suppression list may stop one stream alone. Up to
   * 255 characters, compared without regard to case; never in the mail. Without it, the List-ID header counts.
   */
  readonly stream?: string | null | undefined;
  /**
   * `ignore`: send to suppressed addresses, too, but for those that complained. Needs the scope `suppressions:write`.
   */
  readonly suppression?: 'ignore' | null | undefined;
  /**
   * Lets recipients unsubscribe from a stream with one click (RFC 8058). Each gets a copy of its own, with
   * List-Unsubscribe, List-Unsubscribe-Post and List-ID, and with its link in place of `%unsubscribe_url%` in text and
   * html. `api.max_message_bytes` holds for all copies together. Needs `server.public_url` with https, and a key that
   * signs for the domain of From.
   */
  readonly unsubscribe?: SubmissionUnsubscribe | null | undefined;
  /**
   * Sets captured mail apart, so that tests which run at the same time can share a test key: the inbox lists and waits
   * by box. 1 to 64 characters of `a-z 0-9 . _ -`; never in the mail. The header `X-Waybill-Box` says the same.
   */
  readonly box?: string | null | undefined;
  /**
   * REQUIRETLS (RFC 8689): the message goes only to servers that prove who they are, encrypt, and promise the same for
   * the rest of the way; else it fails. The header `TLS-Required: No` asks for the opposite.
   */
  readonly requireTls?: boolean | null | undefined;
  /** Check everything, store and send nothing; the answer is 200 with the verdict. */
  readonly dryRun?: boolean | null | undefined;
}

/** A file that goes with a message. */
export interface SubmissionAttachment {
  /** A file name without a path. */
  readonly filename?: string | null | undefined;
  /** The bytes in base64, with padding and without line breaks. */
  readonly content: string;
  /** Media type; `application/octet-stream` when absent. */
  readonly contentType?: string | null | undefined;
  /** Name by which the HTML refers to it, as in `cid:logo`; without angle brackets. */
  readonly contentId?: string | null | undefined;
  /** `attachment` (default) or `inline`. */
  readonly disposition?: 'attachment' | 'inline' | null | undefined;
}

/** What recipients can unsubscribe from with one click. */
export interface SubmissionUnsubscribe {
  /** The stream, and the beginning of the List-ID: `news` becomes `<news.example.com>`. */
  readonly stream: string;
}

/**
 * The status of a message or a recipient. `delivered` and `failed` are final. A message is `processing` if a recipient
 * is, otherwise `retrying` or `queued` in the same way; `delivered` only if every recipient is.
 */
export type MessageStatus = 'queued' | 'processing' | 'delivered' | 'retrying' | 'failed';

/**
 * How a recipient ended: `accepted` by the next hop, `captured` locally, `rejected` permanently, `expired`,
 * `cancelled`, `no_route`, `unknown` (held: the next hop may have it), `bounced` after delivery (see `bounce`),
 * `suppressed`: not tried, because of the suppression list.
 */
export type RecipientOutcome = 'accepted' | 'captured' | 'rejected' | 'expired' | 'cancelled' | 'no_route' | 'unknown' | 'bounced' | 'suppressed';

/** The message is on stable storage. */
export interface Receipt {
  /** `msg_` and 26 characters. Ids sort by the time of acceptance. */
  readonly id: string;
  /** For people: queued, or only captured locally. */
  readonly message: string;
  readonly status: 'queued';
  /** Recipients to whom nothing is sent, because of the suppression list. Absent if there are none. */
  readonly suppressed?: readonly string[];
}

/** The submission is valid. Nothing was stored, nothing will be sent. */
export interface Verdict {
  readonly dryRun: true;
  readonly message: string;
  /** It would only be captured locally. */
  readonly captured: boolean;
  /** Size of the message as it would be sent. */
  readonly sizeBytes: number;
  /** The envelope’s sender. */
  readonly from: string;
  /** Recipients to whom nothing would be sent, because of the suppression list. Absent if there are none. */
  readonly suppressed?: readonly string[];
  readonly recipients: readonly VerdictRecipient[];
  /** What may keep it from being delivered, or from being read as it was meant, the worst first; at most 100. */
  readonly findings: readonly Finding[];
}

/** How one recipient’s copy would be sent. All members are always present. */
export interface VerdictRecipient {
  readonly address: string;
  readonly type: RecipientType;
  /** The relay that would be tried first; null: it would wait for a route. */
  readonly relay: string | null;
  /** The routing rule that decided; null for the default relay. */
  readonly rule: string | null;
  /** Null if nothing would be sent now. */
  readonly alignment: Alignment | null;
}

/** Whether a copy would align with the domain of its From, as DMARC asks. */
export interface Alignment {
  /** `aligned` if a signature or the reverse-path aligns, judged by names alone. */
  readonly verdict: 'aligned' | 'not_aligned' | 'depends_on_provider';
  /** Whether our signature would align; `by_provider`: the provider signs instead. */
  readonly dkim: 'aligned' | 'none' | 'by_provider';
  /** The signing domain; null if we would not sign. */
  readonly dkimDomain: string | null;
  /** Whether the reverse-path aligns; whether SPF passes is not checked. */
  readonly spf: 'aligned' | 'not_aligned' | 'by_provider';
  /** The domain that SPF would check; null for the null reverse-path, and for the provider’s own. */
  readonly spfDomain: string | null;
  /** The verdict, and what to do about it, in one sentence. */
  readonly detail: string;
}

/** Something that may keep a message from being delivered, or from being read as it was meant. */
export interface Finding {
  /** A stable name; docs/preflight has a page of it. */
  readonly code: string;
  /** `error`: it will fail, or reach people broken; `warning`: for many of them; `hint`: for some. */
  readonly severity: 'error' | 'warning' | 'hint';
  /**
   * What it is about: a JSON pointer of the request, such as `/subject`; a field of the header, such as
   * `header:Reply-To`; or empty for the whole. With a line where that helps: `/html#L12`.
   */
  readonly where: string;
  /** What was found. May quote the message: show it as plain text only. */
  readonly detail: string;
  /** What to do about it. */
  readonly fix: string;
}

/** The result for each message of a batch. */
export interface BatchReceipt {
  /** One for each message, in order. */
  readonly results: readonly BatchItem[];
}

/** What became of one message: `error` says that it was refused, `verdict` that it was only checked. */
export type BatchItem = BatchAccepted | BatchRefused | BatchChecked;

/** The message was accepted. */
export interface BatchAccepted extends Receipt {
  /** The message’s place in the batch, from 0. */
  readonly index: number;
}

/** The message was refused. */
export interface BatchRefused {
  /** The message’s place in the batch, from 0. */
  readonly index: number;
  readonly error: ItemProblem;
}

/** The message was a dry run, and is valid. */
export interface BatchChecked {
  /** The message’s place in the batch, from 0. */
  readonly index: number;
  readonly verdict: Verdict;
}

/** A message without details of its recipients. Members that do not apply are absent. */
export interface MessageRecord {
  /** `msg_` and 26 characters. Ids sort by the time of acceptance. */
  readonly id: string;
  readonly status: MessageStatus;
  /** The id that the first delivered recipient’s relay gave it. */
  readonly providerMessageId?: string;
  /** When the status last changed. */
  readonly timestamp: string;
  /** From acceptance, or `sendAt`, to the final outcome; when final. */
  readonly durationMs?: number;
  /** When it was accepted. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When it was first delivered. */
  readonly deliveredAt?: string;
  /** When the next recipient will actually be tried; absent if unknown. */
  readonly nextAttemptAt?: string;
  /** What the next recipient waits for; absent if none waits. */
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
  /** The Message-ID with its angle brackets. */
  readonly messageId: string;
  /** How it was submitted; `report`: written by the server to notify a sender. */
  readonly source: 'api' | 'smtp' | 'cli' | 'report';
  /** The provider whose API it came through; absent for any other. */
  readonly door?: 'resend' | 'postmark' | 'sendgrid' | 'mailgun' | 'ses';
  /** The box in which a captured message lies; null without one. */
  readonly box: string | null;
  /**
   * What it demands of the way (RFC 8689): `required` by REQUIRETLS, `optional` by the header `TLS-Required: No`.
   * Absent: nothing.
   */
  readonly tls?: 'required' | 'optional';
  readonly priority: Priority;
  /** The relay of the first delivered recipient, otherwise of the first recipient. */
  readonly relay?: string;
  /** Number of delivery attempts. */
  readonly attempts: number;
  /** How it ended, when final; `partial` for mixed outcomes. */
  readonly outcome?: MessageOutcome;
  readonly lastError?: LastError;
  /** An attempt ended without knowing whether the next hop accepted the message. */
  readonly possibleDuplicate?: true;
}

/** A message and the status of each recipient. Members that do not apply are absent. */
export interface StatusRecord extends MessageRecord {
  readonly recipients: readonly RecipientRecord[];
}

/** The status of one recipient. All members are always present. */
export interface RecipientRecord {
  readonly address: string;
  readonly type: RecipientType;
  readonly status: MessageStatus;
  readonly outcome: RecipientOutcome | null;
  readonly relay: string | null;
  readonly attempts: number;
  readonly providerMessageId: string | null;
  /** SMTP reply code or HTTP status. */
  readonly lastCode: number | null;
  /** Enhanced status code (RFC 3463). */
  readonly lastEnhancedCode: string | null;
  /** The next hop’s last reply. */
  readonly lastReply: string | null;
  /**
   * When it will actually be tried next: the later of its due time and the end of its relay’s wait. In the past if it
   * is due and has not had its turn; null if unknown.
   */
  readonly nextAttemptAt: string | null;
  /** What it waits for; null unless it waits. */
  readonly waitingFor: WaitingFor | null;
  /** When its own server took it, as a provider or a delivery status notification told. */
  readonly confirmedAt: string | null;
  readonly bounce: Bounce | null;
  /** When the recipient called it spam. */
  readonly complainedAt: string | null;
  /** When the recipient asked for no more of its stream. */
  readonly unsubscribedAt: string | null;
  /** The id of the entry of the suppression list that stopped it. */
  readonly suppression: string | null;
}

/**
 * `hard`: the address does not exist; `soft`: it may work later, or its time ran out; `block`: the message or its
 * sender was refused; `provider_suppressed`: the provider did not try, because of its own list; `undetermined`: nothing
 * of this.
 */
export type BounceType = 'hard' | 'soft' | 'block' | 'provider_suppressed' | 'undetermined';

/** Why a recipient did not get the message, though the next hop may have taken it. All members are always present. */
export interface Bounce {
  readonly type: BounceType;
  /**
   * How it became known: `smtp`: refused in our own SMTP dialogue, or its time ran out; `dsn`: by a delivery status
   * notification; `webhook:` and the relay’s name: by the provider; `api`: by a call.
   */
  readonly source: string;
  /** SMTP reply code. */
  readonly code: number | null;
  /** Enhanced status code (RFC 3463). */
  readonly enhancedCode: string | null;
  /** One line. Written by a stranger: show it as plain text only. */
  readonly text: string;
  readonly at: string;
}

/** The newest failed or deferred answer. */
export interface LastError {
  /** A stable name for the cause, such as `smtp_reply` or `connect_refused`. */
  readonly code: string;
  readonly class: 'transient' | 'permanent' | 'unknown';
  /** The next hop’s reply. Written by a stranger: show it as plain text only. */
  readonly message: string;
  readonly recipient: string;
  /** SMTP reply code or HTTP status; absent if the next hop did not answer. */
  readonly replyCode?: number;
  /** Enhanced status code (RFC 3463). */
  readonly enhancedCode?: string;
}

/** A page of messages. */
export interface MessagesPage {
  /** Newest first. */
  readonly messages: readonly MessageRecord[];
  /** With a sparse filter a page may have fewer than `limit` messages, even none, although there are more. */
  readonly hasMore: boolean;
  /** The `cursor` of the next page; absent on the last one. */
  readonly nextCursor?: string;
}

/** One attempt to deliver the message to a next hop. All members are always present. */
export interface Attempt {
  /** From 1, the oldest first. */
  readonly number: number;
  readonly startedAt: string;
  readonly relay: string;
  readonly host: string | null;
  readonly address: string | null;
  /** Our own address on the connection. */
  readonly localAddress: string | null;
  /** Protocol and cipher; null without TLS. */
  readonly tls: string | null;
  /** Null if nothing was decided before the connection failed, or the attempt was recorded by an older version. */
  readonly security: TransportSecurity | null;
  /** Empty if the system’s resolver was used. */
  readonly dns: readonly DnsLookup[];
  /** Over a connection that was already open. */
  readonly reused: boolean;
  readonly timings: AttemptTimings;
  readonly steps: readonly AttemptStep[];
  readonly results: readonly AttemptResult[];
}

/** Duration of each step, in milliseconds; null for a step that did not happen, as with a reused connection. */
export interface AttemptTimings {
  /** From due time or acceptance to the start of the attempt. */
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

/** What we sent, without secrets, and the reply. */
export interface AttemptStep {
  readonly verb: string;
  readonly reply: string;
  /** Milliseconds since the attempt began. */
  readonly atMs: number;
}

/** A DNS query that decided the attempt, and its answer. */
export interface DnsLookup {
  readonly name: string;
  /** `MX`, `A`, `AAAA`, `TXT` or `TLSA`. */
  readonly type: string;
  /** `found`, `nodata`, `nxdomain`, or why nothing is known. */
  readonly result: string;
  /** Records as text, limited in number. Written by a stranger. */
  readonly answers: readonly string[];
  /** The resolver validated it (DNSSEC). */
  readonly authenticated: boolean;
}

/** The security of the connection to the host, and the policies behind it. */
export interface TransportSecurity {
  /**
   * `verified`: the certificate is the host’s; `dane`: it matches a TLSA record; `unverified`: encrypted only; `none`:
   * in clear; null: no session was opened, so no mail was sent.
   */
  readonly verdict: 'verified' | 'dane' | 'unverified' | 'none' | null;
  /** The MTA-STS mode of the recipient’s domain: `enforce`, `testing`, `none`; null: not looked up. */
  readonly mtaSts: string | null;
  /** The state of its TLSA records: `usable`, `unusable`, `none`; null: not looked up. */
  readonly dane: string | null;
}

/** The result of the attempt for one recipient. */
export interface AttemptResult {
  readonly recipient: string;
  readonly outcome: 'delivered' | 'deferred' | 'rejected' | 'unknown';
  readonly class: 'success' | 'transient' | 'permanent' | 'unknown';
  /** SMTP reply code or HTTP status. */
  readonly code: number | null;
  readonly enhancedCode: string | null;
  readonly reply: string;
  readonly providerMessageId: string | null;
}

/** A page of a message’s attempts. */
export interface AttemptsPage {
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
  /** A page may have fewer than `limit` attempts although there are more. */
  readonly hasMore: boolean;
  /** The `cursor` of the next page; absent on the last one. */
  readonly nextCursor?: string;
}

/**
 * What happened. `message.queued`: the message was accepted; once for each message. The others are about one recipient:
 * `message.delivered`: the next hop took responsibility; `message.captured`: it was only captured locally;
 * `message.deferred`: an attempt failed, and another will follow; `message.failed`: it will not be delivered, and
 * `outcome` says why; `message.suppressed`: it is not sent, or not again, as the suppression list has the address;
 * `message.bounced`: it came back after delivery; `message.confirmed`: the recipient’s own server took it;
 * `message.delayed`: a server behind the next hop still tries; `message.complained`: the recipient called it spam;
 * `message.unsubscribed`: the recipient wants no more of it. Without a message: `suppression.added` and
 * `suppression.removed`: an entry of the suppression list; `suppression.guarded`: a domain refused so many recipients
 * that its refusals make no entries for a while. Without a message too: `relay.resting`: a relay gets no mail for a
 * while, as its next hop fails; `relay.recovered`: it works again; `webhook.disabled`: an endpoint is told of nothing
 * until somebody enables it, and `reply` says why. `webhook.test` is posted to an endpoint when somebody tests it, and
 * is in no log. More types may be added.
 */
export type EventType = 'message.queued' | 'message.delivered' | 'message.captured' | 'message.deferred' | 'message.failed' | 'message.suppressed' | 'message.bounced' | 'message.confirmed' | 'message.delayed' | 'message.complained' | 'message.unsubscribed' | 'suppression.added' | 'suppression.removed' | 'suppression.guarded' | 'relay.resting' | 'relay.recovered' | 'webhook.disabled' | 'webhook.test';

/**
 * Something that happened to a message, to one of its recipients, to the suppression list, to a relay, or to a webhook.
 */
export interface Event {
  readonly type: EventType;
  /** When it happened. */
  readonly timestamp: string;
  readonly data: EventData;
}

/** The details of an event. All members but the last four are always present. */
export interface EventData {
  /** `evt_` and 26 characters: the same each time the event is read. */
  readonly id: string;
  /** Rises from event to event, with gaps. */
  readonly sequence: number;
  /** Null for an event of the suppression list, of a relay or of a webhook. */
  readonly message: EventMessage | null;
  /** Null for an event of the whole message, or of none. */
  readonly recipient: EventRecipient | null;
  /** The relay that it was at. */
  readonly relay: string | null;
  /** The number of the attempt that it followed from; null for none. */
  readonly attempt: number | null;
  /** What the relay or provider called the message. */
  readonly providerMessageId: string | null;
  /** When it is due again, after `message.deferred`. */
  readonly nextAttemptAt: string | null;
  readonly reply: EventReply | null;
  readonly bounce: EventBounce | null;
  /** The id of the entry that stopped the recipient, or that the event is about or led to. */
  readonly suppression: string | null;
  /** The entry; null for `suppression.guarded`. Only events of the suppression list have it. */
  readonly entry?: EventEntry | null;
  /** The domain of the entry’s address, or the guarded one. Only events of the suppression list have it. */
  readonly domain?: string | null;
  /** The id of the endpoint. Only events of webhooks have it. */
  readonly webhook?: string | null;
  /**
   * Entries of `metadata`, `tags` or the ends of texts are left out, so that the event has at most 20 KiB. Absent if it
   * is whole.
   */
  readonly truncated?: true;
}

/** The message of an event. All members are always present; its subject is not among them. */
export interface EventMessage {
  /** `msg_` and 26 characters. Ids sort by the time of acceptance. */
  readonly id: string;
  /** The Message-ID with its angle brackets. */
  readonly messageId: string;
  readonly from: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** The stream of the message, in lower case; null without one. */
  readonly stream: string | null;
  /** The name of the key that submitted it; null without a key, or when the key is gone. */
  readonly key: string | null;
  /** How it was submitted. */
  readonly source: 'api' | 'smtp' | 'cli' | 'report';
  /** When it was accepted. */
  readonly createdAt: string;
}

/** The recipient that an event is about. All members are always present. */
export interface EventRecipient {
  readonly address: string;
  readonly type: RecipientType;
  /** Its status after the event. */
  readonly status: 'queued' | 'processing' | 'delivered' | 'retrying' | 'failed';
  /** How it ended; null while it is not final. */
  readonly outcome: RecipientOutcome | null;
}

/**
 * What a refusal in our SMTP dialogue, an expiry or a bounce means for the address of the recipient. Null for
 * everything else.
 */
export interface EventBounce {
  readonly type: BounceType;
  /**
   * How it became known: `smtp` (our own SMTP dialogue, or the time ran out), `dsn`, `arf`, `api`, or `webhook:` and
   * the name of the relay.
   */
  readonly source: string;
}

/** An entry of the suppression list, as it was then. All members are always present. */
export interface EventEntry {
  /** The address, or a pattern such as `*@example.org`. */
  readonly address: string;
  /** Whose mail it stops: `global`, `domain:example.com`, or `key:` and the name of a key. */
  readonly scope: string;
  /** The only stream that it stops; null: all of them. */
  readonly stream: string | null;
  readonly reason: 'complaint' | 'unsubscribe' | 'hard_bounce' | 'manual' | 'import' | 'provider' | 'soft_bounces';
  /** How it came: `smtp`, `dsn`, `arf`, `webhook:` and a relay, `one_click`, `mailto`, `api`, … */
  readonly source: string;
}

/** The next hop’s reply, or what Waybill says in its place. All members are always present. */
export interface EventReply {
  /** SMTP reply code or HTTP status; null if there was none. */
  readonly code: number | null;
  /** Enhanced status code (RFC 3463). */
  readonly enhancedCode: string | null;
  /** One line. Written by a stranger: show it as plain text only. */
  readonly text: string;
}

/** A page of events: with `after` the oldest first, else the newest first. */
export interface EventsPage {
  readonly events: readonly Event[];
  /** There are, or may be, more: ask again at once, even if this page has none. */
  readonly hasMore: boolean;
  /** With it as `cursor`, the next older events follow; absent at the end, and with `after`. */
  readonly nextCursor?: string;
  /**
   * With it as `after`, everything newer follows, and nothing is missed. Absent with `cursor`, and as long as there was
   * no event although there are more.
   */
  readonly nextAfter?: number;
}

/** A template with the texts of one of its versions. All members are always present. */
export interface Template {
  /** `tpl_` and 26 characters. */
  readonly id: string;
  /** What it is called by in requests; unique. */
  readonly alias: string;
  /** For people. */
  readonly name: string;
  /** The version whose texts these are. */
  readonly version: number;
  /** The version that is sent; null: none is. */
  readonly publishedVersion: number | null;
  /** The template of the subject. */
  readonly subject: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The template of the HTML; null: there is none. */
  readonly html: string | null;
  /** The template of the text; null: with HTML, the text is made from that. */
  readonly text: string | null;
  /** Values that it is shown with to those who edit it. */
  readonly sample: Readonly<Record<string, unknown>>;
  /** What is kept of its history, newest first. */
  readonly versions: readonly TemplateVersion[];
}

/** A template without its texts. All members are always present. */
export interface TemplateSummary {
  /** `tpl_` and 26 characters. */
  readonly id: string;
  /** What it is called by in requests; unique. */
  readonly alias: string;
  /** For people. */
  readonly name: string;
  /** The newest version. */
  readonly version: number;
  /** The version that is sent; null: none is. */
  readonly publishedVersion: number | null;
  /** The template of the subject, in the newest version. */
  readonly subject: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Templates, by alias. */
export interface Templates {
  readonly templates: readonly TemplateSummary[];
}

/** A version of a template. All members are always present. */
export interface TemplateVersion {
  readonly version: number;
  /** When it was saved. */
  readonly at: string;
  /** Who saved it: the name of a user or a key; empty: the command line. */
  readonly by: string;
  /** What they wrote about it. */
  readonly note: string;
}

/** A version of a template. */
export interface TemplateToSave {
  /** For people. */
  readonly name: string;
  readonly subject: string;
  readonly html?: string | null | undefined;
  readonly text?: string | null | undefined;
  /** Values that it is shown with to those who edit it. */
  readonly sample?: Readonly<Record<string, unknown>> | undefined;
  /** What this version changes. */
  readonly note?: string | undefined;
  readonly basedOn?: number | null | undefined;
}

/** Why a request was refused (RFC 9457). */
export interface Problem extends ItemProblem {
  /** The answer’s `X-Request-Id`. */
  readonly requestId: string;
  /** With `unexpected_mail`: what came. */
  readonly message?: MessageRecord;
}

/** Why one message of a batch was refused. */
export interface ItemProblem {
  /** `urn:waybill:problem:` and the code. */
  readonly type: string;
  readonly title: string;
  /** The HTTP status; in a batch, the one that the message would have got on its own. */
  readonly status: number;
  /** For people: what is wrong, and what would be right. */
  readonly detail: string;
  /** For programs. Stable; treat an unknown one by its status. */
  readonly code: string;
  /** The detail again, short. */
  readonly error: string;
  /** Every faulty field: at most 1,000, or 100 for one message of a batch. */
  readonly errors: readonly FieldFault[];
}

/** One faulty field. */
export interface FieldFault {
  /** JSON pointer (RFC 6901) to the field, such as `/to/1`; a form’s field, a parameter or a header by its name. */
  readonly pointer: string;
  /** The rule it breaks. */
  readonly code: string;
  /** For people: what is wrong, and what would be right. */
  readonly detail: string;
}
