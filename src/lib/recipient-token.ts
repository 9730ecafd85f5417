import { createHmac, timingSafeEqual } from 'node:crypto';
import { fromBase32, messageIdBytes, messageIdOf, toBase32 } from './id.ts';

/**
 * Tokens that name a recipient of a message and cannot be made up: in the return path (contract-2 §A2) and in what
 * unsubscribes (§A7). 25 bytes, the message (16), the recipient (3), and the beginning of their HMAC (6), are 40
 * characters of Crockford's base32; `b-` or `u-` and these are a local part of 42, of the 64 that RFC 5321 allows.
 */
export interface RecipientTokens {
  /** The token of a recipient. Throws RangeError for what is no message id, or a number that a token cannot hold. */
  write(about: TokenSubject): string;
  /** What a token is about, however its letters are written; null if we did not make it. */
  read(token: string): TokenSubject | null;
  /** The local part with the token. Throws like `write`. */
  localPart(about: TokenSubject): string;
  /** The same of a local part; null also if it has another form. */
  readLocalPart(local: string): TokenSubject | null;
}

/** What a token is about. */
export interface TokenSubject {
  /** Of the message. */
  readonly id: string;
  /** The recipient's place in the envelope, from 0; null: several recipients. */
  readonly recipient: number | null;
}

/** What tokens are for. Each purpose has a key of its own, so that one cannot be passed off as the other. */
export type TokenPurpose = 'return_path' | 'unsubscribe' | 'probe';

/** How keys are derived: the `info` of HKDF; and how local parts begin. */
const PURPOSES: Readonly<Record<TokenPurpose, { readonly info: string; readonly prefix: string }>> = {
  return_path: { info: 'waybill verp', prefix: 'b-' },
  unsubscribe: { info: 'waybill unsubscribe', prefix: 'u-' },
  // Mail by which an installation finds out whether its own mail comes back.
  probe: { info: 'waybill probe', prefix: 'p-' },
};

/** The keys of all purposes, for a thread or a part that must not have `secret.key` itself. */
export type TokenKeys = Readonly<Record<TokenPurpose, Uint8Array>>;

/** The keys; `derive` as in {@link createRecipientTokens}. */
export function tokenKeys(derive: (info: string) => Uint8Array): TokenKeys {
  return {
    return_path: derive(PURPOSES.return_path.info),
    unsubscribe: derive(PURPOSES.unsubscribe.info),
    probe: derive(PURPOSES.probe.info),
  };
}

const MESSAGE_BYTES = 16;
const RECIPIENT_BYTES = 3;
const SIGNED_BYTES = MESSAGE_BYTES + RECIPIENT_BYTES;
const MAC_BYTES = 6;
/** Without regard to ASCII case alone: the Kelvin sign is no k. */
const TOKEN = /^[0-9a-hjkmnp-tv-z]{40}$/i;
/** All ones. */
const SEVERAL = 2 ** (RECIPIENT_BYTES * 8) - 1;

/** The tokens of a purpose. `derive` gives the key for an `info`, from `secret.key`. */
export function createRecipientTokens(
  purpose: TokenPurpose,
  derive: (info: string) => Uint8Array,
): RecipientTokens {
  const { info, prefix } = PURPOSES[purpose];
  const key = derive(info);
  const macOf = (signed: Uint8Array) =>
    createHmac('sha256', key).update(signed).digest().subarray(0, MAC_BYTES);

  const write = (about: TokenSubject) => {
    const signed = signedOf(about);
    return toBase32(Buffer.concat([signed, macOf(signed)]));
  };
  const read = (token: string) => {
    const bytes = TOKEN.test(token) ? fromBase32(token.toLowerCase()) : null;
    if (bytes === null) return null;
    const signed = bytes.subarray(0, SIGNED_BYTES);
    return timingSafeEqual(macOf(signed), bytes.subarray(SIGNED_BYTES)) ? subjectOf(signed) : null;
  };
  return {
    write,
    read,
    localPart: (about) => prefix + write(about),
    readLocalPart: (local) =>
      local.slice(0, prefix.length).toLowerCase() === prefix ? read(local.slice(prefix.length)) : null,
  };
}

/** How an installation asks itself whether mail comes back: where it sends, and the answer that nobody else can give. */
export function probeOf(
  probes: Pick<RecipientTokens, 'localPart' | 'write'>,
  id: string,
): { readonly localPart: string; readonly proof: string } {
  return { localPart: probes.localPart({ id, recipient: null }), proof: probes.write({ id, recipient: 0 }) };
}

function signedOf({ id, recipient }: TokenSubject): Buffer {
  if (recipient !== null && !(Number.isInteger(recipient) && recipient >= 0 && recipient < SEVERAL))
    throw new RangeError('a token cannot hold the number of this recipient');
  const signed = Buffer.alloc(SIGNED_BYTES);
  signed.set(messageIdBytes(id));
  signed.writeUIntBE(recipient ?? SEVERAL, MESSAGE_BYTES, RECIPIENT_BYTES);
  return signed;
}

function subjectOf(signed: Uint8Array): TokenSubject {
  const number = Buffer.from(signed).readUIntBE(MESSAGE_BYTES, RECIPIENT_BYTES);
  return {
    id: messageIdOf(signed.subarray(0, MESSAGE_BYTES)),
    recipient: number === SEVERAL ? null : number,
  };
}
