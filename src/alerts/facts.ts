/** Gathers what alerts are measured by: from memory where it is there, and from the store every few minutes. */
import type { AlertFacts, Examined, NodeCheck, RateFacts, TrendFacts } from '../domain/alert-measures.ts';
import type { Clock } from '../lib/clock.ts';
import type { HealthReport, NodeStatus, RelayStatus } from '../observe/health-report.ts';
import type { Figures } from '../store/views.ts';
import type { Webhooks } from '../store/webhooks.ts';
import { type RateSources, recentRates } from './rates.ts';

/** Where facts come from. Functions answer at once from memory, unless they return a promise. */
export interface FactSources extends RateSources {
  readonly clock: Clock;
  readonly webhooks: Pick<Webhooks, 'webhookEndpoints'>;
  /** This node's name. */
  readonly node: string;
  readonly health: () => HealthReport;
  readonly figures: () => Figures | null;
  /** Each with the figures of all nodes. */
  readonly allRelays: () => readonly RelayStatus[];
  readonly nodes: () => readonly NodeStatus[];
  /** Why a relay with one next hop rests, in short, on any node; null: it is not known, or does not. */
  readonly restCause: (relay: string) => string | null;
  /** The relays whose next hop answered or failed since the start, on any node. */
  readonly triedRelays: () => ReadonlySet<string>;
  /** Checks that are not well, as other nodes report them. */
  readonly othersChecks: () => readonly NodeCheck[];
  /** What the doctor finds; takes a few seconds. */
  readonly examine: () => Promise<readonly Examined[]>;
  readonly fault: (code: string, error: unknown) => void;
  /** When the certificates of nodes end, this one's included. */
  readonly certificates: () => AlertFacts['certificates'];
}

/** What a look is for. */
export interface LookFor {
  /** This node watches; another one looks after its own database alone. */
  readonly hasDuty: boolean;
  readonly wantsDoctor: boolean;
}

/** How often rates are counted. */
const RATES_MS = 300_000;
/** How often trends are noted, and how many notes are kept: an hour of them. */
const NOTE_MS = 60_000;
const NOTES = 61;
const HALF_HOUR = 30;
const TEN_MINUTES = 10;
const SIXTY_MINUTES = 60;

/** When the doctor comes first, and how often: it talks to next hops, and measures the disk. */
const DOCTOR_FIRST_MS = 600_000;
const DOCTOR_MS = 6 * 3_600_000;
const DOCTOR_AGAIN_MS = 1_800_000;

interface Note {
  readonly waiting: number;
  readonly duplicates: number;
  readonly denied: number;
}

/** Gathers facts, time after time. */
export class FactBook {
  readonly #sources: FactSources;
  #rates: readonly RateFacts[] = [];
  #ratedAt = Number.NEGATIVE_INFINITY;
  /** One a minute, the newest first. */
  #notes: readonly Note[] = [];
  #notedAt = Number.NEGATIVE_INFINITY;
  #examined: readonly Examined[] | null = null;
  /** When the doctor comes next (monotonic ms); null: nobody wants it. */
  #examineAt: number | null = null;

  constructor(sources: FactSources) {
    this.#sources = sources;
  }

  /**
   * The facts now; the doctor's follow once it was there. The store is asked by the node that has the duty alone. Rejects
   * with `StoreError`; not while the database is known not to answer.
   */
  async gather({ hasDuty, wantsDoctor }: LookFor): Promise<AlertFacts> {
    const { clock, node, webhooks } = this.#sources;
    this.#callDoctor(wantsDoctor);
    const report = this.#sources.health();
    const checks = report.checks.filter(({ status }) => status !== 'healthy');
    const databaseWell = !checks.some(({ name }) => name === 'database');
    const asksStore = hasDuty && databaseWell;
    if (asksStore) await this.#count();
    const stored = asksStore ? await webhooks.webhookEndpoints() : [];
    const tried = this.#sources.triedRelays();
    const nodes = this.#sources.nodes();
    // A node that came back has a new id, and its name.
    const there = nodes.flatMap(({ name, missing }) => (missing ? [] : [name]));
    return {
      now: clock.wall(),
      node,
      databaseWell,
      checks: [...checks.map((check) => ({ node, check })), ...this.#sources.othersChecks()],
      oldestDueSeconds: report.spool.oldestSeconds,
      relays: this.#sources.allRelays().map(({ name, state, disabled, refusal, quota }) => ({
        name,
        rests: state === 'open',
        isTried: disabled || (state !== 'half_open' && tried.has(name)),
        cause: refusal ?? (state === 'open' ? this.#sources.restCause(name) : null),
        quota: quota === null ? null : { used: quota.used, allowance: quota.allowance },
      })),
      certificates: this.#sources.certificates(),
      disabledWebhooks: stored
        .filter(({ health }) => health.state === 'disabled')
        .map(({ endpoint: { id, url }, health: { reason } }) => ({
          id,
          host: new URL(url).host,
          reason: reason ?? '',
        })),
      nodes: there,
      missingNodes: nodes.flatMap(({ name, missing }) => (missing && !there.includes(name) ? [name] : [])),
      examined: this.#examined,
      rates: this.#rates,
      trend: this.#trend(),
    };
  }

  #callDoctor(isWanted: boolean): void {
    const { clock, examine, fault } = this.#sources;
    if (!isWanted) {
      this.#examineAt = null;
      this.#examined = null;
      return;
    }
    this.#examineAt ??= clock.mono() + DOCTOR_FIRST_MS;
    if (clock.mono() < this.#examineAt) return;
    this.#examineAt = clock.mono() + DOCTOR_MS;
    examine().then(
      (findings) => {
        if (this.#examineAt === null) return;
        this.#examined = findings;
        if (findings.some(({ status }) => status === 'fail'))
          this.#examineAt = clock.mono() + DOCTOR_AGAIN_MS;
      },
      (error) => fault('doctor_failed', error),
    );
  }

  async #count(): Promise<void> {
    const { clock } = this.#sources;
    if (clock.mono() - this.#ratedAt < RATES_MS) return;
    this.#rates = await recentRates(this.#sources, clock.wall());
    this.#ratedAt = clock.mono();
  }

  #trend(): TrendFacts {
    const figures = this.#sources.figures();
    const now = this.#sources.clock.mono();
    if (figures !== null && now - this.#notedAt >= NOTE_MS) {
      const { spool, possibleDuplicates: duplicates, today } = figures;
      this.#notes = [{ waiting: spool.incoming, duplicates, denied: today.denied }, ...this.#notes].slice(
        0,
        NOTES,
      );
      this.#notedAt = now;
    }
    const [newest] = this.#notes;
    const since = (minutes: number, read: (note: Note) => number) => {
      const before = this.#notes[minutes] ?? null;
      return before === null || newest === undefined ? null : read(newest) - read(before);
    };
    // The count of refusals begins anew each day.
    const denied = since(TEN_MINUTES, (note) => note.denied);
    // Within the first hour, since the start of the watch: some are some, and none may only be none so far.
    const duplicates = since(Math.min(SIXTY_MINUTES, this.#notes.length - 1), (note) => note.duplicates);
    return {
      waiting: newest?.waiting ?? 0,
      grown: since(HALF_HOUR, (note) => note.waiting),
      duplicates: duplicates === 0 && this.#notes.length < NOTES ? null : duplicates,
      refusals: denied === null || denied < 0 ? null : denied / (TEN_MINUTES * 60),
    };
  }
}
