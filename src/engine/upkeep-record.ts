import type { Clock } from '../lib/clock.ts';
import type { Journal } from '../store/journal.ts';

/** What upkeep does by itself, as the journal names it. */
export type UpkeepAction = 'retention' | 'compaction';

/** What was done, by name, such as `contents`. */
type Counts = Readonly<Record<string, number>>;

/** Upkeep works in many small steps; the journal has one entry an hour for them. */
const EVERY_MS = 3_600_000;

/** Sums what upkeep does and writes it into the journal: an entry an hour for each action, where there was anything. */
export class UpkeepRecord {
  readonly #journal: Pick<Journal, 'record'> | null;
  readonly #clock: Clock;
  readonly #sums = new Map<UpkeepAction, { readonly since: number; readonly counts: Map<string, number> }>();

  constructor(journal: Pick<Journal, 'record'> | null, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Adds what was done just now. */
  add(action: UpkeepAction, counts: Counts): void {
    if (Object.values(counts).every((count) => count === 0)) return;
    const sum = this.#sums.get(action) ?? { since: this.#clock.mono(), counts: new Map<string, number>() };
    this.#sums.set(action, sum);
    for (const [name, count] of Object.entries(counts))
      sum.counts.set(name, (sum.counts.get(name) ?? 0) + count);
  }

  /** Writes what is an hour old, or with `all` everything. What cannot be written is tried again the next time. */
  async write(all = false): Promise<void> {
    if (this.#journal === null) return;
    const now = this.#clock.mono();
    for (const [action, { since, counts }] of [...this.#sums]) {
      if (!all && now - since < EVERY_MS) continue;
      this.#sums.delete(action);
      try {
        await this.#journal.record([
          {
            at: this.#clock.wall(),
            actorKind: 'service',
            actor: '',
            sourceAddress: null,
            action,
            subject: '',
            before: null,
            after: JSON.stringify(Object.fromEntries(counts)),
          },
        ]);
      } catch (error) {
        // Put back, with what may have come meanwhile.
        this.add(action, Object.fromEntries(counts));
        throw error;
      }
    }
  }
}
