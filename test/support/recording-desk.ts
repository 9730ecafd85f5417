import type { FeedbackToken } from '../../src/domain/feedback.ts';
import type { FeedbackDesk, FeedbackReport, ToldAnswer } from '../../src/engine/contract.ts';
import { StoreError } from '../../src/store/store.ts';

/** A desk that keeps what it was told in memory, and counts each event once. */
export class RecordingDesk implements FeedbackDesk {
  /** Everything that was told. */
  readonly reports: FeedbackReport[] = [];
  /** Set to hold back answers: it is not on disk yet. */
  held: Promise<void> | null = null;
  /** Set to fail. */
  failure: StoreError['code'] | null = null;
  /** Tokens that do not count any more: `id recipient`. */
  readonly expired = new Set<string>();
  readonly #seen = new Set<string>();

  async tell(report: FeedbackReport): Promise<ToldAnswer> {
    if (this.failure !== null) throw new StoreError(this.failure, 'as the test wants it');
    this.reports.push(report);
    const news = report.items.filter(({ onceId }) => onceId === null || !this.#seen.has(onceId));
    for (const { onceId } of news) if (onceId !== null) this.#seen.add(onceId);
    await this.held;
    const id = `fbk_${String(this.reports.length).padStart(26, '0')}`;
    return { id, matched: report.items.length > 0, changed: news.length > 0 };
  }

  async counts({ id, recipient }: FeedbackToken): Promise<boolean> {
    if (this.failure !== null) throw new StoreError(this.failure, 'as the test wants it');
    return !this.expired.has(`${id} ${recipient}`);
  }
}
