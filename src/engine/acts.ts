import type { CancelAnswer, RequeueAnswer } from '../store/acting.ts';
import type { RestoredAct } from '../store/relocating.ts';
import type { Reassignment } from '../store/store.ts';
import type { WaitingDelivery } from '../store/views.ts';

/** The door for people and programs who act on messages that are already ours (contract §3.3). */
export interface Acts {
  /** Cancels what is not final. Rejects with `StoreError`. */
  cancel(id: string): Promise<CancelAnswer>;
  /** Tries failed and retrying recipients again, now. Rejects with `StoreError`. */
  retry(id: string): Promise<RequeueAnswer['kind']>;
  /** Removes the contents of captured messages. Says how many were. Rejects with `StoreError`. */
  discard(ids: readonly string[]): Promise<number>;
  /** Decides on everything that came back with a backup. Says on how many recipients. Rejects with `StoreError`. */
  decideRestored(act: RestoredAct): Promise<number>;
  /** Gives waiting deliveries another way. Says how many still waited where they were. Rejects with `StoreError`. */
  reroute(moves: readonly Reassignment[]): Promise<number>;
  /**
   * Decides by the routing table where waiting deliveries go, whatever decided it before. Says how many were given
   * another way. Rejects with `StoreError`.
   */
  redecide(deliveries: readonly WaitingDelivery[]): Promise<number>;
}
