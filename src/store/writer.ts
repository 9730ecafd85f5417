/** The state of the store's writing side. */
export interface StoreWriter {
  /** Number of committed transactions. */
  commits(): number;
  /** How long the oldest write has waited for its answer, in ms; 0 if none waits. */
  waitingMs(): number;
}
