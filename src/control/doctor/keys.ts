import { signingKeys } from '../signing-keys.ts';
import { ok, skipped, warn } from './finding.ts';
import type { Check } from './premises.ts';

const NAME = 'SES access keys';
/** Most keys to name. */
const MAX_NAMED = 10;

/**
 * Whether what clients of SES sign with can be opened: with another secret.key their signatures are refused.
 * It is a file of its own, as no other check is about keys.
 */
export const signingCheck: Check = async ({ keyring, loaded, clock }) => {
  if (keyring === null) return [skipped(NAME, 'The database cannot be opened, and with it the keys.')];
  const now = clock.wall();
  const valid = (await keyring.list()).filter(({ revokedAt }) => revokedAt === null);
  const ids = await keyring.signingIds();
  const { find } = signingKeys(keyring, () => loaded.vault);
  const lost: string[] = [];
  let count = 0;
  for (const { id, name } of valid) {
    const accessKeyId = ids.get(id);
    if (accessKeyId === undefined) continue;
    count++;
    if ((await find(accessKeyId, now)) === null) lost.push(name);
  }
  if (count === 0) return [skipped(NAME, 'No key has one.')];
  if (lost.length === 0) return [ok(NAME, `${count} can be opened.`)];
  const named = lost.slice(0, MAX_NAMED).join(', ');
  const more = lost.length > MAX_NAMED ? ` and ${lost.length - MAX_NAMED} more` : '';
  return [
    warn(
      NAME,
      `Requests that clients of SES sign are refused for ${named}${more}: their secrets were sealed with another secret.key.`,
      `bring secret.key back, or give each a new secret: waybill keys rotate ${lost[0]}`,
    ),
  ];
};
