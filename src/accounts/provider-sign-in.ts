import { z } from 'zod';
import { admit, namesFor, type Shut } from '../domain/identity.ts';
import { hashSecret } from '../lib/id.ts';
import { type BegunSignIn, type IdentityProvider, ProviderFault } from './identity-provider.ts';
import type { Place } from './passkeys.ts';
import { AccountRefusal, attempt, type Reception, requireBox, resumed } from './reception.ts';
import { newToken } from './secrets.ts';
import type { Opened, Visit } from './sessions.ts';
import { openFull, userDisabled } from './sign-in.ts';

/**
 * Signing in with an identity provider. What ties its answer to this browser is kept by the browser, sealed, in a cookie:
 * strangers' sign-ins cost no memory and no commit, and any node takes the answer, once.
 */

/** The dashboard's path that the provider returns to. */
export const RETURN_PATH = '/sign-in/callback';

/** How long somebody may take at the provider. */
export const PROVIDER_SIGN_IN_MS = 10 * 60_000;

/** A sign-in that was begun. */
export interface ProviderBegun {
  /** Where the provider asks who somebody is. */
  readonly url: string;
  /** What the browser keeps meanwhile. */
  readonly kept: string;
}

/** An answer of the provider, as the browser brings it. */
export interface ProviderAnswer {
  /** The query of the URL to which the provider returned. */
  readonly search: string;
  /** What the browser kept; null if nothing. */
  readonly kept: string | null;
}

const beginning = z.strictObject({
  redirectUri: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  issuer: z.string(),
  returnTo: z.string(),
  at: z.number(),
});
type Beginning = z.infer<typeof beginning>;

const PURPOSE = 'sign-in with a provider';

/** The provider, as somebody at this address of the dashboard may use it; null: there is none. */
export function providerAt(
  { provider }: Pick<Reception, 'provider'>,
  { origin }: Place,
): ProviderPlace | null {
  const found = provider();
  if (found === null) return null;
  const elsewhere = found.publicUrl !== null && found.publicUrl !== origin;
  return { provider: found, elsewhere: elsewhere ? found.publicUrl : null };
}

/** See {@link providerAt}. `elsewhere`: the address of the dashboard at which it can be used; null: here. */
interface ProviderPlace {
  readonly provider: IdentityProvider;
  readonly elsewhere: string | null;
}

/** Begins a sign-in. `returnTo`: a path of the page, for afterwards. Rejects with `AccountRefusal`. */
export async function beginProviderSignIn(
  reception: Reception,
  place: Place,
  returnTo: string,
): Promise<ProviderBegun> {
  const at = providerAt(reception, place);
  if (at === null) throw providerMissing();
  const { provider, elsewhere } = at;
  if (elsewhere !== null)
    throw new AccountRefusal(
      'provider_elsewhere',
      `Open the dashboard at ${elsewhere} to sign in with ${provider.name}.`,
    );
  const box = requireBox(reception, `Nobody can sign in with ${provider.name}`);
  const begun = {
    redirectUri: `${place.origin}${RETURN_PATH}`,
    state: newToken(reception.random),
    nonce: newToken(reception.random),
    verifier: newToken(reception.random),
  };
  const url = await provider.urlFor(begun).catch((error) => {
    throw refusalOf(error, provider, reception);
  });
  const { issuer } = provider;
  const whole: Beginning = { ...begun, issuer, returnTo, at: reception.clock.wall() };
  return { url, kept: box.seal(JSON.stringify(whole), PURPOSE) };
}

/**
 * Signs in whom the provider vouches for, and whom its groups let in. `before`: as for `logIn`. Rejects with
 * `AccountRefusal`, `StoreError`.
 */
export async function providerSignIn(
  reception: Reception,
  answer: ProviderAnswer,
  visit: Visit,
  before: string | null,
): Promise<{ readonly opened: Opened; readonly returnTo: string }> {
  const provider = reception.provider();
  if (provider === null) throw providerMissing();
  let done: { readonly opened: Opened; readonly returnTo: string } | null = null;
  await attempt(
    reception,
    { guess: 'provider', account: '', user: null, visit },
    async () => {
      const begun = resume(reception, provider, answer);
      if (begun === null) return false;
      const opened = await welcome(reception, provider, begun, answer.search, visit, before);
      if (opened !== null) done = { opened, returnTo: begun.returnTo };
      return opened !== null;
    },
    { code: 'provider_refused', message: refusedText(provider) },
  );
  if (done === null) throw new AccountRefusal('provider_refused', refusedText(provider));
  return done;
}

function providerMissing(): AccountRefusal {
  return new AccountRefusal('provider_missing', 'Nobody signs in with a provider here. Use your password.');
}

function refusedText({ name }: IdentityProvider): string {
  return `The answer of ${name} signs nobody in: it came too late, was used before, or was not begun in this window. Try again, or use your password.`;
}

/** What was begun in this browser, and may still be answered; null otherwise. */
function resume(
  reception: Reception,
  { issuer }: IdentityProvider,
  { kept }: ProviderAnswer,
): Beginning | null {
  const how = { shape: beginning, purpose: PURPOSE, forMs: PROVIDER_SIGN_IN_MS };
  const found = kept === null ? null : resumed(reception, kept, how);
  return found?.issuer === issuer ? found : null;
}

/** Opens the session; null if the answer is not to be believed. Rejects with `AccountRefusal`. */
async function welcome(
  reception: Reception,
  provider: IdentityProvider,
  begun: Beginning,
  search: string,
  visit: Visit,
  before: string | null,
): Promise<Opened | null> {
  const { accounts, clock, sessions } = reception;
  const proven = await prove(reception, provider, begun, search);
  if (proven === null) return null;
  const { account, claims } = proven;
  const role = admit(claims, provider.rules);
  if (role === 'email' || role === 'group') {
    const known = await accounts.userAt(account, clock.wall());
    // Whoever has lost their groups has lost what they gave, too.
    if (known !== null) sessions.forget(await accounts.endSessions(known.name, null));
    await reception.suspicions.add(
      { action: 'signInFailed', guess: 'provider', user: known?.name ?? null, source: visit.sourceAddress },
      reception.now(),
    );
    throw shutOut(role, provider);
  }
  const challenge = { hash: hashSecret(begun.state), expiresAt: begun.at + PROVIDER_SIGN_IN_MS };
  const answer = await accounts.welcome({ account, role, names: namesFor(claims), challenge }, clock.wall());
  if (answer.kind === 'spent') return null;
  if (answer.kind === 'disabled') throw userDisabled();
  if (answer.kind !== 'in')
    throw new AccountRefusal(
      'users_full',
      answer.kind === 'full'
        ? 'There are as many users as there can be. An administrator can remove some.'
        : 'Every name that you could have here is somebody else’s. Ask an administrator.',
    );
  const { user, before: roleBefore } = answer;
  if (roleBefore !== role) sessions.refresh();
  const change = roleBefore === role ? {} : { roleBefore: roleBefore ?? 'none' };
  return await openFull(reception, user, visit, before, { by: provider.name, role, ...change });
}

async function prove(reception: Reception, provider: IdentityProvider, begun: BegunSignIn, search: string) {
  try {
    return await provider.prove(begun, search);
  } catch (error) {
    const refusal = refusalOf(error, provider, reception);
    if (refusal.code === 'provider_refused') return null;
    throw refusal;
  }
}

/** Logs why a provider’s answer signs nobody in, and tells whoever waits. */
function refusalOf(
  error: unknown,
  provider: IdentityProvider,
  { log }: Pick<Reception, 'log'>,
): AccountRefusal {
  if (!(error instanceof ProviderFault)) throw error;
  const { kind, code, message } = error;
  log.warn(kind === 'away' ? 'sign_in.provider_failed' : 'sign_in.provider_refused', {
    code,
    error: message,
  });
  if (kind === 'away')
    return new AccountRefusal(
      'provider_failed',
      `${provider.name} cannot be asked now. Try again in a moment, or use your password; the log says why.`,
    );
  if (kind === 'denied')
    return new AccountRefusal(
      'provider_denied',
      `${provider.name} let nobody in (${code}). Try again there.`,
    );
  return new AccountRefusal('provider_refused', refusedText(provider));
}

function shutOut(why: Shut, { name }: IdentityProvider): AccountRefusal {
  return new AccountRefusal(
    'not_admitted',
    why === 'group'
      ? `${name} knows you, but none of your groups may use this dashboard. Ask an administrator.`
      : `${name} knows you, but has no verified mail address of yours in a domain that may use this dashboard.`,
  );
}
