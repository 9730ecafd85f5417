import type { CancelAnswer, RequeueAnswer } from '../store/store.ts';

/** The door for people and programs who act on messages that are already ours (contract §3.3). */
export interface Acts {
  /** Cancels what is not final. Rejects with `StoreError`. */
  cancel(id: string): Promise<CancelAnswer>;
  /** Tries failed and retrying recipients again, now. Rejects with `StoreError`. */
  retry(id: string): Promise<RequeueAnswer['kind']>;
}
