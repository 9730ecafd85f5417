import type { Reply } from '../../domain/outcome.ts';
import type { ConnectionUser, SmtpConnection } from './connection.ts';

/** A transaction pipelined behind another. */
export interface Follower extends ConnectionUser {
  /** The one before ended well: replies are for this one from now on. */
  follow(): void;
}

/**
 * The place behind a connection's user that has sent everything and waits for its last reply (RFC 2920). The follower
 * may write, and receives no replies until that one has come.
 */
export class Behind implements ConnectionUser {
  readonly #connection: SmtpConnection;
  #follower: Follower | null = null;
  #isOwn = false;
  #hasWritten = false;

  constructor(connection: SmtpConnection) {
    this.#connection = connection;
    connection.next = this;
  }

  /** Whether the one before has ended, and the connection belongs to the follower. */
  get isOwn(): boolean {
    return this.#isOwn;
  }

  /** Takes the connection as soon as it is free. */
  begin(follower: Follower): void {
    this.#follower = follower;
  }

  /** Records that something was written whose answer must be awaited. */
  write(): void {
    this.#hasWritten = true;
  }

  /** The user before ended well, and the connection is still usable. */
  follow(): void {
    this.#isOwn = true;
    this.#connection.next = null;
    this.#connection.user = this.#follower;
    if (this.#follower === null) this.#connection.calm();
    else this.#follower.follow();
  }

  /** Gives the place up. Anything written there makes the connection unusable for later users. */
  leave(): void {
    if (this.#connection.next !== this) return;
    if (this.#hasWritten) this.#connection.spoil();
    else this.#connection.next = null;
  }

  /** No replies come here before the one in front has ended. */
  reply(): void {}

  lost(reason: Reply): void {
    this.#follower?.lost(reason);
  }
}
