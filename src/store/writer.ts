/** How the writing side of a store does. */
export interface StoreWriter {
  /** How many transactions were committed. */
  commits(): number;
  /** For how long the store has owed an answer to a write, in ms; 0 when it owes none. */
  waitingMs(): number;
}
