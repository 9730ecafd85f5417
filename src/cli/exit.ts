/** Ends a command with a status other than 0, and a line that says why unless all was said already. */
export class Exit extends Error {
  /** 1: failed; 2: wrong usage; 74: the machine failed. */
  readonly status: number;
  constructor(status: number, message = '') {
    super(message);
    this.name = 'Exit';
    this.status = status;
  }
}
