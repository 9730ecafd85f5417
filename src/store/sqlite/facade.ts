import type { Keyring } from '../keyring.ts';
import type { Registry } from '../registry.ts';
import type { Store } from '../store.ts';
import type { Views } from '../views.ts';
import type { Verbs } from './verbs.ts';
import type { ViewVerbs } from './views.ts';

/** Calls a verb somewhere and promises its answer. */
export type Call<T> = <K extends keyof T & string>(
  verb: K,
  args: T[K] extends (...args: infer A) => unknown ? A : never,
) => Promise<T[K] extends (...args: never[]) => infer R ? R : never>;

/** The store contract over calls of verbs. */
export function storeOver(call: Call<Verbs>, close: () => Promise<void>): Store {
  return {
    accept: (...args) => call('accept', args),
    foresee: (...args) => call('foresee', args),
    claim: (...args) => call('claim', args),
    begin: (...args) => call('begin', args),
    settle: (...args) => call('settle', args),
    release: (...args) => call('release', args),
    reclaim: (...args) => call('reclaim', args),
    expiring: (...args) => call('expiring', args),
    expire: (...args) => call('expire', args),
    cancel: (...args) => call('cancel', args),
    requeue: (...args) => call('requeue', args),
    reassign: (...args) => call('reassign', args),
    acquireLanes: (...args) => call('acquireLanes', args),
    renewLanes: (...args) => call('renewLanes', args),
    releaseLanes: (...args) => call('releaseLanes', args),
    purge: (...args) => call('purge', args),
    liveSegments: (...args) => call('liveSegments', args),
    forgetSegments: (...args) => call('forgetSegments', args),
    tally: (...args) => call('tally', args),
    close,
  };
}

/** The keyring contract over calls of verbs. */
export function keyringOver(call: Call<Verbs>): Keyring {
  return {
    create: (...args) => call('create', args),
    list: (...args) => call('list', args),
    findByHash: (...args) => call('findByHash', args),
    revoke: (...args) => call('revoke', args),
    rotate: (...args) => call('rotate', args),
    touch: (...args) => call('touch', args),
  };
}

/** The registry contract over calls of verbs. */
export function registryOver(call: Call<Verbs>): Registry {
  return {
    relays: (...args) => call('relays', args),
    putRelay: (...args) => call('putRelay', args),
    removeRelay: (...args) => call('removeRelay', args),
    settings: (...args) => call('settings', args),
    putSetting: (...args) => call('putSetting', args),
    domains: (...args) => call('domains', args),
    putDomain: (...args) => call('putDomain', args),
    removeDomain: (...args) => call('removeDomain', args),
    holds: (...args) => call('holds', args),
    putHold: (...args) => call('putHold', args),
    publishRoutes: (...args) => call('publishRoutes', args),
    routeTables: (...args) => call('routeTables', args),
  };
}

/** The views contract over calls of views. */
export function viewsOver(call: Call<ViewVerbs>, close: () => Promise<void>): Views {
  return {
    message: (...args) => call('message', args),
    list: (...args) => call('list', args),
    attempts: (...args) => call('attempts', args),
    remembered: (...args) => call('remembered', args),
    figures: (...args) => call('figures', args),
    lanes: (...args) => call('lanes', args),
    quotaUsed: (...args) => call('quotaUsed', args),
    waiting: (...args) => call('waiting', args),
    close,
  };
}
