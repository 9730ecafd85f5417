import { readWholeBody } from '../../../../http/body.ts';
import type { Exchange } from '../../../../http/exchange.ts';
import { Problem } from '../../../../http/problem.ts';
import type { Budget, Share } from '../../../../lib/budget.ts';
import { type Clock, inSlices, turnFor } from '../../../../lib/clock.ts';
import type { Authenticator, Caller } from '../../../authenticator.ts';
import { digestOf } from '../../idempotency.ts';
import type { IngestOptions } from '../../options.ts';
import { JSON_WEIGHT, messageBodyBounds } from '../../read-fields.ts';
import {
  gatherHeaders,
  isSignedWith,
  readSignature,
  type SignatureRefusal,
  type SignedRequest,
} from './signature.ts';

/** Who calls, where requests are signed (contract-2 §C6). */

/** What finding the caller needs. */
export interface SignedDeps {
  readonly authenticator: Pick<Authenticator, 'findSigner'>;
  /** Bytes of bodies in memory. */
  readonly budget: Budget;
  readonly clock: Pick<Clock, 'wall'>;
  readonly options: Pick<IngestOptions, 'publicHosts'> & { readonly limits: BodyLimits };
}

/** What bounds a body. */
type BodyLimits = Pick<IngestOptions['limits'], 'maxMessageBytes'>;

const SERVICE = 'ses';
const DIGEST_HEADER = 'x-amz-content-sha256';

/** A body that had to be read before its signature could be verified, as its digest was not sent. */
interface EarlyBody {
  /** Whoever uses it may free its memory. */
  readonly body: Buffer;
  readonly digest: string;
}

/** What a request was proven to be signed with. */
interface Proof {
  readonly accessKeyId: string;
  readonly secret: string;
}

const PROVEN = new WeakMap<Exchange, Proof>();
const READ_EARLY = new WeakMap<Exchange, EarlyBody>();

/**
 * The caller whose signature a request has. Throws a `Problem`: 403 without a valid one; where the request does not say
 * what digest its body has, also what reading that throws.
 */
export async function signedCaller(exchange: Exchange, deps: SignedDeps): Promise<Caller> {
  // Asked again before a message is taken: the access may have ended meanwhile, but the signature is what it was.
  const proof = PROVEN.get(exchange);
  if (proof !== undefined) {
    const signer = await deps.authenticator.findSigner(proof.accessKeyId);
    if (signer?.secret === proof.secret) return signer.caller;
    throw refused('unknown');
  }
  const request = requestOf(exchange);
  const signature = readSignature(request, { service: SERVICE, now: deps.clock.wall() });
  if (typeof signature === 'string') throw refused(signature);
  const { accessKeyId, bodyDigest } = signature;
  const signer = await deps.authenticator.findSigner(accessKeyId);
  if (signer === null) throw refused('unknown');
  const digest = bodyDigest ?? (await readEarly(exchange, accessKeyId, deps)).digest;
  const isSigned = (as: SignedRequest) => isSignedWith(signer.secret, signature, as, digest);
  if (!isSigned(request) && !deps.options.publicHosts.some((host) => isSigned(withHost(request, host))))
    throw refused('wrong');
  PROVEN.set(exchange, { accessKeyId, secret: signer.secret });
  return signer.caller;
}

/** Reads the body of a request whose signature is verified. Throws 400 if it is not the signed one; 413, 415, 503. */
export async function readSignedBody(exchange: Exchange, limits: BodyLimits, budget: Share): Promise<Buffer> {
  const early = READ_EARLY.get(exchange);
  if (early !== undefined) return early.body;
  const body = await readJsonOf(exchange, limits, budget);
  const digest = await inSlices(digestOf(body), turnFor(body.length));
  if (exchange.headers[DIGEST_HEADER] === digest) return body;
  throw new Problem(
    400,
    'body_not_signed',
    'The body does not have the digest that x-amz-content-sha256 says.',
  );
}

/** What strangers who know no more than an access key id may hold is no part of the share of its owner. */
async function readEarly(exchange: Exchange, accessKeyId: string, deps: SignedDeps): Promise<EarlyBody> {
  const known = READ_EARLY.get(exchange);
  if (known !== undefined) return known;
  const budget = deps.budget.share(`signed ${accessKeyId}`);
  const body = await readJsonOf(exchange, deps.options.limits, budget);
  const early = { body, digest: await inSlices(digestOf(body), turnFor(body.length)) };
  READ_EARLY.set(exchange, early);
  return early;
}

function readJsonOf(exchange: Exchange, limits: BodyLimits, budget: Share): Promise<Buffer> {
  return readWholeBody(exchange, { ...messageBodyBounds(limits), budget, weight: JSON_WEIGHT });
}

function requestOf({ method, path, search, request }: Exchange): SignedRequest {
  return { method, path, search, headers: gatherHeaders(request.rawHeaders) };
}

/** As a proxy got it that passes on another Host. */
function withHost(request: SignedRequest, host: string): SignedRequest {
  return { ...request, headers: new Map(request.headers).set('host', [host]) };
}

// biome-ignore format: a table
const REFUSALS: Readonly<Record<SignatureRefusal | 'unknown' | 'wrong', readonly [code: string, detail: string]>> = {
  missing:    ['signature_missing', 'Missing Authentication Token'],
  presigned:  ['signature_incomplete', 'Requests that are signed in their query are not taken: sign them in the header Authorization.'],
  incomplete: ['signature_incomplete', 'The signature must be AWS4-HMAC-SHA256 for the service ses, of the day of x-amz-date, and must cover Host and every x-amz header.'],
  expired:    ['signature_expired', 'Signature expired: x-amz-date is more than 15 minutes off. Set the clock.'],
  unknown:    ['access_key_unknown', 'The security token included in the request is invalid.'],
  wrong:      ['signature_wrong', 'The request signature we calculated does not match the signature you provided. Check the secret access key; behind a proxy that changes Host, api.public_hosts.'],
};

function refused(why: keyof typeof REFUSALS): Problem {
  const [code, detail] = REFUSALS[why];
  return new Problem(403, code, detail);
}
