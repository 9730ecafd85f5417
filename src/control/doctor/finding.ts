import type { Finding } from '../../operations/system.ts';

/** A finding of the doctor about one thing, by its severity. */

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

/** It could not be checked, or does not apply. */
export function skipped(name: string, found: string): Finding {
  return { name, status: 'skipped', found, cure: null };
}

const LATE = /^There was no answer within |^It could not be checked: /;

/** A check that did not end, or failed itself: nothing is known of whatever it looks at. */
export function late(
  check: string,
  why: { readonly seconds: number } | { readonly error: unknown },
): Finding {
  return skipped(
    check,
    'seconds' in why
      ? `There was no answer within ${why.seconds} s.`
      : `It could not be checked: ${String(why.error)}`,
  );
}

/** Whether a finding says that its check did not end. */
export function isLate({ status, found }: Finding): boolean {
  return status === 'skipped' && LATE.test(found);
}
