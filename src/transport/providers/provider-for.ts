import type { ProviderSettings } from '../../domain/relay.ts';
import type { Provider } from './provider.ts';

/** The provider that a relay's settings are of. */
export function providerFor(settings: ProviderSettings): Provider {
  switch (settings.type) {
    default:
      throw new Error(`no provider ${settings.type} yet`);
  }
}
