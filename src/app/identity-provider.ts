import { isDeepStrictEqual } from 'node:util';
import { oidcSettings, sessionLimits } from '../control/in-force.ts';
import type { Clock } from '../lib/clock.ts';
import { OidcProvider } from '../oidc/provider.ts';
import type { LiveConfig } from './live-config.ts';

// A file of its own: the settings may change while it runs, and what is known of the provider is kept until they do.

/** The terms of signing in, as configured now. */
export function signInTerms(live: LiveConfig, clock: Clock) {
  return {
    box: () => live.loaded.vault,
    limits: () => sessionLimits(live.config),
    provider: identityProvider(live, clock),
  };
}

/** The identity provider that users may sign in with, as configured now; null: none. */
function identityProvider(live: Pick<LiveConfig, 'config'>, clock: Clock): () => OidcProvider | null {
  let seen: LiveConfig['config'] | null = null;
  let settings: ReturnType<typeof oidcSettings> = null;
  let provider: OidcProvider | null = null;
  return () => {
    if (live.config === seen) return provider;
    seen = live.config;
    const now = oidcSettings(seen);
    if (isDeepStrictEqual(now, settings)) return provider;
    settings = now;
    provider = now === null ? null : new OidcProvider(now, clock);
    return provider;
  };
}
