import type { ContentRef } from '../../domain/message.ts';

/** Which segments this process has written, and which of their records the store has not decided on. No I/O. */
export class OwnSegments {
  /** Written to at this moment. */
  readonly #open = new Set<number>();
  /** No append will touch them again. */
  readonly #sealed = new Set<number>();
  /** Offsets of undecided records, per segment that has any. */
  readonly #undecided = new Map<number, Set<number>>();

  opened(segment: number): void {
    this.#open.add(segment);
  }

  sealed(segment: number): void {
    this.#open.delete(segment);
    this.#sealed.add(segment);
  }

  /** It is no longer ours: others took this process for dead. */
  lost(segment: number): void {
    this.#open.delete(segment);
    this.#sealed.delete(segment);
    this.#undecided.delete(segment);
  }

  /** Records wait for the store's decision. */
  hold(refs: readonly ContentRef[]): void {
    for (const { segment, offset } of refs) {
      const offsets = this.#undecided.get(segment);
      if (offsets === undefined) this.#undecided.set(segment, new Set([offset]));
      else offsets.add(offset);
    }
  }

  /** The store has decided on records. */
  decided(refs: readonly ContentRef[]): void {
    for (const { segment, offset } of refs) {
      const offsets = this.#undecided.get(segment);
      if (offsets?.delete(offset) && offsets.size === 0) this.#undecided.delete(segment);
    }
  }

  /** Whether it is ours and may not be removed: it is written to, or waits for a decision. */
  isBusy(segment: number): boolean {
    return this.#open.has(segment) || this.#undecided.has(segment);
  }

  /** Those that no append will touch again and whose appends are all decided. */
  idle(): number[] {
    return [...this.#sealed].filter((segment) => !this.isBusy(segment));
  }

  /** A segment is as good as gone: what is left of it is everybody's. */
  dropped(segment: number): void {
    this.#sealed.delete(segment);
  }
}
