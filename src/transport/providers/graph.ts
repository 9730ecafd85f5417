import { type Mailbox, parseAddressList } from '../../domain/mailbox.ts';
import type { Envelope } from '../../domain/message.ts';
import { localReply, type Reply } from '../../domain/outcome.ts';
import { microsoftTokenUrl, PROVIDER_MAX_BYTES, type ProviderSettings } from '../../domain/relay.ts';
import { SLICE_BYTES, type Sliced } from '../../lib/clock.ts';
import { decodeJson, memberOf, textOf } from '../../lib/decode.ts';
import { writeField } from '../../mail/field.ts';
import { withoutComments } from '../../mail/field-values.ts';
import { type FieldSpan, readLooseHeader } from '../../mail/header-block.ts';
import { tokenSource } from './grants.ts';
import {
  type AnswerFacts,
  type AnswerRow,
  type CheckFinding,
  type HttpAnswer,
  type PrepareContext,
  type Prepared,
  type Provider,
  type ProviderMessage,
  type ProviderRequest,
  type TokenSource,
  unfitForAscii,
} from './provider.ts';

type GraphSettings = Extract<ProviderSettings, { readonly type: 'graph' }>;

/** The limit of Exchange Online unless its administrator changes it. */
const MAX_RECIPIENTS = 500;
/** Bytes encoded at once: a multiple of three, so that no padding comes between the pieces. */
const BLOCK_BYTES = Math.floor(SLICE_BYTES / 3) * 3;
/** Not base64: Graph reports that once token, permission and mailbox have passed. Nothing is ever sent. */
const NO_MESSAGE = '!';
const NO_MESSAGE_CODE = 'ErrorMimeContentInvalidBase64String';
/** Characters of an error's code, and of its text. */
const MAX_CODE = 100;
const MAX_TEXT = 2000;
/** The clouds with a Graph of their own. Any other endpoint gets a token for the first. */
const GRAPHS = [
  'https://graph.microsoft.com',
  'https://graph.microsoft.us',
  'https://dod-graph.microsoft.us',
  'https://microsoftgraph.chinacloudapi.cn',
] as const;

/**
 * Microsoft Graph: `sendMail` with the whole message as MIME, by an application's own permission (`Mail.Send`). Sender
 * and recipients are those of the header (see `graphSender`).
 */
export function graphProvider(settings: GraphSettings): Provider {
  const { mailbox } = settings;
  return {
    maxMessageBytes: PROVIDER_MAX_BYTES.graph,
    maxRecipients: MAX_RECIPIENTS,
    idempotency: null,
    answers: graphAnswers(mailbox === null),
    tokens: tokensOf(settings),
    prepare: (message, context) => prepare(message, settings, context),
    read: readAnswer,
    check: ({ token }) =>
      mailbox === null ? null : sendMail(settings, mailbox, token, [Buffer.from(NO_MESSAGE)]),
    checked: (answer) => checked(answer, settings),
  };
}

function* prepare(
  message: ProviderMessage,
  settings: GraphSettings,
  { token }: PrepareContext,
): Sliced<Prepared> {
  const { envelope, content } = message;
  // It is undocumented how Graph reads MIME with bare UTF-8 in its header, and a name must not be garbled.
  const unfit = unfitForAscii(message);
  if (unfit !== null) return { ok: false, reply: unfit };
  const sender = graphSender(envelope, content);
  if (!sender.ok) return sender;
  const bytes = sender.bcc === '' ? content : Buffer.concat([Buffer.from(sender.bcc), content]);
  if (bytes.length > PROVIDER_MAX_BYTES.graph) {
    const text = `With its blind copies the message has ${bytes.length} bytes; Microsoft Graph accepts ${PROVIDER_MAX_BYTES.graph}`;
    return { ok: false, reply: localReply('message_too_large', '5.3.4', text) };
  }
  const body: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
    if (start > 0) yield;
    body.push(Buffer.from(bytes.toString('base64', start, start + BLOCK_BYTES), 'latin1'));
  }
  return { ok: true, request: sendMail(settings, settings.mailbox ?? sender.from, token, body) };
}

function sendMail(
  { endpoint }: GraphSettings,
  mailbox: string,
  token: string,
  body: readonly Buffer[],
): ProviderRequest {
  return {
    method: 'POST',
    url: `${endpoint}/users/${encodeURIComponent(mailbox)}/sendMail`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
    body,
  };
}

function readAnswer({ status, body }: HttpAnswer): AnswerFacts {
  // 202 has no body, and no id.
  if (status === 202) return { code: null, text: null, messageId: null, understood: true };
  const error = memberOf(decodeJson(body), 'error');
  const code = textOf(error, 'code', MAX_CODE);
  return { code, text: textOf(error, 'message', MAX_TEXT), messageId: null, understood: code !== null };
}

function checked(answer: HttpAnswer, { mailbox }: GraphSettings): CheckFinding | null {
  const { code } = readAnswer(answer);
  if (answer.status === 400 && code === NO_MESSAGE_CODE)
    return { good: true, text: `The application may send for ${mailbox}` };
  return null;
}

/** Client credentials of an application at the Microsoft identity platform. */
function tokensOf({ authority, tenant, clientId, secret, endpoint }: GraphSettings): TokenSource {
  const origin = URL.parse(endpoint)?.origin;
  const graph = GRAPHS.find((known) => known === origin) ?? GRAPHS[0];
  const url = microsoftTokenUrl(authority, tenant);
  return tokenSource(
    { kind: 'client_credentials', clientId, secret },
    { url, setting: 'authority', scope: `${graph}/.default` },
  );
}

/**
 * The meanings of Graph's answers. Codes are those of Exchange, under any client error status. Only 202 means that the
 * message was accepted: 200 has been seen for messages that were never sent.
 *
 * `fromNamesMailbox` (no mailbox is set): trouble with one mailbox does not stop mail from others, and is not the
 * relay's fault.
 */
export function graphAnswers(fromNamesMailbox: boolean): readonly AnswerRow[] {
  return [
    ...TAKEN,
    ...missingMailbox(fromNamesMailbox),
    ...REFUSED,
    ...ofMailbox(fromNamesMailbox),
    ...STATUSES,
    ...TROUBLE,
  ];
}

// biome-ignore format: a table
const TAKEN: readonly AnswerRow[] = [
  { status: 202, meaning: 'done', enhanced: '2.0.0', note: 'Exchange accepted the message. It gives no id.' },
  { status: '2xx', meaning: 'unknown', enhanced: '4.3.0', note: 'Not what Graph answers to an accepted message: it may have been sent, or not.' },
  { status: '3xx', meaning: 'relay_ill', enhanced: '4.3.5', note: 'A redirect, which is not followed: correct `endpoint`.' },
];

function missingMailbox(fromNamesMailbox: boolean): readonly AnswerRow[] {
  const answer = fromNamesMailbox
    ? {
        meaning: 'never' as const,
        enhanced: '5.1.8',
        note: 'Without `mailbox`, From names the mailbox that sends, and this From has none.',
      }
    : {
        meaning: 'relay_ill' as const,
        enhanced: '4.3.5',
        note: 'The mailbox does not exist, or is not in Exchange Online: correct `mailbox`.',
      };
  return [
    ...MISSING_CODES.map((code): AnswerRow => ({ status: '4xx', code, ...answer })),
    fromNamesMailbox
      ? { status: 404, meaning: 'later', enhanced: '4.3.5', note: 'Something was not found.' }
      : { status: 404, ...answer },
  ];
}

/** Graph's codes for a mailbox that does not exist. */
const MISSING_CODES = [
  'MailboxNotEnabledForRESTAPI',
  'MailboxNotSupportedForRESTAPI',
  'ErrorInvalidUser',
  'ErrorNonExistentMailbox',
  'ResourceNotFound',
  'Request_ResourceNotFound',
] as const;

// biome-ignore format: a table
const REFUSED: readonly AnswerRow[] = [
  { status: '4xx', code: 'ErrorInvalidRecipients', meaning: 'never', enhanced: '5.1.3', note: 'Exchange does not accept a recipient’s address.' },
  { status: '4xx', code: 'ErrorMimeContentInvalid', meaning: 'never', enhanced: '5.6.0', note: 'Exchange cannot read the message.' },
  { status: '4xx', code: 'ErrorMimeContentInvalidBase64String', meaning: 'never', enhanced: '5.6.0', note: 'Exchange cannot read the message.' },
  { status: '4xx', code: 'ErrorMessageSizeExceeded', meaning: 'never', enhanced: '5.3.4', note: 'Larger than the mailbox may send.' },
  { status: '4xx', code: 'ErrorSendAsDenied', meaning: 'never', enhanced: '5.7.1', note: 'The mailbox may not send as this From: grant it “Send as”, or route this mail elsewhere.' },
];

/** Troubles of one mailbox, or of the relay if the mailbox is the relay's own. */
function ofMailbox(fromNamesMailbox: boolean): readonly AnswerRow[] {
  const meaning = fromNamesMailbox ? 'later' : 'relay_ill';
  const denied = 'A policy blocks the application from this mailbox.';
  // biome-ignore format: a table
  const rows: readonly AnswerRow[] = [
    { status: '4xx', code: 'ErrorQuotaExceeded', meaning, enhanced: '4.2.2', note: 'The mailbox is full.' },
    { status: '4xx', code: 'ErrorExceededMessageLimit', meaning, enhanced: '4.2.2', note: SENT_ALL },
    { status: '4xx', code: 'ErrorSubmissionQuotaExceeded', meaning, enhanced: '4.2.2', note: SENT_ALL },
    { status: '4xx', code: 'ErrorMessageSubmissionBlocked', meaning, enhanced: '4.7.0', note: 'Exchange blocks the mailbox from sending: ask its administrator.' },
    { status: '4xx', code: 'ErrorAccountSuspend', meaning, enhanced: '4.7.0', note: 'The account is suspended: ask its administrator.' },
    { status: 507, meaning, enhanced: '4.2.2', note: 'The mailbox is full.' },
  ];
  return fromNamesMailbox
    ? [{ status: '4xx', code: 'ErrorAccessDenied', meaning, enhanced: '4.7.0', note: denied }, ...rows]
    : rows;
}

const SENT_ALL = 'The mailbox has sent as much as it may for now.';

// biome-ignore format: a table
const STATUSES: readonly AnswerRow[] = [
  { status: 400, meaning: 'later', enhanced: '4.6.0', note: 'Refused for an unknown reason.' },
  { status: 401, meaning: 'relay_ill', enhanced: '4.7.8', note: 'The token was refused; it is discarded, and a new one requested.' },
  { status: 403, meaning: 'relay_ill', enhanced: '4.7.0', note: 'The application lacks the permission `Mail.Send`, or a policy blocks it from this mailbox.' },
  { status: 408, meaning: 'later', enhanced: '4.4.2', note: 'The request did not arrive in time.' },
  { status: 409, meaning: 'later', enhanced: '4.3.0', note: 'The mailbox was busy with something else.' },
  { status: 413, meaning: 'never', enhanced: '5.3.4', note: 'Larger than Graph accepts.' },
  { status: 423, meaning: 'later', enhanced: '4.3.0', note: 'The mailbox is locked, for example while it is moved.' },
  { status: 429, meaning: 'relay_ill', enhanced: '4.7.28', note: 'Too many requests; `Retry-After` is respected.' },
  { status: '4xx', meaning: 'relay_ill', enhanced: '4.3.5', note: 'Not an answer of sendMail: correct `endpoint`.' },
];

const LOST = 'A gateway had no answer from Exchange, which may have sent the message all the same.';

// biome-ignore format: a table
const TROUBLE: readonly AnswerRow[] = [
  { status: 502, meaning: 'unknown', enhanced: '4.4.2', note: LOST },
  { status: 503, meaning: 'relay_ill', enhanced: '4.3.2', note: 'Overloaded or under maintenance; `Retry-After` is respected.' },
  { status: 504, meaning: 'unknown', enhanced: '4.4.2', note: LOST },
  { status: '5xx', meaning: 'later', enhanced: '4.3.0', note: 'A problem at Graph.' },
];

/**
 * Microsoft Graph has no envelope: sender and recipients are those in the header. So the envelope must equal the
 * header, and any difference is refused. Only blind copies, which no header of ours names, go into a Bcc field of the
 * copy handed over; Exchange removes it from what recipients get.
 */
type GraphSender =
  | {
      readonly ok: true;
      /** The address in From. */
      readonly from: string;
      /** A Bcc field to put above the message; '' without blind copies. */
      readonly bcc: string;
    }
  | { readonly ok: false; readonly reply: Reply };

/** Bytes of a header to examine: more than any listener accepts. */
const MAX_HEADER_BYTES = 1024 * 1024;
/** Addresses of all fields together: more than a message may have recipients. */
const MAX_ADDRESSES = 2000;
const RECIPIENT_FIELDS: ReadonlySet<string> = new Set(['to', 'cc', 'bcc']);
/** An empty group (RFC 5322 §3.4), such as `undisclosed-recipients:;`, which the composer writes too. */
const EMPTY_GROUP = /^[^:;,<>@"]*:[\t ]*;$/;
const HEADER_END = Buffer.from('\r\n\r\n');
/** Exchange ignores letter case (RFC 5321 §2.4 leaves that to the receiving host). */
const keyOf = (address: string) => address.toLowerCase();

/** Compares an envelope with the header of its message. Never throws. */
export function graphSender(envelope: Envelope, content: Buffer): GraphSender {
  const fields = headerFields(content);
  if (fields === null) return differs('the header is too large to be compared with the envelope');
  const authors = fields.filter(({ lowerName }) => lowerName === 'from');
  const from = authors.length === 1 ? addressesOf(authors) : null;
  const [author] = from ?? [];
  if (author === undefined || from?.length !== 1) return differs('From is not exactly one address');
  if (keyOf(author.address) !== keyOf(envelope.reversePath))
    return differs('the reverse-path is not the address in From');
  const named = addressesOf(fields.filter(({ lowerName }) => RECIPIENT_FIELDS.has(lowerName)));
  if (named === null) return differs('To, Cc or Bcc cannot be read as addresses');
  return withRecipients(envelope, author.address, new Set(named.map(({ address }) => keyOf(address))));
}

function withRecipients(envelope: Envelope, from: string, named: ReadonlySet<string>): GraphSender {
  const unnamed = envelope.recipients.filter(({ address }) => !named.has(keyOf(address)));
  if (unnamed.some(({ kind }) => kind !== 'bcc'))
    return differs('a recipient is neither in To nor in Cc, and is not a blind copy');
  const recipients = new Set(envelope.recipients.map(({ address }) => keyOf(address)));
  if (![...named].every((address) => recipients.has(address)))
    return differs('To or Cc names somebody who is not a recipient of this delivery');
  const words = unnamed.map(({ address }, index) => (index < unnamed.length - 1 ? `${address},` : address));
  return { ok: true, from, bcc: words.length === 0 ? '' : writeField('Bcc', words) };
}

/** The fields of the message's header; null when it is too large. */
function headerFields(content: Buffer): readonly FieldSpan[] | null {
  const blank = content.indexOf(HEADER_END);
  const end = blank < 0 ? content.length : blank + 2;
  if (end > MAX_HEADER_BYTES) return null;
  return readLooseHeader(content.toString('latin1', 0, end), MAX_HEADER_BYTES)?.fields ?? null;
}

/** All addresses of these fields; null if one cannot be parsed. */
function addressesOf(fields: readonly FieldSpan[]): readonly Mailbox[] | null {
  const found: Mailbox[] = [];
  for (const { value } of fields) {
    const text = withoutComments(value).trim();
    if (EMPTY_GROUP.test(text)) continue;
    const parsed = parseAddressList(text, MAX_ADDRESSES - found.length);
    if (!parsed.ok) return null;
    found.push(...parsed.value);
  }
  return found;
}

function differs(why: string): GraphSender {
  const text = `Microsoft Graph takes sender and recipients from the header: ${why}`;
  return { ok: false, reply: localReply('envelope_differs', '5.6.0', text) };
}
