/** How the writing side of a store does. */
export interface StoreWriter {
  /** How many transactions were committed. */
  commits(): number;
  /** For how long the oldest write has been waited for, in ms; 0 when none is. */
  waitingMs(): number;
}
