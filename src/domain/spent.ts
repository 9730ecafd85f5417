/** Relays that may be given nothing more today, and what their mail waits for. */

/** A relay that has had what it may have today (UTC), but for what is kept for high priority. */
export interface SpentRelay {
  readonly relay: string;
  /** Recipients it may have today. */
  readonly allowance: number;
  /** The allowance is a step of its warm-up. */
  readonly warming: boolean;
  /** The day on which its warm-up begins, such as `2026-12-01`; null once it has. */
  readonly begins: string | null;
  /** Deliveries that wait for it. */
  readonly waiting: number;
  /** How late the longest waiting one is, in ms. */
  readonly latenessMs: number;
}

/** What an operator is told of a relay that is spent. */
export function spentText({ relay, allowance, begins, waiting }: SpentRelay): string {
  const wait =
    waiting === 0
      ? 'no delivery waits for it'
      : `${waiting} ${waiting === 1 ? 'delivery waits' : 'deliveries wait'} for it`;
  return begins === null
    ? `${relay} has had its ${allowance} recipients of today, or all that is not kept for high priority: ${wait} until midnight UTC.`
    : `${relay} is given nothing before ${begins} (UTC), when its warm-up begins: ${wait}.`;
}

/** Whether someone should look: mail is late, and not because a warm-up goes its way. */
export function isShort({ warming, waiting, latenessMs }: SpentRelay, lateMs: number): boolean {
  return !warming && waiting > 0 && latenessMs > lateMs;
}
