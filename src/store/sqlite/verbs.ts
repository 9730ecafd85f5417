import type { LaneLease } from '../../domain/lane.ts';
import type { Accounts } from '../accounts.ts';
import type { Applying } from '../applying.ts';
import type { Journal } from '../journal.ts';
import type { Keyring } from '../keyring.ts';
import type { Registry } from '../registry.ts';
import type { Stamp, Store } from '../store.ts';
import type { Tally } from '../upkeep.ts';
import { acceptVerb, foreseeVerb } from './accept.ts';
import { accountVerbs } from './accounts.ts';
import { cancelVerb, requeueVerb } from './acts.ts';
import { applyVerbs } from './apply.ts';
import { AttemptLog } from './attempts.ts';
import type { Books } from './books.ts';
import { claimVerb } from './claim.ts';
import { Deliveries } from './deliveries.ts';
import { discardVerb } from './discard.ts';
import { journalVerbs } from './journal.ts';
import { keyringVerbs } from './keyring.ts';
import { purgeVerb } from './purge.ts';
import { reassignVerb } from './reassign.ts';
import { reclaimVerb } from './reclaim.ts';
import { registryVerbs } from './registry.ts';
import { relocateVerbs } from './relocate.ts';
import { decideRestoredVerb } from './restored.ts';
import { segmentVerbs } from './segments.ts';
import { beginVerb, releaseVerb, settleVerb } from './settle.ts';
import { expireVerb, expiringVerb } from './sweep.ts';
import { indexVerb } from './word-index.ts';

/** The same methods, answering at once instead of by a promise. */
export type Synchronous<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never;
};

/** Everything that runs on the writing connection. Each verb runs inside a transaction that its caller opened. */
export type Verbs = Synchronous<
  Omit<Store, 'close'> & Applying & Keyring & Omit<Registry, 'revision'> & Accounts & Journal
>;

/** Builds every verb over one connection. */
export function createVerbs(books: Books): Verbs {
  const deliveries = new Deliveries(books);
  const attempts = new AttemptLog(books);
  return {
    accept: acceptVerb(books),
    foresee: foreseeVerb(books),
    claim: claimVerb(books, deliveries),
    begin: beginVerb(books, deliveries),
    settle: settleVerb(books, deliveries, attempts),
    release: releaseVerb(books, deliveries),
    reclaim: reclaimVerb(books, deliveries, attempts),
    expiring: expiringVerb(books),
    expire: expireVerb(books, deliveries),
    cancel: cancelVerb(books, deliveries),
    requeue: requeueVerb(books, deliveries),
    reassign: reassignVerb(books),
    purge: purgeVerb(books),
    discard: discardVerb(books),
    index: indexVerb(books.db),
    ...applyVerbs(books, deliveries, attempts),
    ...laneVerbs(books),
    ...segmentVerbs(books),
    ...relocateVerbs(books),
    decideRestored: decideRestoredVerb(books, deliveries),
    tally: (counts: readonly Tally[], at: Stamp): void => {
      for (const { event, count } of counts) books.tallies.count(event, at, count);
    },
    ...keyringVerbs(books.db),
    ...registryVerbs(books.db),
    ...accountVerbs(books.db),
    ...journalVerbs(books.db),
  };
}

function laneVerbs(books: Books) {
  const { leases } = books;
  return {
    acquireLanes: (
      wanted: readonly string[],
      limit: number,
      leaseUntil: number,
      at: Stamp,
      except: readonly string[] = [],
    ): LaneLease[] => {
      // What came in the same transaction is to be found.
      books.closeOff();
      const lanes = new Set([...wanted, ...leases.due(limit, at.now, new Set(except))]);
      return [...lanes].flatMap((lane) => leases.grant(lane, leaseUntil, at) ?? []);
    },
    renewLanes: (held: readonly LaneLease[], leaseUntil: number, at: Stamp): string[] =>
      held.filter((lease) => !leases.extend(lease, leaseUntil, at)).map(({ lane }) => lane),
    releaseLanes: (held: readonly LaneLease[], at: Stamp): void => {
      for (const lease of held) leases.end(lease, at);
    },
  };
}
