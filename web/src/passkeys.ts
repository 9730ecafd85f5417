import {
  browserSupportsWebAuthn,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser';
import type { SessionView } from '../../src/dashboard/contract.ts';
import { ApiError, sessionCall } from './api.ts';

/** Whether this browser can have a passkey for this page: only where it has a name. */
export function canHavePasskeys(): boolean {
  return browserSupportsWebAuthn() && !/^(?:\[|[\d.]+$)/.test(location.hostname);
}

/** Signs in with a passkey that the user picks. Rejects with `ApiError`. */
export async function signInWithPasskey(): Promise<SessionView> {
  const { options, begun } = await sessionCall('passkey_begin', {});
  const { response, ...credential } = await asked(startAuthentication({ optionsJSON: options }));
  return await sessionCall('passkey', {
    begun,
    response: { ...credential, response: { ...response, userHandle: response.userHandle ?? '' } },
  });
}

/** Makes a passkey, once the password is right. Rejects with `ApiError`. */
export async function addPasskey({
  label,
  password,
}: {
  readonly label: string;
  readonly password: string;
}): Promise<SessionView> {
  const { options, begun } = await sessionCall('passkey_add_begin', { password });
  const response = await asked(startRegistration({ optionsJSON: options }));
  return await sessionCall('passkey_add', { begun, label, response });
}

/** The browser's answer. What it refused is told in words of ours: it says only that something is not allowed. */
async function asked<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    throw new ApiError(0, { code: 'passkey_not_given', detail: reasonOf(error) });
  }
}

const NO_PASSKEYS_HERE =
  'The browser has no passkeys for this address. Open the page by its host name, with a certificate that the browser trusts.';

function reasonOf(error: unknown): string {
  const code = error instanceof WebAuthnError ? error.code : null;
  if (code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED')
    return 'This device has a passkey for you already.';
  if (code === 'ERROR_INVALID_DOMAIN' || code === 'ERROR_INVALID_RP_ID') return NO_PASSKEYS_HERE;
  if (code?.startsWith('ERROR_AUTHENTICATOR_MISSING_') === true)
    return 'This device cannot keep a passkey, or cannot check who uses it by fingerprint, face or PIN.';
  // Chromium's words for a certificate that the user has waved through: it has no code of its own.
  if (error instanceof Error && /certificate/i.test(error.message)) return NO_PASSKEYS_HERE;
  return 'No passkey was given: it was cancelled, took too long, or this browser has none for this page.';
}
