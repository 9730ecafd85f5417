import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where what others would write lies, with packages of its own. */
export const PEERS = fileURLToPath(new URL('../peers/', import.meta.url));

/** Why what needs this package cannot be measured here; null when it can. */
export function peersMissing(name: string): string | null {
  const installed = existsSync(path.join(PEERS, 'node_modules', name));
  return installed ? null : 'its packages are not installed: npm ci --prefix bench/peers';
}
