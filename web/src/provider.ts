import type { SessionCalls } from '../../src/dashboard/contract.ts';
import { sessionCall } from './api.ts';

/** Signing in with an identity provider: the browser leaves for it, and comes back to this path with its answer. */
const RETURN_PATH = '/sign-in/callback';

/** Its answer, as it stood in the address when the page was loaded: the router must not read it. */
const returned = location.pathname === RETURN_PATH ? location.search : null;

let finishing: Promise<SessionCalls['provider']['answer']> | null = null;

/** Whether this page was loaded by coming back. */
export const hasReturned = returned !== null;

/** Leaves for the provider. Afterwards the page that is open now is shown. Rejects with `ApiError`. */
export async function leaveForProvider(): Promise<void> {
  const here = `${location.pathname}${location.search}`;
  const isOwn = here.length <= 500 && !here.startsWith('//') && location.pathname !== RETURN_PATH;
  const { url } = await sessionCall('provider_begin', { returnTo: isOwn ? here : '/' });
  location.assign(url);
  // Until the browser has left, the button stays as it is; whoever goes back may be shown this page again.
  await new Promise((resolve) => addEventListener('pageshow', resolve, { once: true }));
}

/** Signs in with the answer, once. Rejects with `ApiError`. */
export function finishReturn(): Promise<SessionCalls['provider']['answer']> {
  finishing ??= sessionCall('provider', { search: returned ?? '' });
  return finishing;
}
