import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { NewestMap } from '../../../../lib/newest-map.ts';

/**
 * AWS Signature Version 4, as it is verified: over method, path, query, headers and the digest of the body. Texts of
 * requests are as Node gives them: each character is a byte.
 */

/** A request, as far as it is signed. */
export interface SignedRequest {
  readonly method: string;
  /** As sent, percent-encoded, without the query. */
  readonly path: string;
  /** As sent, without `?`. */
  readonly search: string;
  readonly headers: SignedHeaders;
}

/** The values of every header field in order, by its name in lower case. */
export type SignedHeaders = ReadonlyMap<string, readonly string[]>;

/** What an `Authorization` header says of a signature, and what is signed with it. */
export interface Signature {
  readonly accessKeyId: string;
  /** `date/region/service/aws4_request`. */
  readonly scope: string;
  /** As in `x-amz-date`. */
  readonly date: string;
  /** In lower case, sorted. */
  readonly signedHeaders: readonly string[];
  /** In hex. */
  readonly value: string;
  /** The digest that the request says its body has; null: it says nothing, and the body itself decides. */
  readonly bodyDigest: string | null;
}

/** Header fields as Node has them, names and values in turn. */
export function gatherHeaders(rawHeaders: readonly string[]): SignedHeaders {
  const headers = new Map<string, string[]>();
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const name = (rawHeaders[place] ?? '').toLowerCase();
    const value = rawHeaders[place + 1] ?? '';
    const known = headers.get(name);
    if (known === undefined) headers.set(name, [value]);
    else known.push(value);
  }
  return headers;
}

/**
 * Why there is no signature to verify. `missing`: nothing is signed. `presigned`: it is in the query. `incomplete`: it
 * is not of the form, for another service, or leaves out what must be signed. `expired`: its time is too far off.
 */
export type SignatureRefusal = 'missing' | 'presigned' | 'incomplete' | 'expired';

/** What a signature is judged by. */
export interface SignatureTerms {
  /** The only service that it may be for, such as `ses`; the region may be any. */
  readonly service: string;
  /** Wall ms. */
  readonly now: number;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const MAX_SKEW_MS = 15 * 60_000;
const DIGEST_HEADER = 'x-amz-content-sha256';
const DATE_HEADER = 'x-amz-date';

/**
 * Keys that have verified a signature, by scope and secret: to derive one costs more than all the rest. Who knows no secret
 * adds none, whatever scopes he names.
 */
const PROVEN_KEYS = new NewestMap<string, KeyObject>(1_000);

const CREDENTIAL = /^([\w-]{1,128})\/((\d{8})\/[\w-]{1,64}\/([\w-]{1,64})\/aws4_request)$/;
const SIGNED_HEADERS = /^[!#$%&'*+.^_`|~0-9a-z-]+(?:;[!#$%&'*+.^_`|~0-9a-z-]+)*$/;
const SIGNATURE = /^[0-9a-f]{64}$/;
/** Nothing in it is written in another way. */
const PLAIN_PATH = /^(?:\/[\w~-]+)+$/;
const DATE = /^\d{8}T\d{6}Z$/;

/** Reads a request's signature; whose secret it needs is then known. */
export function readSignature(request: SignedRequest, terms: SignatureTerms): Signature | SignatureRefusal {
  const { headers } = request;
  const [authorization, ...others] = headers.get('authorization') ?? [];
  if (/(?:^|&)x-amz-(?:signature|algorithm|credential)=/i.test(request.search)) return 'presigned';
  if (authorization === undefined || !authorization.startsWith(ALGORITHM)) return 'missing';
  const parts = others.length === 0 ? partsOf(authorization) : null;
  if (parts === null) return 'incomplete';
  const [, accessKeyId, scope, day, service] = CREDENTIAL.exec(parts.Credential) ?? [];
  const [date, ...otherDates] = headers.get(DATE_HEADER) ?? [];
  const time = timeOf(date ?? '');
  const isComplete =
    SIGNATURE.test(parts.Signature) &&
    SIGNED_HEADERS.test(parts.SignedHeaders) &&
    service === terms.service &&
    otherDates.length === 0;
  if (!isComplete || accessKeyId === undefined || scope === undefined) return 'incomplete';
  if (date === undefined || time === null || date.slice(0, 8) !== day) return 'incomplete';
  const signedHeaders = parts.SignedHeaders.split(';');
  if (!coversAll(signedHeaders, headers)) return 'incomplete';
  if (Math.abs(time - terms.now) > MAX_SKEW_MS) return 'expired';
  const [bodyDigest = null] = headers.get(DIGEST_HEADER) ?? [];
  return { accessKeyId, scope, date, signedHeaders, value: parts.Signature, bodyDigest };
}

/** Whether the signature is that of this request and body with this secret. Takes the same time for every wrong one. */
export function isSignedWith(
  secret: string,
  signature: Signature,
  request: SignedRequest,
  bodyDigest: string,
): boolean {
  const { date, scope } = signature;
  const canonical = Buffer.from(canonicalRequest(request, signature, bodyDigest), 'latin1');
  const toSign = [ALGORITHM, date, scope, hash('sha256', canonical, 'hex')].join('\n');
  const name = `${scope} ${secret}`;
  const proven = PROVEN_KEYS.get(name);
  const key = proven ?? signingKey(secret, scope);
  const isTrue = timingSafeEqual(hmac(key, toSign), Buffer.from(signature.value, 'hex'));
  if (isTrue && proven === undefined) PROVEN_KEYS.set(name, key);
  return isTrue;
}

/** The text whose digest is signed. */
export function canonicalRequest(
  request: SignedRequest,
  { signedHeaders }: Pick<Signature, 'signedHeaders'>,
  bodyDigest: string,
): string {
  return [
    request.method,
    canonicalPath(request.path),
    canonicalQuery(request.search),
    ...signedHeaders.map((name) => `${name}:${(request.headers.get(name) ?? []).map(trimmed).join(',')}`),
    '',
    signedHeaders.join(';'),
    bodyDigest,
  ].join('\n');
}

/** The three parts of the header, each once and in any order; null: it is not of the form. */
function partsOf(authorization: string) {
  if (!authorization.startsWith(' ', ALGORITHM.length)) return null;
  const found = new Map<string, string>();
  for (const part of authorization
    .slice(ALGORITHM.length)
    .trimStart()
    .split(/, *| +/)) {
    const end = part.indexOf('=');
    const name = part.slice(0, end);
    if (end < 0 || found.has(name)) return null;
    found.set(name, part.slice(end + 1));
  }
  const [Credential, SignedHeaders, Signature] = [
    found.get('Credential'),
    found.get('SignedHeaders'),
    found.get('Signature'),
  ];
  const isWhole = found.size === 3 && Credential !== undefined && SignedHeaders !== undefined;
  return isWhole && Signature !== undefined ? { Credential, SignedHeaders, Signature } : null;
}

/** Whether the list is sorted, names only what is there, and leaves out nothing that must be signed. */
function coversAll(signedHeaders: readonly string[], headers: SignedHeaders): boolean {
  for (const name of headers.keys())
    if (name.startsWith('x-amz-') && !signedHeaders.includes(name)) return false;
  let before = '';
  for (const name of signedHeaders) {
    if (name <= before || !headers.has(name)) return false;
    before = name;
  }
  return signedHeaders.includes('host');
}

/** Null: it is none, such as the 31st of February. */
function timeOf(date: string): number | null {
  if (!DATE.test(date)) return null;
  const number = (from: number) => Number(date.slice(from, from + 2));
  const [month, day, hour, minute, second] = [number(4), number(6), number(9), number(11), number(13)];
  const time = Date.UTC(Number(date.slice(0, 4)), month - 1, day, hour, minute, second);
  const isTrue = month >= 1 && month <= 12 && hour < 24 && minute < 60 && second < 60;
  return isTrue && new Date(time).getUTCDate() === day ? time : null;
}

/** Without blanks around it, and with one in place of several. Bytes that are none in ASCII may be part of a letter. */
function trimmed(value: string): string {
  return value.replace(/[\t\n\r ]+/g, ' ').replace(/^ | $/g, '');
}

/** Dot segments and empty ones resolved, and what was sent encoded once more: of all services only S3 leaves that out. */
function canonicalPath(path: string): string {
  if (PLAIN_PATH.test(path)) return path;
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(encode(segment));
  }
  return segments.length === 0 ? '/' : `/${segments.join('/')}${path.endsWith('/') ? '/' : ''}`;
}

/** Names and values decoded and encoded anew, sorted. */
function canonicalQuery(search: string): string {
  if (search === '') return '';
  const pairs = search.split('&').flatMap((text): [name: string, value: string][] => {
    if (text === '') return [];
    const end = text.indexOf('=');
    const [name, value] = end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)];
    return [[encode(decode(name)), encode(decode(value))]];
  });
  return pairs
    .toSorted(([aName, aValue], [bName, bValue]) => compare(aName, bName) || compare(aValue, bValue))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** By bytes: what is encoded is ASCII. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Each byte as `%XX` but for the unreserved ones (RFC 3986 §2.3). */
function encode(bytes: string): string {
  return bytes.replace(
    /[^\w.~-]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** A `%` without two hex digits stands for itself. */
function decode(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The key for one day, region and service. */
function signingKey(secret: string, scope: string): KeyObject {
  return createSecretKey(scope.split('/').reduce<Buffer>(hmac, Buffer.from(`AWS4${secret}`)));
}

function hmac(key: Buffer | KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
