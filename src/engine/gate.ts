import type { Suspension } from './intake.ts';

const SUSPENSIONS = {
  shutting_down: { code: 'shutting_down', detail: 'The server is shutting down.', retryAfterSeconds: 10 },
  store_unavailable: {
    code: 'store_unavailable',
    detail: 'The server cannot store messages at the moment.',
    retryAfterSeconds: 5,
  },
  disk_full: {
    code: 'disk_full',
    detail: 'The server has no room for more messages at the moment.',
    retryAfterSeconds: 30,
  },
} as const satisfies Record<string, Suspension>;

/** A reason to suspend intake. */
export type SuspensionReason = keyof typeof SUSPENSIONS;

/** Whether mail may come in: open unless something is held against it. */
export class Gate {
  readonly #reasons = new Set<SuspensionReason>();

  /** Holds a reason against intake, or takes it back. */
  set(reason: SuspensionReason, holds: boolean): void {
    if (holds) this.#reasons.add(reason);
    else this.#reasons.delete(reason);
  }

  /** The weightiest reason; null when intake is open. */
  suspension(): Suspension | null {
    for (const reason of Object.keys(SUSPENSIONS) as SuspensionReason[])
      if (this.#reasons.has(reason)) return SUSPENSIONS[reason];
    return null;
  }

  /** What a submission is told that met this trouble, whether or not it still holds. */
  static because(reason: SuspensionReason): Suspension {
    return SUSPENSIONS[reason];
  }
}
