import type { Accounts } from '../accounts.ts';
import type { Applying } from '../applying.ts';
import type { Journal } from '../journal.ts';
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
    discard: (...args) => call('discard', args),
    index: (...args) => call('index', args),
    liveSegments: (...args) => call('liveSegments', args),
    segmentUse: (...args) => call('segmentUse', args),
    relocatable: (...args) => call('relocatable', args),
    relocate: (...args) => call('relocate', args),
    forgetSegments: (...args) => call('forgetSegments', args),
    decideRestored: (...args) => call('decideRestored', args),
    tally: (...args) => call('tally', args),
    close,
  };
}

/** The writing behind over calls of verbs. */
export function applyingOver(call: Call<Verbs>): Applying {
  return {
    apply: (...args) => call('apply', args),
    logMark: (...args) => call('logMark', args),
  };
}

/** The keyring contract over calls of verbs. */
export function keyringOver(call: Call<Verbs>): Keyring {
  return {
    create: (...args) => call('create', args),
    list: (...args) => call('list', args),
    findByHash: (...args) => call('findByHash', args),
    revoke: (...args) => call('revoke', args),
    update: (...args) => call('update', args),
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
    putSettings: (...args) => call('putSettings', args),
    domains: (...args) => call('domains', args),
    putDomain: (...args) => call('putDomain', args),
    removeDomain: (...args) => call('removeDomain', args),
    holds: (...args) => call('holds', args),
    putHold: (...args) => call('putHold', args),
    // Nobody else writes it.
    revision: async () => 0,
    publishRoutes: (...args) => call('publishRoutes', args),
    routeTables: (...args) => call('routeTables', args),
  };
}

/** The journal contract over calls of verbs. */
export function journalOver(call: Call<Verbs>): Journal {
  return {
    record: (...args) => call('record', args),
    entries: (...args) => call('entries', args),
    forgetEntries: (...args) => call('forgetEntries', args),
  };
}

/** The accounts contract over calls of verbs. */
export function accountsOver(call: Call<Verbs>): Accounts {
  return {
    users: (...args) => call('users', args),
    user: (...args) => call('user', args),
    addUser: (...args) => call('addUser', args),
    changeUser: (...args) => call('changeUser', args),
    removeUser: (...args) => call('removeUser', args),
    setPassword: (...args) => call('setPassword', args),
    claimFirst: (...args) => call('claimFirst', args),
    putLink: (...args) => call('putLink', args),
    link: (...args) => call('link', args),
    redeemLink: (...args) => call('redeemLink', args),
    offerSecondFactor: (...args) => call('offerSecondFactor', args),
    putSecondFactor: (...args) => call('putSecondFactor', args),
    removeSecondFactor: (...args) => call('removeSecondFactor', args),
    spendStep: (...args) => call('spendStep', args),
    spendRecoveryCode: (...args) => call('spendRecoveryCode', args),
    addSession: (...args) => call('addSession', args),
    session: (...args) => call('session', args),
    sessions: (...args) => call('sessions', args),
    countTry: (...args) => call('countTry', args),
    endSession: (...args) => call('endSession', args),
    endSessions: (...args) => call('endSessions', args),
    keepSessions: (...args) => call('keepSessions', args),
  };
}

/** The views contract over calls of views. */
export function viewsOver(call: Call<ViewVerbs>, close: () => Promise<void>): Views {
  return {
    message: (...args) => call('message', args),
    list: (...args) => call('list', args),
    search: (...args) => call('search', args),
    countFound: (...args) => call('countFound', args),
    counts: (...args) => call('counts', args),
    attempts: (...args) => call('attempts', args),
    remembered: (...args) => call('remembered', args),
    figures: (...args) => call('figures', args),
    lanes: (...args) => call('lanes', args),
    quotaUsed: (...args) => call('quotaUsed', args),
    waiting: (...args) => call('waiting', args),
    close,
  };
}
