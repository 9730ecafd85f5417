/** Messages of Amazon SNS over HTTP, by which SES tells its events (docs.aws.amazon.com/sns/latest/dg, signatures). */
import { verify } from 'node:crypto';
import { parseTimestamp } from '../../lib/clock.ts';
import { decodeBase64, memberOf, textOf } from '../../lib/decode.ts';
import { bad, type HookRequest, headerOf, isFresh, PROVEN, type Proof } from './proof.ts';
import { jsonOf } from './reading.ts';
import type { SnsCertificates } from './sns-fetch.ts';

/** A message of a topic, or the question whether this endpoint wants them, or no longer does. */
const TYPES = ['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation'] as const;

type SnsType = (typeof TYPES)[number];

/** What SNS sends. Unproven until {@link proveSns} says otherwise. */
export interface SnsMessage {
  readonly type: SnsType;
  readonly messageId: string;
  readonly topicArn: string;
  /** What was published. */
  readonly message: string;
  /** Wall ms at which it was published. A repeat has the same. */
  readonly at: number;
  /** Of a confirmation: where it is given; null where SNS cannot mean it. */
  readonly subscribeUrl: URL | null;
  readonly signature: SnsSignature;
}

interface SnsSignature {
  readonly algorithm: 'sha1' | 'sha256';
  readonly bytes: Buffer;
  /** What it is over. */
  readonly signed: string;
  /** Where its certificate is; null where SNS cannot mean it. */
  readonly certificateUrl: URL | null;
}

/** A message, or why it is none. */
export type SnsParsed =
  | { readonly ok: true; readonly message: SnsMessage }
  | { readonly ok: false; readonly proof: Proof };

/** SNS repeats for an hour at most, always with the first timestamp, and never after a 4xx. */
const MAX_AGE_MS = 3_900_000;
/** The signed members of confirmations, and of notifications, in the order in which they are signed. */
const OF_CONFIRMATIONS = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
const OF_NOTIFICATIONS = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'];
/** By `SignatureVersion`. */
const ALGORITHMS = new Map<unknown, SnsSignature['algorithm']>([
  ['1', 'sha1'],
  ['2', 'sha256'],
]);
/** One line of printable ASCII: no value of this form can end within what is signed and begin another member. */
const WORD = /^[!-~]+$/;
const MAX_WORD = 300;
const MAX_URL = 2000;
/** In base64, of a key of 8,192 bits. */
const MAX_SIGNATURE = 1368;
const HOST = /^sns\.[a-z0-9-]{3,30}\.amazonaws\.com(?:\.cn)?$/;

/** Reads a message: 400 for what SNS does not send, 401 where its signature cannot be checked. Never throws. */
export function parseSns(request: HookRequest): SnsParsed {
  // The body would be what was published, without a signature.
  if (headerOf(request, 'x-amz-sns-rawdelivery') === 'true')
    return refused(400, 'raw delivery is not signed');
  const json = jsonOf(request.body);
  if (!json.ok) return refused(400, json.why);
  const { value } = json;
  const type = TYPES.find((known) => known === memberOf(value, 'Type'));
  const message = memberOf(value, 'Message');
  if (type === undefined || typeof message !== 'string') return refused(400, 'the body is no message of SNS');
  const [messageId, topicArn] = [wordOf(value, 'MessageId', MAX_WORD), wordOf(value, 'TopicArn', MAX_WORD)];
  const at = parseTimestamp(wordOf(value, 'Timestamp', MAX_WORD) ?? '');
  const signature = signatureOf(value, type);
  if (messageId === null || topicArn === null || at === null || signature === null)
    return refused(401, 'something signed or the signature is missing, or of another form');
  const subscribeUrl = snsUrl(wordOf(value, 'SubscribeURL', MAX_URL));
  return { ok: true, message: { type, messageId, topicArn, message, at, subscribeUrl, signature } };
}

function refused(status: 400 | 401, why: string): SnsParsed {
  return { ok: false, proof: bad(status, why) };
}

function signatureOf(value: unknown, type: SnsType): SnsSignature | null {
  const algorithm = ALGORITHMS.get(memberOf(value, 'SignatureVersion'));
  const bytes = decodeBase64(wordOf(value, 'Signature', MAX_SIGNATURE) ?? '');
  const signed = signedOf(value, type);
  if (algorithm === undefined || bytes === null || bytes.length === 0 || signed === null) return null;
  const url = snsUrl(wordOf(value, 'SigningCertURL', MAX_URL));
  const isCertificate = url?.pathname.endsWith('.pem') && url.search === '';
  return { algorithm, bytes, signed, certificateUrl: isCertificate ? url : null };
}

/** The string to sign: each member's name and value, each on a line; null if one is missing. */
function signedOf(value: unknown, type: SnsType): string | null {
  const names = type === 'Notification' ? OF_NOTIFICATIONS : OF_CONFIRMATIONS;
  let signed = '';
  for (const name of names) {
    const member = memberOf(value, name);
    if (name === 'Subject' && member === null) continue;
    if (typeof member !== 'string') return null;
    signed += `${name}\n${member}\n`;
  }
  return signed;
}

function wordOf(value: unknown, name: string, max: number): string | null {
  const text = textOf(value, name, max);
  return text !== null && WORD.test(text) ? text : null;
}

/** A URL of SNS itself, over HTTPS at its usual port; null for any other. */
function snsUrl(text: string | null): URL | null {
  const url = text === null ? null : URL.parse(text);
  if (url === null || url.protocol !== 'https:' || url.port !== '' || !HOST.test(url.hostname)) return null;
  return url.username === '' && url.password === '' ? url : null;
}

/** Checks who signed a message, and when, at `now` (wall ms); `topicArn` is the only topic that counts, null for any. */
export async function proveSns(
  { topicArn: topic, type, at, subscribeUrl, signature }: SnsMessage,
  topicArn: string | null,
  certificates: SnsCertificates,
  now: number,
): Promise<Proof> {
  if (topicArn !== null && topic !== topicArn) return bad(401, 'it is of another topic');
  if (!isFresh(at, now, MAX_AGE_MS)) return bad(401, 'the timestamp is too far off');
  if (type !== 'Notification' && subscribeUrl === null) return bad(401, 'SubscribeURL does not lead to SNS');
  if (signature.certificateUrl === null) return bad(401, 'SigningCertURL does not lead to SNS');
  const found = await certificates.find(signature.certificateUrl, now);
  if (found.kind !== 'key') return found.kind === 'bad' ? bad(401, found.why) : found;
  return isSignedBy(signature, found.key) ? PROVEN : bad(401, 'the signature is wrong');
}

function isSignedBy({ algorithm, signed, bytes }: SnsSignature, key: Parameters<typeof verify>[2]): boolean {
  try {
    return verify(algorithm, Buffer.from(signed), key, bytes);
  } catch {
    // A system may have SHA-1 switched off.
    return false;
  }
}
