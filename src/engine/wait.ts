/** Something waits in a lane, and comes due at a wall time in ms. */
export interface Wait {
  readonly lane: string;
  readonly dueAt: number;
}
