import type { LogPlace } from '../../domain/log-place.ts';
import type { ContentRef } from '../../domain/message.ts';
import type { Clock } from '../../lib/clock.ts';
import { Pseudonyms } from '../../lib/pseudonym.ts';
import type { FactLog, Spool, SpoolEntry } from '../../spool/spool.ts';
import {
  type AcceptAnswer,
  type AcceptRecord,
  type AcceptWish,
  type QueueLimits,
  wishOfRecord,
} from '../accepting.ts';
import { type Applying, factText } from '../applying.ts';
import { around, STORE_VERBS, SUPPRESSION_VERBS } from '../forwarding.ts';
import type { BeginAnswer, BeginRequest, UnitRef } from '../leased.ts';
import type { ClaimAnswer, ClaimRequest, SettleAnswer, Settlement, Stamp, Store } from '../store.ts';
import type { SuppressionList } from '../suppressions.ts';
import { recordsAt, type Taken, type Taking, type TakingTerms, takingApart } from '../taking.ts';
import { SuppressionFilter, tellingsBehind } from './filter.ts';
import { actsBehind, type HotDelivery, HotTable, leasesBehind } from './hot.ts';
import { LogWrites } from './log-writes.ts';
import { SureRoom } from './room.ts';
import { type BehindTerms, WrittenBehind } from './written-behind.ts';

/** New mail waits while more than this many characters of facts wait for the database. */
const MAX_CHARACTERS_BEHIND = 16 * 1024 * 1024;

/** How messages are logged. */
interface LoggingTerms extends Omit<TakingTerms, 'limits'> {
  /** Whether no entry of the suppression list stops any recipient, as far as is known now. */
  readonly isClear: () => boolean;
}

/** The parts of a store over a log. */
export interface LoggedStoreParts {
  /** The store behind the log, with everything applied up to the log's start. */
  readonly store: Store;
  readonly applying: Pick<Applying, 'apply'>;
  readonly log: FactLog;
  readonly spool: Pick<Spool, 'append' | 'decided'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly behind?: BehindTerms;
  /** The suppression list behind the log; absent: it is empty, and nothing but mail adds to it. */
  readonly suppressions?: Pick<SuppressionList, 'suppressedAddresses'>;
}

/**
 * A store over a log and another store (design §6a). Facts of fresh mail and of attempts are durable once they are in
 * the log, beside the contents, and are written into the database after the answer. All other calls reach the database
 * after these facts, so that it never knows less than was answered before.
 */
export class LoggedStore implements Taking {
  readonly #store: Store;
  readonly #spool: LoggedStoreParts['spool'];
  readonly #hot = new HotTable();
  readonly #room = new SureRoom();
  readonly #pseudonyms = new Pseudonyms();
  readonly #filter: SuppressionFilter;
  readonly #behind: WrittenBehind;
  readonly #writes: LogWrites;

  constructor({ store, applying, log, spool, clock, behind = {}, suppressions }: LoggedStoreParts) {
    this.#store = store;
    this.#filter = new SuppressionFilter(suppressions, this.#pseudonyms);
    this.#writes = new LogWrites(log);
    this.#spool = spool;
    const applied = (end: LogPlace) => log.applied(end);
    this.#behind = new WrittenBehind({ applying, clock, room: this.#room, applied }, log.beginning(), behind);
    log.onLogged((facts, end) => this.#behind.logged(facts, end));
    this.#behind.ask();
  }

  /** Resolves when everything that was answered is in the database. Rejects with `StoreError`. */
  async answered(): Promise<void> {
    await this.#writes.logged();
    await this.#behind.write();
  }

  /** The same, for all that is under way, large mail too: for what must not miss mail that is taken meanwhile. */
  async written(): Promise<void> {
    await this.#writes.done();
    await this.#behind.write();
  }

  /**
   * Writes all that was answered into the database; call it before the database and the log are closed. What cannot be
   * written, as on a full disk, stays in the log for the next start.
   */
  async finish(): Promise<void> {
    await this.#writes.done();
    await this.#behind.close().catch(() => {});
  }

  async take(messages: readonly Taken[], terms: TakingTerms): Promise<AcceptAnswer[]> {
    if (this.#mustWait) await this.#behind.write();
    const wishes = messages.map(({ wish }) => wish);
    const records = (refs: readonly ContentRef[]) => recordsAt(messages, refs);
    const isClear = () => messages.every(({ recipients }) => this.#filter.isClear(recipients));
    const logged = this.#mayBeLogged(wishes, isClear, terms.limits)
      ? await this.#logAccepted(messages, wishes, records, { ...terms, isClear })
      : null;
    return logged ?? (await this.#takeApart(messages, wishes, terms));
  }

  async accept(...[batch, at, limits, together]: Parameters<Store['accept']>): Promise<AcceptAnswer[]> {
    if (this.#mustWait) await this.#behind.write();
    const wishes = batch.map(wishOfRecord);
    const isClear = () =>
      batch.every(({ deliveries }) => this.#filter.isClear(deliveries.map(({ recipient }) => recipient)));
    const terms = { at: () => at, counted: () => {}, isClear };
    const logged = this.#mayBeLogged(wishes, isClear, limits)
      ? await this.#logAccepted([], wishes, () => batch, terms)
      : null;
    return (
      logged ??
      (await this.#acceptThere(wishes, limits, () => this.#store.accept(batch, at, limits, together)))
    );
  }

  async begin(units: readonly BeginRequest[], at: Stamp): Promise<BeginAnswer[]> {
    const found = () => {
      const mayBegin = units.every((unit) => unit.quota === null && this.#hot.holds(unit, at));
      const hot = mayBegin ? this.#hot.findAll(units) : null;
      return hot !== null && this.#filter.areStillClear(hot) ? hot : null;
    };
    if (units.length === 0 || found() === null) return await this.#beginThere(units, at);
    const begun: HotDelivery[] = [];
    const isLogged = await this.#writes.write([], () => {
      const deliveries = found();
      if (deliveries === null) return null;
      begun.push(...deliveries);
      // Until this is on the disk, the end of an attempt that began before is the database's to judge.
      for (const delivery of deliveries) delivery.begunAt = null;
      return factText({ verb: 'begin', at, units: units.map(refOf) });
    });
    if (!isLogged) return await this.#beginThere(units, at);
    for (const delivery of begun) delivery.begunAt = at.now;
    return units.map(() => 'begun');
  }

  async settle(batch: readonly Settlement[], at: Stamp): Promise<SettleAnswer[]> {
    if (batch.length === 0 || !batch.every((settlement) => this.#isHot(settlement)))
      return await this.#settleThere(batch, at);
    let putBack: (() => void)[] = [];
    const undo = () => {
      for (const back of putBack) back();
      putBack = [];
      return null;
    };
    try {
      const isLogged = await this.#writes.write([], () => {
        for (const settlement of batch) {
          // One by one: a batch may hold the same work twice.
          if (!this.#isHot(settlement)) return undo();
          putBack.push(this.#hot.takeOut(settlement.unit));
        }
        return factText({ verb: 'settle', at, batch });
      });
      if (isLogged) return batch.map(() => SETTLED);
    } catch (error) {
      undo();
      throw error;
    }
    return await this.#settleThere(batch, at);
  }

  /** From now on, people who were erased are found by their pseudonyms. */
  holdPseudonymKey(key: Uint8Array): void {
    this.#pseudonyms.hold(key);
  }

  /** All verbs: those without a place in the log go to the database. */
  asStore(): Store {
    const store = this.#store;
    return {
      ...around<Omit<Store, 'close'>>(STORE_VERBS, store, (_, call) => this.#there(call)),
      accept: (...args) => this.accept(...args),
      begin: (...args) => this.begin(...args),
      settle: (...args) => this.settle(...args),
      ...leasesBehind(store, this.#hot, (call) => this.#there(call)),
      ...actsBehind(
        store,
        this.#hot,
        (call) => this.#there(call),
        () => this.#room.distrust(),
      ),
      claim: (...args) => this.#claim(...args),
      expire: (batch, at) => {
        for (const { own } of batch) this.#filter.mayAdd(own);
        return this.#counting(reportsOf(batch), () => store.expire(batch, at));
      },
      ...tellingsBehind(
        store,
        this.#filter,
        (call) => this.#there(call),
        () => this.#writes.logged(),
      ),
      erase: (request, at) => {
        this.#filter.add(request.person.pseudonym);
        return this.#there(() => store.erase(request, at));
      },
      suppress: async (batch, at) => {
        this.#hot.forget(batch.map(({ unit }) => unit.messageId));
        return await this.#counting(reportsOf(batch), () => store.suppress(batch, at));
      },
      close: async () => {
        await this.finish();
        await store.close();
      },
    };
  }

  /** The suppression list, whose changes come after everything that was answered before. */
  listOver(list: SuppressionList): SuppressionList {
    return {
      ...around(SUPPRESSION_VERBS, list, (_, call) => this.#there(call)),
      suppressionsUnder: async (addresses) =>
        addresses.some((address) => this.#filter.mayList(address))
          ? await this.#there(() => list.suppressionsUnder(addresses))
          : [],
      addSuppressions: (entries, rules) => {
        // Whoever is accepted from here on is looked up.
        for (const { address } of entries) this.#filter.add(address);
        return this.#there(() => list.addSuppressions(entries, rules));
      },
    };
  }

  /** Claimed work is hot from here on. */
  async #claim(requests: readonly ClaimRequest[], at: Stamp): Promise<ClaimAnswer[]> {
    const enter = this.#hot.claiming();
    let answers: ClaimAnswer[] = [];
    try {
      answers = await this.#there(() => this.#store.claim(requests, at));
      return answers;
    } finally {
      enter(answers.flatMap(({ units }) => units));
    }
  }

  /** What the database changes is no longer hot. */
  #beginThere(units: readonly BeginRequest[], at: Stamp): Promise<BeginAnswer[]> {
    this.#hot.forget(units.map(({ messageId }) => messageId));
    return this.#there(() => this.#store.begin(units, at));
  }

  #settleThere(batch: readonly Settlement[], at: Stamp): Promise<SettleAnswer[]> {
    this.#hot.forget(batch.map(({ unit }) => unit.messageId));
    for (const { own } of batch) this.#filter.mayAdd(own);
    return this.#counting(reportsOf(batch), () => this.#store.settle(batch, at));
  }

  /**
   * New mail waits before it takes room in the queue, which nobody else could see: memory is bounded, and while the
   * database has no room, nothing more is taken for it.
   */
  get #mustWait(): boolean {
    return this.#behind.isIll || this.#behind.characters > MAX_CHARACTERS_BEHIND;
  }

  /** Whether the log can take them, with no judgement of the database needed. */
  #mayBeLogged(
    wishes: readonly AcceptWish[],
    isClear: () => boolean,
    limits: QueueLimits | undefined,
  ): boolean {
    if (wishes.length === 0 || wishes.some(({ idempotency }) => idempotency !== null)) return false;
    return isClear() && this.#room.take(wishes, limits);
  }

  /** Null: an entry of the suppression list that was added meanwhile may stop somebody. */
  async #logAccepted(
    contents: readonly SpoolEntry[],
    wishes: readonly AcceptWish[],
    records: (refs: readonly ContentRef[]) => readonly AcceptRecord[],
    { at: stamp, counted, isClear }: LoggingTerms,
  ): Promise<AcceptAnswer[] | null> {
    let batch: { readonly record: AcceptRecord; readonly leased: readonly boolean[] }[] = [];
    const seen = this.#filter.changes;
    try {
      const isLogged = await this.#writes.write(contents, (refs) => {
        const { changes } = this.#filter;
        if (changes !== seen && !isClear()) return null;
        const made = records(refs);
        const at = stamp();
        batch = made.map((record) => ({ record, leased: this.#hot.enter(record, changes, at) }));
        return factText({ verb: 'accept', at, batch });
      });
      if (!isLogged) return null;
      counted();
      return batch.map(({ leased }) => ({ kind: 'accepted', leased }));
    } catch (error) {
      this.#hot.forget(batch.map(({ record }) => record.id));
      throw error;
    } finally {
      this.#room.entered(wishes);
    }
  }

  /** The contents first, then the facts, each with its own flush. */
  #takeApart(
    messages: readonly Taken[],
    wishes: readonly AcceptWish[],
    terms: TakingTerms,
  ): Promise<AcceptAnswer[]> {
    const accept: Store['accept'] = (records, at, limits, together) =>
      this.#acceptThere(wishes, limits, () => this.#store.accept(records, at, limits, together));
    return takingApart(this.#spool, { accept }).take(messages, terms);
  }

  /** Lets the database decide, which alone knows whether there is room if that is uncertain. */
  async #acceptThere<T>(
    wishes: readonly AcceptWish[],
    limits: QueueLimits | undefined,
    accept: () => Promise<T>,
  ): Promise<T> {
    if (!this.#room.isSure(wishes, limits) && this.#writes.hasLarge) {
      // What the database says now may spare it the wait for large mail.
      this.#behind.ask();
      await this.#behind.write();
    }
    if (this.#room.isSure(wishes, limits)) return await this.#counting(wishes, accept);
    const answer = await this.#room.alone(async () => {
      // The database does not know of mail that was let in and is not in the log yet.
      await this.#writes.done();
      return await this.#counting(wishes, accept);
    });
    this.#behind.ask();
    return answer;
  }

  /** Calls the database for a verb that may add messages to the queue. */
  async #counting<T>(wishes: readonly AcceptWish[], verb: () => Promise<T>): Promise<T> {
    this.#room.enter(wishes);
    try {
      return await this.#there(verb);
    } finally {
      this.#room.entered(wishes);
    }
  }

  #isHot({ unit, attempt, report, refund, own }: Settlement): boolean {
    if (report !== null || refund !== null || own !== undefined) return false;
    return this.#hot.find(unit)?.every(({ begunAt }) => begunAt === attempt.startedAt) ?? false;
  }

  /** Calls the database, after everything logged before. */
  async #there<T>(verb: () => Promise<T>): Promise<T> {
    await this.#writes.logged();
    this.#writes.check();
    await this.#behind.write();
    return await verb();
  }
}

/** What the log keeps of it. */
function refOf({ messageId, lane, fence, indexes }: UnitRef): UnitRef {
  return { messageId, lane, fence, indexes };
}

/** What the reports of these add to the queue. */
function reportsOf(batch: readonly { readonly report: AcceptRecord | null }[]): AcceptWish[] {
  return batch.flatMap(({ report }) => (report === null ? [] : [wishOfRecord(report)]));
}

const SETTLED: SettleAnswer = { kind: 'settled', cancelled: [] };
