import { isDeepStrictEqual } from 'node:util';
import {
  type Alert,
  type AlertNotice,
  type AlertPolicy,
  afterClockSet,
  afterLook,
  afterTry,
  asOfNow,
  dueNotices,
  moreUrgent,
  REMEMBERED_MS,
  withoutChannels,
} from '../domain/alert.ts';
import { type AlertFacts, measureAlerts } from '../domain/alert-measures.ts';
import { ALERT_RULE_NAMES, ruleInForce } from '../domain/alert-rules.ts';
import { type Clock, WakeUp } from '../lib/clock.ts';
import type { Events } from '../observe/events.ts';
import type { AlertSettings, Alerts } from '../store/alerts.ts';
import type { LookFor } from './facts.ts';
import type { Tell } from './telling.ts';

/** Watches the server: looks every few seconds, on one node at a time. */

/** What it needs. */
export interface AlertWatchDeps {
  readonly alerts: Alerts;
  readonly clock: Clock;
  readonly events: Events;
  /** Gathers what is measured, and calls the doctor now and then if it is wanted. */
  readonly gather: (what: LookFor) => Promise<AlertFacts>;
  readonly tell: Tell;
  /** The server's name, as messages have it. */
  readonly server: () => string;
  readonly newId: () => string;
  /** Whether this node does the duties for which one node is enough. */
  readonly isFirst: () => boolean;
  /** How long ended alerts are kept, in days. */
  readonly keepDays: () => number;
  readonly fault: (code: string, error: unknown) => void;
}

const LOOK_MS = 15_000;
/** How long a look waits for the store: alerts about it must not wait for it. */
const PATIENCE_MS = 5_000;
/** How long to tell a channel may take, besides its own limits. */
const MAX_AT_ONCE = 8;
const PRUNE_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** The wall clock was set when it went so much further, or less far, than time did. */
const SET_MS = 5_000;
/** Ended alerts that are kept, and removed in one transaction. */
const MOST_KEPT = 10_000;
const PRUNED_AT_ONCE = 500;

/** What a node knows of alerts while it has the duty. Its memory is what counts; the store follows. */
interface Book {
  readonly alerts: readonly Alert[];
  /** As the store has them, by id. */
  readonly written: Map<string, Alert>;
  /** What the store has was read, and nobody else can have written it since. */
  readonly isRead: boolean;
}

/** See above. */
export class AlertWatch {
  readonly #deps: AlertWatchDeps;
  readonly #wakeUp = new WakeUp();
  readonly #underWay = new Map<string, Promise<void>>();
  #book: Book | null = null;
  #settings: AlertSettings | null = null;
  #writing: Promise<void> | null = null;
  #prunedAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;
  /** Wall less monotonic ms at the last look: constant, unless the clock is set. */
  #apart: number | null = null;

  constructor(deps: AlertWatchDeps) {
    this.#deps = deps;
  }

  /** Looks at once: operators decided something. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Watches until `stopping` aborts. Never rejects; resolves once nobody is being told, and all is written. */
  async run(stopping: AbortSignal): Promise<void> {
    const { clock, fault } = this.#deps;
    const end = () => this.#wakeUp.wake();
    stopping.addEventListener('abort', end, { once: true });
    while (!stopping.aborted) {
      try {
        await this.look(stopping);
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) fault('alerts_failed', error);
        this.#isFailing = true;
      }
      if (!stopping.aborted) await this.#wakeUp.wait(clock, LOOK_MS);
    }
    await Promise.all(this.#underWay.values());
    await this.#within(this.#write());
  }

  /** Looks once: measures, decides, begins to tell, and writes. */
  async look(stopping: AbortSignal): Promise<void> {
    const { gather, isFirst, clock, newId } = this.#deps;
    const hasDuty = isFirst();
    const wantsDoctor = hasDuty && this.#wantsDoctor();
    const facts = await this.#within(gather({ hasDuty, wantsDoctor }));
    if (facts === null) throw new Error('nothing could be measured in time');
    const own = `node:${facts.node}`;
    // What it told while it was cut off from the others, it ends by itself.
    if (!hasDuty && !this.#owes(own)) return this.#leave();
    if (!hasDuty) this.#keepOnly(own);
    this.#followClock();
    if (facts.databaseWell) await this.#read(hasDuty);
    else this.#mistrustBook();
    const settings = this.#settings;
    if (settings === null) return;
    const policy = policyOf(settings);
    const measures = measureAlerts(facts, policy.rules);
    const seen = hasDuty ? measures : { ...measures, known: new Set(['database'] as const) };
    const before = this.#book ?? { alerts: [], written: new Map(), isRead: false };
    const isThere = (id: string) => policy.listeners.some((one) => one.id === id && one.enabled);
    const alerts = afterLook(before.alerts, seen, policy, clock.wall(), newId).map((alert) =>
      withoutChannels(alert, isThere),
    );
    this.#announce(before.alerts, alerts);
    this.#book = { ...before, alerts };
    this.#tellDue(settings, stopping);
    if (facts.databaseWell) {
      await this.#within(this.#write());
      await this.#within(this.#prune());
    }
  }

  /** It has an alert about its own database, which nobody else ends. */
  #owes(subject: string): boolean {
    const { alerts = [] } = this.#book ?? {};
    return alerts.some(
      (alert) =>
        isOfDatabase(alert, subject) &&
        (alert.state !== 'resolved' || alert.notices.some(({ state }) => state === 'pending')),
    );
  }

  #wantsDoctor(): boolean {
    return this.#settings !== null && ruleInForce('doctor', this.#settings.rules.get('doctor') ?? {}).enabled;
  }

  /** All other alerts are the duty of another node now: what we know of them is old. */
  #keepOnly(subject: string): void {
    if (this.#book === null) return;
    const alerts = this.#book.alerts.filter((alert) => isOfDatabase(alert, subject));
    const written = new Map([...this.#book.written].filter(([, alert]) => isOfDatabase(alert, subject)));
    this.#book = { alerts, written, isRead: false };
  }

  /** Cut off from the store, this node may be one of several that have the duty: what it knows is to be read again. */
  #mistrustBook(): void {
    if (this.#book !== null) this.#book = { ...this.#book, isRead: false };
  }

  /** Somebody set the clock, or the machine slept: what is measured from times takes as long as before. */
  #followClock(): void {
    const { clock } = this.#deps;
    const apart = clock.wall() - clock.mono();
    const ms = this.#apart === null ? 0 : apart - this.#apart;
    this.#apart = apart;
    if (Math.abs(ms) < SET_MS || this.#book === null) return;
    this.#book = { ...this.#book, alerts: this.#book.alerts.map((alert) => afterClockSet(alert, ms)) };
  }

  #leave(): void {
    this.#book = null;
    this.#settings = null;
  }

  /** Reads what operators decided, and, where the duty begins or may have been another's, the alerts that are not over. */
  async #read(hasDuty: boolean): Promise<void> {
    const { alerts: store, clock } = this.#deps;
    this.#settings = (await this.#within(store.alertSettings())) ?? this.#settings;
    if (!hasDuty || this.#book?.isRead === true) return;
    const found = await this.#within(store.openAlerts(clock.wall() - REMEMBERED_MS));
    if (found === null) return;
    this.#book = readAgain(this.#book, found, clock.wall());
  }

  /** Begins to tell what is due: one thing at a time to each channel, the most urgent first. */
  #tellDue({ channels }: AlertSettings, stopping: AbortSignal): void {
    const now = this.#deps.clock.wall();
    for (const alert of (this.#book?.alerts ?? []).toSorted(moreUrgent))
      for (const notice of dueNotices(alert, now)) {
        const stored = channels.find(({ channel }) => channel.id === notice.channel);
        if (stored === undefined || this.#underWay.has(notice.channel)) continue;
        if (this.#underWay.size >= MAX_AT_ONCE || stopping.aborted) return;
        const { kind } = notice;
        const telling = { kind, alert, server: this.#deps.server(), now };
        const told = this.#deps
          .tell(telling, stored, stopping)
          .then((error) => this.#told(alert.id, notice, stored.channel.name, error, stopping))
          .finally(() => {
            this.#underWay.delete(notice.channel);
            // There may be more to tell it.
            if (!stopping.aborted && this.#settings !== null) this.#tellDue(this.#settings, stopping);
          });
        this.#underWay.set(notice.channel, told);
      }
  }

  #told(id: string, notice: AlertNotice, channel: string, error: string | null, stopping: AbortSignal): void {
    // What was cut off by our own end says nothing: the next process tells it again.
    if (this.#book === null || (stopping.aborted && error !== null)) return;
    const { clock, events } = this.#deps;
    const alerts = this.#book.alerts.map((alert) =>
      alert.id === id ? afterTry(alert, notice, error, clock.wall()) : alert,
    );
    this.#book = { ...this.#book, alerts };
    events.emit({ type: 'alert_told', alert: id, channel, error });
    void this.#within(this.#write());
  }

  #announce(before: readonly Alert[], after: readonly Alert[]): void {
    const states = new Map(before.map(({ id, state }) => [id, state]));
    for (const { id, rule, subject, severity, text, state } of after)
      if (state !== 'pending' && states.get(id) !== state)
        this.#deps.events.emit({ type: 'alert', alert: id, rule, subject, severity, text, state });
  }

  /** Writes what differs from the store; one at a time. */
  async #write(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    const book = this.#book;
    if (book === null) return;
    const changed = book.alerts.filter((alert) => book.written.get(alert.id) !== alert);
    const ids = new Set(book.alerts.map(({ id }) => id));
    // What ended is only remembered: it stays in the history.
    const gone = [...book.written.values()].filter(({ id, state }) => !ids.has(id) && state === 'pending');
    if (changed.length === 0 && gone.length === 0) return;
    const removed = gone.map(({ id }) => id);
    this.#writing = this.#deps.alerts.writeAlerts(changed, removed).then(
      () => {
        for (const alert of changed) book.written.set(alert.id, alert);
        for (const id of book.written.keys()) if (!ids.has(id)) book.written.delete(id);
      },
      (error) => this.#deps.fault('alerts_not_written', error),
    );
    await this.#writing;
    this.#writing = null;
  }

  async #prune(): Promise<void> {
    const { alerts, clock, keepDays } = this.#deps;
    if (clock.mono() - this.#prunedAt < PRUNE_MS) return;
    this.#prunedAt = clock.mono();
    const before = clock.wall() - keepDays() * DAY_MS;
    let pruned = PRUNED_AT_ONCE;
    while (pruned === PRUNED_AT_ONCE) pruned = await alerts.forgetAlerts(before, MOST_KEPT, PRUNED_AT_ONCE);
  }

  /** What work resolves with; null: it takes too long, and goes on by itself. */
  async #within<T>(work: Promise<T>): Promise<T | null> {
    const done = new AbortController();
    work.catch(() => {});
    try {
      return await Promise.race([work, this.#deps.clock.sleep(PATIENCE_MS, done.signal).then(() => null)]);
    } finally {
      done.abort();
    }
  }
}

/** A book with what is stored. What it has of an alert is newer, unless another node wrote or removed that meanwhile. */
function readAgain(book: Book | null, stored: readonly Alert[], now: number): Book {
  const written = new Map(stored.map((alert) => [alert.id, alert]));
  const own = (book?.alerts ?? []).filter(({ id }) =>
    isDeepStrictEqual(book?.written.get(id), written.get(id)),
  );
  const others = stored.filter(({ id }) => !own.some((one) => one.id === id));
  // What that changes differs from the store, and is written.
  return { alerts: [...others.map((alert) => asOfNow(alert, now)), ...own], written, isRead: true };
}

function isOfDatabase(alert: Alert, subject: string): boolean {
  return alert.rule === 'database' && alert.subject === subject;
}

function policyOf({ rules, channels, silences }: AlertSettings): AlertPolicy {
  return {
    rules: new Map(ALERT_RULE_NAMES.map((name) => [name, ruleInForce(name, rules.get(name) ?? {})])),
    listeners: channels.map(({ channel }) => channel),
    silences,
  };
}
