/**
 * Speaks to an authority by ACME (RFC 8555). Every method rejects with {@link AcmeError}. Signatures are those of
 * `jose`; the requests are ours, so that what the authority asks for (`Retry-After`, fresh nonces) is heeded.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, FlattenedSign, type JWK } from 'jose';
import type { RenewalWindow } from '../domain/certificate.ts';
import { parseTimestamp } from '../lib/clock.ts';
import { decodeJson, memberOf, textOf } from '../lib/decode.ts';
import type { Answered, Carrier } from './https.ts';
import { AcmeError, refusal } from './problem.ts';

/** What a client is made from. */
export interface AcmeClientOptions {
  /** The URL of the authority's directory. */
  readonly directory: string;
  /** Closed with the client. */
  readonly carrier: Carrier;
  /** The account's key: PEM, of curve P-256. */
  readonly accountKey: string;
}

/** How an account is made. */
export interface AccountTerms {
  /** The operator agreed to the authority's terms. */
  readonly agreesToTerms: boolean;
  /** An address for warnings of the authority; null: none. */
  readonly contact: string | null;
  /** What binds it to an account that the authority knows otherwise (RFC 8555 §7.3.4); null: nothing. */
  readonly binding: { readonly keyId: string; readonly hmacKey: string } | null;
}

/** A resource of the authority: JSON, where it is, and when to ask again. */
export interface Resource {
  readonly url: string;
  readonly body: unknown;
  readonly retryAfterMs: number | null;
}

/** See RFC 9773 §4.2. */
export interface SuggestedWindow {
  readonly window: RenewalWindow;
  readonly retryAfterMs: number | null;
}

const NONCE_TRIES = 5;
const MAX_TEXT = 2000;
const ALGORITHM = 'ES256';

/** Makes the key of a new account, as PEM. */
export function createAccountKey(): string {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;
}

/** See above. */
export class AcmeClient {
  readonly #options: AcmeClientOptions;
  readonly #carrier: Carrier;
  readonly #key: KeyObject;
  #directory: unknown = null;
  #account: string | null = null;
  #nonce: string | null = null;

  constructor(options: AcmeClientOptions) {
    this.#options = options;
    this.#carrier = options.carrier;
    this.#key = createPrivateKey(options.accountKey);
  }

  /** Ends its connections. */
  close(): void {
    this.#carrier.close();
  }

  /** Signs in to the account of the key, which is made if the authority does not know it. */
  async signIn(terms: AccountTerms): Promise<void> {
    const known = await this.#find();
    const contact = terms.contact === null ? [] : [`mailto:${terms.contact}`];
    if (known === null) {
      await this.#register(terms, contact);
      return;
    }
    const told = [memberOf(known.body, 'contact')].flat().filter((one) => typeof one === 'string');
    const isSame = told.length === contact.length && told.every((one) => contact.includes(one));
    // Some authorities do not say whom they would write to.
    if (!isSame && told.length > 0) await this.post(known.url, { contact }, 'to change the contact');
  }

  /** Asks for a certificate for these names (RFC 8555 §7.4), as the successor of one (RFC 9773 §5). */
  async newOrder(names: readonly string[], replaces: string | null): Promise<Resource> {
    const identifiers = names.map((value) => ({ type: 'dns', value }));
    const url = await this.#url('newOrder');
    const successor = replaces !== null && (await this.offersRenewalInfo()) ? { replaces } : {};
    try {
      return await this.#created(url, { identifiers, ...successor }, 'to order');
    } catch (error) {
      // It was replaced before, or is another account's: the order is made without naming it.
      const isAboutIt =
        error instanceof AcmeError && /^(?:alreadyReplaced|malformed|conflict)$/.test(error.type ?? '');
      if (!isAboutIt || !('replaces' in successor)) throw error;
      return await this.#created(url, { identifiers }, 'to order');
    }
  }

  /** Sends a request to a resource; null asks what it is (RFC 8555 §6.3). */
  async post(url: string, payload: unknown, during: string): Promise<Resource> {
    const answer = await this.#send(url, payload, during);
    return { url, body: decodeJson(answer.body.toString('utf8')), retryAfterMs: answer.retryAfterMs };
  }

  /** Fetches a certificate and its chain: PEM. */
  async certificate(url: string): Promise<string> {
    return (await this.#send(url, null, 'to fetch the certificate')).body.toString('latin1');
  }

  /** What answers a challenge with this token (RFC 8555 §8.1). */
  async keyAuthorization(token: string): Promise<string> {
    return `${token}.${await calculateJwkThumbprint(await this.#publicKey(), 'sha256')}`;
  }

  /** Whether the authority says when to renew. */
  async offersRenewalInfo(): Promise<boolean> {
    return textOf(await this.#read(), 'renewalInfo', MAX_TEXT) !== null;
  }

  /** When the authority suggests to renew the certificate with this id; null: it does not say. */
  async renewalInfo(certificateId: string): Promise<SuggestedWindow | null> {
    const base = textOf(await this.#read(), 'renewalInfo', MAX_TEXT);
    if (base === null) return null;
    const answer = await this.#carrier.ask({
      url: `${base.replace(/\/$/, '')}/${certificateId}`,
      body: null,
    });
    if (answer.status !== 200) throw refusalOf(answer, 'to ask when to renew');
    const body = decodeJson(answer.body.toString('utf8'));
    const suggested = memberOf(body, 'suggestedWindow');
    const start = parseTimestamp(textOf(suggested, 'start', MAX_TEXT) ?? '');
    const end = parseTimestamp(textOf(suggested, 'end', MAX_TEXT) ?? '');
    if (start === null || end === null || end <= start)
      throw new AcmeError('authority_failed', 'the authority suggests no window to renew in');
    const page = textOf(body, 'explanationURL', MAX_TEXT);
    // It becomes a link: anything else could be a program.
    const explanation = page?.startsWith('https://') === true && URL.canParse(page) ? page : null;
    return { window: { start, end, explanation }, retryAfterMs: answer.retryAfterMs };
  }

  async #find(): Promise<Resource | null> {
    try {
      return await this.#signedIn({ onlyReturnExisting: true }, 'to sign in');
    } catch (error) {
      if (error instanceof AcmeError && error.type === 'accountDoesNotExist') return null;
      // In answer to any other request it is not about the account.
      if (error instanceof AcmeError && error.type === 'unauthorized')
        throw new AcmeError('account_refused', error.message, error);
      throw error;
    }
  }

  async #register({ agreesToTerms, binding }: AccountTerms, contact: readonly string[]): Promise<void> {
    const url = await this.#url('newAccount');
    const bound =
      binding === null
        ? {}
        : {
            externalAccountBinding: await new FlattenedSign(jsonBytes(await this.#publicKey()))
              .setProtectedHeader({ alg: 'HS256', kid: binding.keyId, url })
              .sign(Buffer.from(binding.hmacKey, 'base64url')),
          };
    const account = { contact, termsOfServiceAgreed: agreesToTerms, ...bound };
    await this.#signedIn(account, 'to make an account');
  }

  async #signedIn(payload: unknown, during: string): Promise<Resource> {
    // RFC 8555 §6.2: requests about accounts themselves are signed with the key alone.
    this.#account = null;
    const account = await this.#created(await this.#url('newAccount'), payload, during);
    this.#account = account.url;
    return account;
  }

  /** Sends a request that is answered with where the new resource is. */
  async #created(url: string, payload: unknown, during: string): Promise<Resource> {
    const answer = await this.#send(url, payload, during);
    if (answer.location === null)
      throw new AcmeError('authority_failed', `${during}: the answer names no URL`);
    return {
      url: answer.location,
      body: decodeJson(answer.body.toString('utf8')),
      retryAfterMs: answer.retryAfterMs,
    };
  }

  /** Signs and sends; with another nonce where the authority refuses the first one (RFC 8555 §6.5). */
  async #send(url: string, payload: unknown, during: string): Promise<Answered> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#carrier.ask({ url, body: await this.#signed(url, payload) });
      this.#nonce = answer.nonce;
      if (answer.status >= 200 && answer.status < 300) return answer;
      const error = refusalOf(answer, during);
      if (error.type !== 'badNonce' || tries === NONCE_TRIES) throw error;
    }
  }

  async #signed(url: string, payload: unknown): Promise<string> {
    const nonce = await this.#freshNonce();
    const who = this.#account === null ? { jwk: await this.#publicKey() } : { kid: this.#account };
    const bytes = payload === null ? new Uint8Array() : jsonBytes(payload);
    const signed = await new FlattenedSign(bytes)
      .setProtectedHeader({ alg: ALGORITHM, nonce, url, ...who })
      .sign(this.#key);
    return JSON.stringify(signed);
  }

  async #freshNonce(): Promise<string> {
    const kept = this.#nonce;
    this.#nonce = null;
    if (kept !== null) return kept;
    const answer = await this.#carrier.ask({
      url: await this.#url('newNonce'),
      body: null,
      method: 'HEAD',
    });
    if (answer.nonce === null) throw new AcmeError('authority_failed', 'the authority gives no nonce');
    return answer.nonce;
  }

  /** The public part alone: exporting the private key would tell all of it. */
  async #publicKey(): Promise<JWK> {
    return await exportJWK(createPublicKey(this.#key));
  }

  async #url(name: string): Promise<string> {
    const url = textOf(await this.#read(), name, MAX_TEXT);
    if (url !== null) return url;
    throw new AcmeError(
      'authority_failed',
      `${this.#options.directory} names no ${name}: is it a directory of ACME?`,
    );
  }

  async #read(): Promise<unknown> {
    if (this.#directory !== null) return this.#directory;
    const answer = await this.#carrier.ask({ url: this.#options.directory, body: null });
    if (answer.status !== 200) throw refusalOf(answer, 'to read the directory');
    this.#directory = decodeJson(answer.body.toString('utf8'));
    return this.#directory;
  }
}

function refusalOf({ status, type, body, retryAfterMs }: Answered, during: string): AcmeError {
  if (type.startsWith('application/problem+json'))
    return refusal(decodeJson(body.toString('utf8')), during, retryAfterMs);
  const code = status === 429 ? 'rate_limited' : status >= 500 ? 'authority_failed' : 'order_failed';
  return new AcmeError(code, `${during}: the authority answers ${status}`, { retryAfterMs });
}

function jsonBytes(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
