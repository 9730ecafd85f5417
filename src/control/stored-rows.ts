import type { StoredRows } from '../config/load.ts';
import type { Registry } from '../store/registry.ts';

/** What the store keeps of the configuration. Loaded at every start, so apart from what opens an installation without one. */
export async function storedRows(registry: Registry): Promise<StoredRows> {
  const [settings, relays, holds, domains] = await Promise.all([
    registry.settings(),
    registry.relays(),
    registry.holds(),
    registry.domains(),
  ]);
  return { settings, relays, holds, domains };
}
