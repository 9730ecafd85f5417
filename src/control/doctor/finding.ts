import type { Finding } from '../../operations/system.ts';

/** What the doctor found in one place, in each of the ways that it can be. */

/** All is well. */
export function ok(name: string, found: string): Finding {
  return { name, status: 'ok', found, cure: null };
}

/** It works, but should be looked at. */
export function warn(name: string, found: string, cure: string): Finding {
  return { name, status: 'warn', found, cure };
}

/** It does not work, or does harm. */
export function fail(name: string, found: string, cure: string): Finding {
  return { name, status: 'fail', found, cure };
}

/** It could not be looked at, or does not apply. */
export function skipped(name: string, found: string): Finding {
  return { name, status: 'skipped', found, cure: null };
}
