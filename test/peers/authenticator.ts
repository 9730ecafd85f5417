/**
 * An authenticator (WebAuthn Level 3 §6) with a browser around it: makes passkeys and signs with them, and lies where a test
 * asks it to. ES256, without an attestation.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** What an answer says, where it is not what an honest authenticator says. */
export interface Lies {
  readonly challenge?: string;
  readonly origin?: string;
  /** The host name whose hash is in the signed data. */
  readonly host?: string;
  readonly type?: string;
  readonly userVerified?: boolean;
  readonly userPresent?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  /** Signs with another passkey's key. */
  readonly signer?: Passkey;
}

/** A passkey in an authenticator. */
export interface Passkey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly userHandle: string;
  counter: number;
}

interface Creation {
  readonly challenge: string;
  readonly rp: { readonly id?: string };
  readonly user: { readonly id: string };
}

interface Request {
  readonly challenge: string;
  readonly rpId?: string;
}

const USER_PRESENT = 1;
const USER_VERIFIED = 4;
const HOLDS_CREDENTIAL = 64;

/** Makes a passkey for a page of this origin. Returns it with the answer to send. */
export function makePasskey(options: Creation, origin: string, lies: Lies = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const point = (coordinate: string) => bytes(Buffer.from(coordinate, 'base64url'));
  const held = Buffer.concat([
    Buffer.alloc(16),
    Buffer.from([0, id.length]),
    id,
    // COSE: kty EC2, alg ES256, crv P-256, x, y.
    map([
      [int(1), int(2)],
      [int(3), int(-7)],
      [int(-1), int(1)],
      [int(-2), point(x)],
      [int(-3), point(y)],
    ]),
  ]);
  const passkey: Passkey = {
    id: id.toString('base64url'),
    privateKey,
    userHandle: options.user.id,
    counter: lies.counter ?? 0,
  };
  const data = Buffer.concat([
    signedData(options.rp.id ?? '', passkey.counter, lies, HOLDS_CREDENTIAL),
    held,
  ]);
  const attestation = map([
    [text('fmt'), text('none')],
    [text('attStmt'), map([])],
    [text('authData'), bytes(data)],
  ]);
  return {
    passkey,
    response: {
      ...credential(passkey.id),
      response: {
        clientDataJSON: clientData('webauthn.create', options.challenge, origin, lies),
        attestationObject: attestation.toString('base64url'),
      },
    },
  };
}

/** Signs in with a passkey at a page of this origin. */
export function answerWith(passkey: Passkey, options: Request, origin: string, lies: Lies = {}) {
  passkey.counter = lies.counter ?? (passkey.counter === 0 ? 0 : passkey.counter + 1);
  const data = signedData(options.rpId ?? '', passkey.counter, lies, 0);
  const clientDataJSON = clientData('webauthn.get', options.challenge, origin, lies);
  const hash = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest();
  const signature = sign('sha256', Buffer.concat([data, hash]), (lies.signer ?? passkey).privateKey);
  return {
    ...credential(passkey.id),
    response: {
      clientDataJSON,
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: lies.userHandle ?? passkey.userHandle,
    },
  };
}

function credential(id: string) {
  return { id, rawId: id, type: 'public-key' as const };
}

function clientData(type: string, challenge: string, origin: string, lies: Lies): string {
  const data = { type, challenge, origin, crossOrigin: false, ...lies };
  const { type: said, challenge: answered, origin: from, crossOrigin } = data;
  return Buffer.from(JSON.stringify({ type: said, challenge: answered, origin: from, crossOrigin })).toString(
    'base64url',
  );
}

function signedData(rpId: string, counter: number, lies: Lies, flags: number): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  const present = lies.userPresent === false ? 0 : USER_PRESENT;
  const verified = lies.userVerified === false ? 0 : USER_VERIFIED;
  const hash = createHash('sha256')
    .update(lies.host ?? rpId)
    .digest();
  return Buffer.concat([hash, Buffer.from([flags | present | verified]), count]);
}

// CBOR (RFC 8949), as much as there is here.

function head(major: number, value: number): Buffer {
  const kind = major << 5;
  if (value < 24) return Buffer.from([kind | value]);
  if (value < 256) return Buffer.from([kind | 24, value]);
  return Buffer.from([kind | 25, value >> 8, value & 0xff]);
}

function int(value: number): Buffer {
  return value < 0 ? head(1, -1 - value) : head(0, value);
}

function bytes(value: Buffer): Buffer {
  return Buffer.concat([head(2, value.length), value]);
}

function text(value: string): Buffer {
  return Buffer.concat([head(3, value.length), Buffer.from(value)]);
}

function map(entries: readonly (readonly [Buffer, Buffer])[]): Buffer {
  return Buffer.concat([head(5, entries.length), ...entries.flat()]);
}
