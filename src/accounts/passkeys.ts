import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { z } from 'zod';
import type { Passkey, User } from '../domain/account.ts';
import { hashSecret } from '../lib/id.ts';
import { type Challenge, MAX_PASSKEYS } from '../store/accounts.ts';
import { AccountRefusal, attempt, type Reception, requireBox, resumed, signedOut } from './reception.ts';
import { newToken } from './secrets.ts';
import type { Found, Opened, Visit } from './sessions.ts';
import { openFull } from './sign-in.ts';

/**
 * Passkeys (WebAuthn Level 3). They sign in without a name and a password: the authenticator checks who uses it, by a
 * fingerprint or a PIN, so that possession and knowledge are proven together.
 */

/** The page's address: a passkey belongs to its host name, and signs the origin. */
export interface Place {
  /** The host name, without a port. */
  readonly host: string;
  /** Such as `https://mail.example.com:8420`. */
  readonly origin: string;
}

/** A request to an authenticator, and a text that the browser returns with the answer. */
export interface Begun<Options> {
  readonly options: Options;
  readonly begun: string;
}

/** An authenticator's answer, and what was begun with it. */
export interface Answered<Response> {
  readonly begun: string;
  readonly response: Response;
}

/** Answers as JSON. No extension is asked for, so none is read. */
type SignInAnswer = Omit<AuthenticationResponseJSON, 'clientExtensionResults'>;
type NewPasskeyAnswer = Omit<RegistrationResponseJSON, 'clientExtensionResults'>;

/** How long the user has, in ms: WebAuthn recommends five minutes. */
const ANSWER_MS = 5 * 60_000;
/** EdDSA, ES256, RS256: what authenticators have. */
const ALGORITHMS = [-8, -7, -257];
const TO_SIGN_IN = 'sign-in with a passkey';

const beginning = z.strictObject({
  challenge: z.string(),
  origin: z.string(),
  at: z.number(),
  /** Of a new passkey. */
  handle: z.string().nullable(),
});
type Beginning = z.infer<typeof beginning>;

/** Begins a sign-in with any of the passkeys that the browser has for this host. Rejects with `AccountRefusal`. */
export async function beginPasskeySignIn(
  reception: Reception,
  place: Place,
): Promise<Begun<PublicKeyCredentialRequestOptionsJSON>> {
  const { challenge, begun } = begin(reception, place, TO_SIGN_IN);
  const { generateAuthenticationOptions } = await library();
  const options = await generateAuthenticationOptions({
    rpID: place.host,
    challenge: Buffer.from(challenge, 'base64url'),
    userVerification: 'required',
    timeout: ANSWER_MS,
  });
  return { options, begun };
}

/**
 * Signs a user in by a passkey, which is a second factor as well. `before`: as for `logIn`. Rejects with
 * `AccountRefusal`, `StoreError`.
 */
export async function passkeySignIn(
  reception: Reception,
  place: Place,
  { begun, response }: Answered<SignInAnswer>,
  visit: Visit,
  before: string | null,
): Promise<Opened> {
  const { accounts, clock } = reception;
  const passkey = await accounts.passkey(response.id);
  const user = passkey === null ? null : await accounts.user(passkey.user, clock.wall());
  const name = user?.name ?? null;
  await attempt(
    reception,
    { guess: 'passkey', account: name ?? '', user: name, visit },
    async () => {
      const started = passkey === null ? null : resume(reception, place, begun, TO_SIGN_IN);
      if (started === null || passkey === null) return false;
      const { handle } = passkey;
      if (handle !== null && response.response.userHandle !== handle) return false;
      const counter = await verifiedCount(passkey, place, started.challenge, response);
      if (counter === null) return false;
      const use = { counter, now: clock.wall(), challenge: challengeOf(started) };
      return await accounts.recordPasskeyUse(passkey.id, use);
    },
    { code: 'passkey_refused', message: REFUSED },
  );
  if (user === null) throw new AccountRefusal('passkey_refused', REFUSED);
  return await openFull(reception, user, visit, before, { by: 'passkey' });
}

const REFUSED =
  'This passkey signs nobody in here, or its answer came too late. Try again, or use your password.';

/** The signature counter of a right answer; null if the answer is wrong. */
async function verifiedCount(
  passkey: Passkey,
  { host, origin }: Place,
  challenge: string,
  response: SignInAnswer,
): Promise<number | null> {
  if (passkey.host !== host) return null;
  const { verifyAuthenticationResponse } = await library();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: host,
      credential: { id: passkey.id, publicKey: bytesOf(passkey.publicKey), counter: passkey.counter },
      requireUserVerification: true,
    });
    return verified ? authenticationInfo.newCounter : null;
  } catch {
    // The library's way to say which rule the answer breaks; whoever sent it is not told.
    return null;
  }
}

/** Begins to add a passkey; the caller has checked the password again. Rejects with `AccountRefusal`. */
export async function beginPasskey(
  reception: Reception,
  place: Place,
  { session, user }: Found,
): Promise<Begun<PublicKeyCredentialCreationOptionsJSON>> {
  const known = await reception.accounts.passkeys(user.name);
  if (known.length >= MAX_PASSKEYS) throw tooMany();
  // The same for all passkeys of a user, and nothing about them: not even a hash of the name (WebAuthn §14.6.1).
  const handle = known.find((passkey) => passkey.handle !== null)?.handle ?? newToken(reception.random);
  const { challenge, begun } = begin(reception, place, forSession(session.id), handle);
  const { generateRegistrationOptions } = await library();
  const options = await generateRegistrationOptions({
    rpName: 'Waybill',
    rpID: place.host,
    userName: user.name,
    userDisplayName: user.name,
    userID: bytesOf(handle),
    challenge: Buffer.from(challenge, 'base64url'),
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: known.filter(({ host }) => host === place.host).map(({ id }) => ({ id })),
    supportedAlgorithmIDs: ALGORITHMS,
    timeout: ANSWER_MS,
  });
  return { options, begun };
}

/** Adds the passkey that an authenticator has made. Rejects with `AccountRefusal`, `StoreError`. */
export async function addPasskey(
  reception: Reception,
  place: Place,
  { session, user }: Found,
  { begun, response, label }: Answered<NewPasskeyAnswer> & { readonly label: string },
  visit: Visit,
): Promise<void> {
  const { accounts, clock } = reception;
  const started = resume(reception, place, begun, forSession(session.id));
  if (started === null) throw unfit('its answer came too late, or belongs to another page. Begin anew');
  const { verifyRegistrationResponse } = await library();
  const credential = await verifyRegistrationResponse({
    response: { ...response, clientExtensionResults: {} },
    expectedChallenge: started.challenge,
    expectedOrigin: place.origin,
    expectedRPID: place.host,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).then(
    ({ registrationInfo }) => registrationInfo?.credential ?? null,
    // The library's way to say which rule the answer breaks.
    () => null,
  );
  if (credential === null) throw unfit('what the authenticator answered cannot be verified');
  const passkey: Passkey = {
    id: credential.id,
    user: user.name,
    handle: started.handle,
    host: place.host,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    label,
    createdAt: clock.wall(),
    lastUsedAt: null,
  };
  const answer = await accounts.addPasskey(passkey, challengeOf(started));
  if (answer === 'full') throw tooMany();
  if (answer === 'gone') throw signedOut();
  if (answer === 'spent') throw unfit('its answer was used before. Begin anew');
  if (answer === 'taken') throw unfit('it is in use here already');
  reception.sessions.refresh();
  await reception.note({ action: 'addPasskey', user: user.name, detail: { label, host: place.host } }, visit);
}

/** Removes one of the user's passkeys; the caller has checked the password again. Rejects with `AccountRefusal`. */
export async function removePasskey(
  reception: Reception,
  { name }: User,
  id: string,
  visit: Visit,
): Promise<void> {
  const removed = await reception.accounts.removePasskey(name, id);
  if (removed === null) throw new AccountRefusal('passkey_missing', 'You have no such passkey any more.');
  reception.sessions.refresh();
  const { label, host } = removed;
  await reception.note({ action: 'removePasskey', user: name, detail: { label, host } }, visit);
}

/** Whether browsers can have passkeys for this host: WebAuthn knows only names. */
export function canHavePasskeys(host: string): boolean {
  return isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0;
}

/** Loaded on first use: it takes longer than the rest of the start, and most sign-ins go without. */
function library() {
  return import('@simplewebauthn/server');
}

/** Makes a challenge, and seals it for the browser to keep: strangers' sign-ins must cost no memory and no commit. */
function begin(
  reception: Reception,
  { host, origin }: Place,
  purpose: string,
  handle: string | null = null,
): { readonly challenge: string; readonly begun: string } {
  if (!canHavePasskeys(host))
    throw unfit(`browsers have passkeys for host names only. Open this page by a name instead of ${host}`);
  const box = requireBox(reception, 'Passkeys cannot be used');
  const challenge = newToken(reception.random);
  const begun: Beginning = { challenge, origin, at: reception.clock.wall(), handle };
  return { challenge, begun: box.seal(JSON.stringify(begun), purpose) };
}

/** What was begun here, for this purpose and page, and may still be answered; null otherwise. */
function resume(reception: Reception, { origin }: Place, begun: string, purpose: string): Beginning | null {
  const found = resumed(reception, begun, { shape: beginning, purpose, forMs: ANSWER_MS });
  return found?.origin === origin ? found : null;
}

function forSession(id: string): string {
  return `new passkey in ${id}`;
}

/** The challenge of what was begun, as it is spent. */
function challengeOf({ challenge, at }: Beginning): Challenge {
  return { hash: hashSecret(challenge), expiresAt: at + ANSWER_MS };
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(base64url, 'base64url'));
}

function unfit(why: string): AccountRefusal {
  return new AccountRefusal('passkey_unfit', `The passkey cannot be used: ${why}.`);
}

function tooMany(): AccountRefusal {
  return unfit(`you have ${MAX_PASSKEYS} already, the maximum`);
}
