/** What the doctor found in one place. */
export interface Finding {
  /** What was looked at, such as `port 25` or `relay out`. */
  readonly name: string;
  /** `warn`: works, but look at it; `fail`: mail is lost, refused or in danger; `skipped`: could not be looked at. */
  readonly status: FindingStatus;
  /** A sentence on how it is. Parts of it may come from strangers. */
  readonly found: string;
  /** What to run or to write into the configuration; null where nothing is to be done. */
  readonly cure: string | null;
}

/** See {@link Finding.status}. */
export type FindingStatus = 'ok' | 'warn' | 'fail' | 'skipped';

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
