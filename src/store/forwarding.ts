import type { Store } from './store.ts';
import type { SuppressionList } from './suppressions.ts';
import type { Views } from './views.ts';

/** The same methods, synchronous. */
export type Synchronous<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never;
};

/**
 * All methods of a contract; each passes on its name and arguments. `verbs` names them, and the type lets none be left
 * out.
 */
export function forwarding<T>(
  verbs: Readonly<Record<keyof T, unknown>>,
  call: (verb: keyof T, args: readonly unknown[]) => unknown,
): T {
  const methods = Object.keys(verbs).map((verb) => [
    verb,
    // An object of this type has exactly these names.
    (...args: readonly unknown[]) => call(verb as keyof T, args),
  ]);
  // The type cannot derive results from method names: the caller's `call` vouches for them.
  return Object.fromEntries(methods) as T;
}

/** All methods of a contract; each calls the same method of another one through `around`. */
export function around<T>(
  verbs: Readonly<Record<keyof T, unknown>>,
  inner: T,
  how: (verb: keyof T, call: () => Promise<unknown>) => Promise<unknown>,
): T {
  return forwarding<T>(verbs, (verb, args) => {
    // As in `forwarding`.
    const method = inner[verb] as (...args: readonly unknown[]) => Promise<unknown>;
    return how(verb, () => method.call(inner, ...args));
  });
}

/** The verbs of the store. */
export const STORE_VERBS: Readonly<Record<Exclude<keyof Store, 'close'>, true>> = {
  accept: true,
  foresee: true,
  claim: true,
  begin: true,
  settle: true,
  release: true,
  reclaim: true,
  expiring: true,
  expire: true,
  cancel: true,
  requeue: true,
  reschedule: true,
  reassign: true,
  acquireLanes: true,
  renewLanes: true,
  releaseLanes: true,
  purge: true,
  discard: true,
  mark: true,
  index: true,
  erase: true,
  liveSegments: true,
  segmentUse: true,
  relocatable: true,
  relocate: true,
  forgetSegments: true,
  decideRestored: true,
  tell: true,
  retell: true,
  suppress: true,
  guard: true,
  tellRelays: true,
  tally: true,
};

/** The verbs of the suppression list. */
export const SUPPRESSION_VERBS: Readonly<Record<keyof SuppressionList, true>> = {
  suppressions: true,
  suppression: true,
  suppressionsUnder: true,
  addSuppressions: true,
  removeSuppressions: true,
  suppressedAddresses: true,
  forgetSuppressions: true,
};

/** The views. */
export const VIEWS: Readonly<Record<Exclude<keyof Views, 'close'>, true>> = {
  message: true,
  messages: true,
  list: true,
  search: true,
  countFound: true,
  counts: true,
  traffic: true,
  attempts: true,
  remembered: true,
  figures: true,
  lanes: true,
  quotaUsed: true,
  waiting: true,
  events: true,
  feedback: true,
  feedbackAbout: true,
  unsubscribeLink: true,
};
