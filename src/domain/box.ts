import type { ApiKey } from './key.ts';

/**
 * A box sets captured mail apart from other mail of the same key (contract-2 §G1), so that tests which run at the same
 * time can share a key.
 */
const BOX = /^[a-z0-9._-]{1,64}$/;

/** Whether text names a box. */
export function isBox(text: string): boolean {
  return BOX.test(text);
}

/** The rule for the name of a box, as the end of `Must be …`. */
export const BOX_RULE = '1 to 64 characters of a-z 0-9 . _ -';

/**
 * The box that a user name beside a key as the password means: only a test key's, and not its own name. Null for any
 * other user name, since it may be anything. Its case does not matter.
 */
export function boxOfUserName(
  userName: string,
  { mode, name }: Pick<ApiKey, 'mode' | 'name'>,
): string | null {
  const box = userName.toLowerCase();
  return mode === 'test' && box !== name.toLowerCase() && isBox(box) ? box : null;
}
