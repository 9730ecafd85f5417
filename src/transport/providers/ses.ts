/** Amazon SES, API version 2: the unchanged message, in base64. */
import { createHash, createHmac } from 'node:crypto';
import type { Envelope } from '../../domain/message.ts';
import { localReply, type Reply } from '../../domain/outcome.ts';
import { PROVIDER_MAX_BYTES, type ProviderSettings } from '../../domain/relay.ts';
import type { Sliced } from '../../lib/clock.ts';
import { decodeJson, memberOf, textOf } from '../../lib/decode.ts';
import type { FieldSpan } from '../../mail/header-block.ts';
import { fieldsOf } from './limits.ts';
import {
  type AnswerFacts,
  type AnswerRow,
  type CheckFinding,
  type HttpAnswer,
  type Prepared,
  type Provider,
  type ProviderRequest,
  unfitForAscii,
} from './provider.ts';

/** Settings of type `ses`. */
type SesSettings = Extract<ProviderSettings, { readonly type: 'ses' }>;

const MAX_RECIPIENTS = 50;
/** Bytes converted to base64 at once: a multiple of three, so that the pieces can be joined. */
const PIECE_BYTES = 768 * 1024;

/** Fields that may not appear twice (docs.aws.amazon.com/ses, "header fields"), except signatures, which we remove. */
const ONCE: ReadonlySet<string> = new Set(
  `accept-language acceptlanguage archived-at auto-submitted bounces-to comments content-alternative content-base
  content-class content-description content-disposition content-duration content-id content-language content-length
  content-location content-md5 content-transfer-encoding content-type date delivered-to
  disposition-notification-options disposition-notification-to errors-to from importance in-reply-to keywords
  list-archive list-help list-id list-owner list-post list-subscribe list-unsubscribe list-unsubscribe-post
  message-context message-id mime-version organization original-from original-message-id original-recipient
  original-subject precedence priority references reply-to return-path return-receipt-to sender solicitation
  sensitivity subject thread-index thread-topic user-agent vbr-info`.split(/\s+/),
);
const SIGNATURES: ReadonlySet<string> = new Set(['dkim-signature', 'domainkey-signature']);

/** For the documents. */
export const SES_PROSE: readonly string[] = [
  'Needs an access key whose user may do `ses:SendEmail` and `ses:SendRawEmail`, and the region in which the sender’s identity is verified. `configuration_set` is named in every request.',
  'The reverse-path is passed as `FromEmailAddress`, so it must belong to a verified identity. SES uses its own return address and forwards bounces to the reverse-path, or as the identity’s notifications say; the From header stays as it is.',
  'Recipients are those of the envelope, whatever the header says. Headers and addresses that are not ASCII are refused.',
  'DKIM signatures are removed: SES accepts at most one, breaks it by its own Date and Message-ID, and signs itself if the identity has Easy DKIM. If another field that SES accepts only once appears twice, the message is refused as `header_repeated`.',
  'If a sender (in the sandbox: a recipient) is not verified, or the key may not use it, the message waits and tries the next relay: other mail is not affected.',
];

/** The provider of a relay of type `ses`. */
export function sesProvider(settings: SesSettings): Provider {
  const { endpoint } = settings;
  return {
    maxMessageBytes: PROVIDER_MAX_BYTES.ses,
    maxRecipients: MAX_RECIPIENTS,
    idempotency: null,
    answers: sesAnswers(settings.configurationSet),
    *prepare(message, { now }): Sliced<Prepared> {
      const reply = unfitForAscii(message);
      if (reply !== null) return { ok: false, reply };
      const fields = fieldsOf(message.content);
      if (fields === null) return { ok: false, reply: TOO_LARGE };
      const refusal = repeatRefusal(fields);
      if (refusal !== null) return { ok: false, reply: refusal };
      const url = `${endpoint}/v2/email/outbound-emails`;
      const body = yield* bodyOf(
        message.envelope,
        unsigned(message.content, fields),
        settings.configurationSet,
      );
      return { ok: true, request: signed(settings, { method: 'POST', url, body }, now) };
    },
    read: readSesAnswer,
    check: ({ now }) =>
      signed(settings, { method: 'GET', url: `${endpoint}/v2/email/account`, body: [] }, now),
    checked: readAccount,
  };
}

const TOO_LARGE = localReply('header_too_large', '5.3.4', 'The header is too large to be checked');

/** Why SES would refuse the message: a field appears twice. */
function repeatRefusal(fields: readonly FieldSpan[]): Reply | null {
  const seen = new Set<string>();
  for (const { lowerName, name } of fields) {
    if (ONCE.has(lowerName) && seen.has(lowerName))
      return localReply(
        'header_repeated',
        '5.6.0',
        `SES accepts ${name} only once, but it appears more than once`,
      );
    seen.add(lowerName);
  }
  return null;
}

/**
 * The message without signatures: SES's own Date and Message-ID would break them, and it accepts at most one. Two
 * pieces, the first a multiple of three bytes and the second a view, so that a large message is not copied.
 */
function unsigned(content: Buffer, fields: readonly FieldSpan[]): readonly Buffer[] {
  const kept: Buffer[] = [];
  let from = 0;
  for (const { lowerName, start, end } of fields) {
    if (!SIGNATURES.has(lowerName)) continue;
    kept.push(content.subarray(from, start));
    from = end;
  }
  const length = kept.reduce((sum, part) => sum + part.length, 0);
  const rest = from + ((3 - (length % 3)) % 3);
  return [Buffer.concat([...kept, content.subarray(from, rest)]), content.subarray(rest)];
}

/** JSON around base64, never as one string: that would hold the whole message in memory twice more. */
function* bodyOf(
  { reversePath, recipients }: Envelope,
  pieces: readonly Buffer[],
  configurationSet: string | null,
): Sliced<Uint8Array[]> {
  const rest = JSON.stringify({
    FromEmailAddress: reversePath,
    // As Bcc: the header shows the other recipients, and stays unchanged.
    Destination: { BccAddresses: recipients.map(({ address }) => address) },
    ...(configurationSet === null ? {} : { ConfigurationSetName: configurationSet }),
  });
  const body: Uint8Array[] = [Buffer.from(`${rest.slice(0, -1)},"Content":{"Raw":{"Data":"`)];
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += PIECE_BYTES) {
      if (at > 0) yield;
      body.push(Buffer.from(piece.toString('base64', at, Math.min(piece.length, at + PIECE_BYTES))));
    }
  }
  body.push(Buffer.from('"}}}'));
  return body;
}

function signed(
  { region, accessKeyId, secret }: SesSettings,
  { method, url, body }: Pick<ProviderRequest, 'method' | 'url' | 'body'>,
  now: number,
): ProviderRequest {
  const headers = { 'content-type': 'application/json', 'x-amz-content-sha256': digestOf(body) };
  const credentials = { service: 'ses', region, accessKeyId, secretAccessKey: secret };
  const signature = signV4({ method, url: new URL(url), headers, body, now, ...credentials });
  return { method, url, headers: { ...headers, ...signature }, body };
}

function digestOf(body: readonly Uint8Array[]): string {
  const sum = createHash('sha256');
  for (const part of body) sum.update(part);
  return sum.digest('hex');
}

// SES's view of our account (GetAccount): whether it may send, to whom, and how much.

/** The finding in the answer to GetAccount; null if it is not SES's answer. */
function readAccount(answer: HttpAnswer): CheckFinding | null {
  if (answer.status !== 200)
    return readSesAnswer(answer).code === 'AccessDeniedException' ? MAY_NOT_ASK : null;
  const account = decodeJson(answer.body);
  const enabled = memberOf(account, 'SendingEnabled');
  if (typeof enabled !== 'boolean') return null;
  const quota = quotaOf(memberOf(account, 'SendQuota'));
  const words = [
    enabled ? 'sending is enabled for the account' : 'sending is paused for the account',
    memberOf(account, 'EnforcementStatus') === 'PROBATION' ? 'it is under review' : null,
    memberOf(account, 'ProductionAccessEnabled') === false
      ? 'it is in the sandbox: it sends only to verified recipients'
      : null,
    quota?.text ?? null,
  ];
  const text = words.filter((word) => word !== null).join('; ');
  return { good: enabled && quota?.isUsedUp !== true, text };
}

const MAY_NOT_ASK: CheckFinding = {
  good: true,
  text: 'the access key is known; it may not query the account, so nothing more is known',
};

/** How much of the quota of the last 24 hours is used; null if SES does not say. */
function quotaOf(quota: unknown): { readonly text: string; readonly isUsedUp: boolean } | null {
  const max = memberOf(quota, 'Max24HourSend');
  const sent = memberOf(quota, 'SentLast24Hours');
  if (typeof max !== 'number' || typeof sent !== 'number') return null;
  // SES's notation for no limit.
  if (max < 0) return { text: `${sent} sent in the last 24 hours, without a limit`, isUsedUp: false };
  const isUsedUp = sent >= max;
  const end = isUsedUp ? ': the quota is used up' : '';
  return { text: `${sent} of ${max} sent in the last 24 hours${end}`, isUsedUp };
}

// AWS Signature Version 4 for one request, in its `Authorization` header.

interface SigV4 {
  readonly method: string;
  readonly url: URL;
  /** To be signed as well, besides Host and X-Amz-Date. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
  readonly service: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Wall ms. */
  readonly now: number;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The headers to add: `authorization` and `x-amz-date`. */
export function signV4(request: SigV4): Readonly<Record<string, string>> {
  const { method, url, body, service, region, accessKeyId, secretAccessKey } = request;
  const time = new Date(request.now).toISOString().replace(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const headers = sorted({ ...request.headers, host: url.host, 'x-amz-date': time });
  const names = headers.map(([name]) => name).join(';');
  const canonical = [
    method,
    canonicalPath(url.pathname),
    canonicalQuery(url.searchParams),
    ...headers.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    names,
    hash(body),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = [ALGORITHM, time, scope, hash([Buffer.from(canonical)])].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  const credential = `Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { authorization: `${ALGORITHM} ${credential}`, 'x-amz-date': time };
}

function sorted(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers)
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Each segment is encoded once more, as for every service but S3. */
function canonicalPath(path: string): string {
  return path.split('/').map(encode).join('/');
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => `${encode(name)}=${encode(value)}`);
  return pairs.sort().join('&');
}

/** Encodes everything but the unreserved characters of RFC 3986 §2.3. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hash(parts: readonly Uint8Array[]): string {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part);
  return sum.digest('hex');
}

/** Most characters of SES's text to read. */
const MAX_TEXT = 2000;

// biome-ignore format: a table
const ANSWERS: readonly AnswerRow[] = [
  { status: 200, meaning: 'done', enhanced: '2.0.0', note: 'Accepted; `MessageId` has its id' },
  { status: '4xx', code: 'NotVerified', meaning: 'later', enhanced: '4.7.1', note: 'MessageRejected because the sender (in the sandbox: a recipient) is not verified' },
  { status: '4xx', code: 'MessageRejected', meaning: 'never', enhanced: '5.6.0', note: 'The content is refused' },
  { status: '4xx', code: 'AccountSuspendedException', meaning: 'relay_ill', enhanced: '4.7.0', note: 'The account may no longer send' },
  { status: '4xx', code: 'SendingPausedException', meaning: 'relay_ill', enhanced: '4.7.0', note: 'Sending is paused for the account or the configuration set' },
  { status: '4xx', code: 'MailFromDomainNotVerifiedException', meaning: 'later', enhanced: '4.3.5', note: 'The MAIL FROM domain of the sender’s identity is not set up' },
  { status: '4xx', code: 'AccountSendingPausedException', meaning: 'relay_ill', enhanced: '4.7.0', note: 'Sending is paused for the account' },
  { status: '4xx', code: 'LimitExceeded', meaning: 'relay_ill', enhanced: '4.7.1', note: 'A quota of the account is used up' },
  { status: '4xx', code: 'ServiceQuotaExceededException', meaning: 'relay_ill', enhanced: '4.7.1', note: 'A quota of the account is used up' },
  { status: '4xx', code: 'LimitExceededException', meaning: 'relay_ill', enhanced: '4.7.1', note: 'A quota of the account is used up' },
  { status: '4xx', code: 'ThrottlingException', meaning: 'relay_ill', enhanced: '4.7.1', note: 'Sending rate, or the day’s quota, is used up' },
  { status: '4xx', code: 'Throttling', meaning: 'relay_ill', enhanced: '4.7.1', note: 'Sending rate, or the day’s quota, is used up' },
  { status: '4xx', code: 'TooManyRequestsException', meaning: 'relay_ill', enhanced: '4.7.1', note: 'Too many requests, or the sending rate is used up' },
  { status: '4xx', code: 'UnrecognizedClientException', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The access key is not known' },
  { status: '4xx', code: 'InvalidClientTokenId', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The access key is not known' },
  { status: '4xx', code: 'InvalidSignatureException', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The secret does not belong to the access key, or our clock is wrong' },
  { status: '4xx', code: 'SignatureDoesNotMatch', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The secret does not belong to the access key' },
  { status: '4xx', code: 'ExpiredToken', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The credentials have expired' },
  { status: '4xx', code: 'ExpiredTokenException', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The credentials have expired' },
  { status: '4xx', code: 'RequestExpired', meaning: 'relay_ill', enhanced: '4.7.8', note: 'Our clock is wrong' },
  { status: '4xx', code: 'IncompleteSignature', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The access key is malformed' },
  { status: '4xx', code: 'MissingAuthenticationToken', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The endpoint is wrong, or the key is malformed' },
  { status: '4xx', code: 'MissingAuthenticationTokenException', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The endpoint is wrong, or the key is malformed' },
  { status: '4xx', code: 'IdentityDenied', meaning: 'later', enhanced: '4.7.1', note: 'AccessDeniedException that names an identity: the key may not send as, or to, that identity' },
  { status: '4xx', code: 'AccessDeniedException', meaning: 'relay_ill', enhanced: '4.7.0', note: 'The key’s policy does not let it send' },
  { status: '4xx', code: 'OptInRequired', meaning: 'relay_ill', enhanced: '4.7.0', note: 'The account has no SES' },
  { status: '4xx', code: 'RequestTimeout', meaning: 'later', enhanced: '4.4.2', note: 'The request arrived too slowly' },
  { status: '4xx', code: 'ConcurrentModificationException', meaning: 'later', enhanced: '4.3.0', note: 'The account is being changed' },
  { status: '4xx', code: 'DuplicateHeader', meaning: 'later', enhanced: '4.6.0', note: 'BadRequestException: a header field appears twice; another relay may accept that' },
  { status: '4xx', code: 'InvalidMessage', meaning: 'never', enhanced: '5.6.0', note: 'BadRequestException whose text names an address or the message as malformed' },
  { status: '4xx', code: 'BadRequestException', meaning: 'later', enhanced: '4.6.0', note: 'Refused for an unknown reason' },
  { status: 413, meaning: 'never', enhanced: '5.3.4', note: 'The message is too large' },
  { status: 500, meaning: 'later', enhanced: '4.3.0', note: 'SES has a fault' },
  { status: 503, meaning: 'relay_ill', enhanced: '4.3.2', note: 'SES is out of service' },
];

/** Texts that tell apart what SES's codes do not: the first match of code and text counts. */
// biome-ignore format: a table
const TEXTS: readonly (readonly [code: string, text: RegExp, ours: string])[] = [
  ['MessageRejected', /\bnot verified\b/i, 'NotVerified'],
  ['MessageRejected', /\b(?:paused|suspended|disabled)\b/i, 'SendingPausedException'],
  ['AccessDeniedException', /:identity\//, 'IdentityDenied'],
  ['BadRequestException', /^configuration set\b/i, 'NotFoundException'],
  ['BadRequestException', /^duplicate header\b/i, 'DuplicateHeader'],
  ['BadRequestException', /^(?:illegal|missing|malformed|nested|invalid (?:email|address|domain|header)|domain (?:contains|starts|ends)|local (?:address|part)|user ?name|message length|recipient count)\b/i, 'InvalidMessage'],
];

/** The meanings of SES's answers. Without a configuration set, trouble with one concerns the sender's identity. */
export function sesAnswers(configurationSet: string | null): readonly AnswerRow[] {
  const meaning = configurationSet === null ? 'later' : 'relay_ill';
  // biome-ignore format: a table
  return [
    ...ANSWERS,
    { status: '4xx', code: 'NotFoundException', meaning, enhanced: '4.3.5', note: 'The configuration set does not exist' },
    { status: '4xx', code: 'ConfigurationSetDoesNotExist', meaning, enhanced: '4.3.5', note: 'The configuration set does not exist' },
    { status: '4xx', code: 'ConfigurationSetDoesNotExistException', meaning, enhanced: '4.3.5', note: 'The configuration set does not exist' },
    { status: '4xx', code: 'ConfigurationSetSendingPausedException', meaning, enhanced: '4.7.0', note: 'Sending is paused for the configuration set' },
  ];
}

/** Reads an answer; where a code says too little, derives a code of ours from the text. */
function readSesAnswer({ status, headers, body }: HttpAnswer): AnswerFacts {
  const value = decodeJson(body);
  const messageId = textOf(value, 'MessageId', MAX_TEXT);
  if (status < 300) return { code: null, text: null, messageId, understood: messageId !== null };
  const text = textOf(value, 'message', MAX_TEXT) ?? textOf(value, 'Message', MAX_TEXT);
  const type =
    headers['x-amzn-errortype'] ?? textOf(value, '__type', MAX_TEXT) ?? textOf(value, 'code', MAX_TEXT);
  const code = type?.replace(/^.*#/, '').replace(/:.*$/, '').trim() ?? null;
  const ours = TEXTS.find(([theirs, pattern]) => theirs === code && pattern.test(text ?? ''))?.[2];
  return { code: ours ?? code, text, messageId: null, understood: code !== null };
}
