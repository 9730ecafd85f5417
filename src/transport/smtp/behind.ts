import type { Reply } from '../../domain/outcome.ts';
import type { ConnectionUser, SmtpConnection } from './connection.ts';

/** A transaction that begins behind another. */
export interface Follower extends ConnectionUser {
  /** The one before has ended well: what comes now is for this one. */
  follow(): void;
}

/**
 * The place behind the user of a connection, who has sent all and waits for the last reply (RFC 2920). Whoever takes it may
 * write, and hears nothing until that reply has come.
 */
export class Behind implements ConnectionUser {
  readonly #connection: SmtpConnection;
  #follower: Follower | null = null;
  #isOwn = false;
  #hasWritten = false;

  /** Takes the place. */
  constructor(connection: SmtpConnection) {
    this.#connection = connection;
    connection.next = this;
  }

  /** The one before has ended, and the connection is the follower's. */
  get isOwn(): boolean {
    return this.#isOwn;
  }

  /** Takes the connection as soon as it is free. */
  begin(follower: Follower): void {
    this.#follower = follower;
  }

  /** Something is written whose answer must be waited for. */
  write(): void {
    this.#hasWritten = true;
  }

  /** The user before has ended well, and the connection can be used further. */
  follow(): void {
    this.#isOwn = true;
    this.#connection.next = null;
    this.#connection.user = this.#follower;
    if (this.#follower === null) this.#connection.calm();
    else this.#follower.follow();
  }

  /** Gives the place up. What was written there spoils the connection for whoever comes later. */
  leave(): void {
    if (this.#connection.next !== this) return;
    if (this.#hasWritten) this.#connection.spoil();
    else this.#connection.next = null;
  }

  /** Nobody is told anything here before the one in front has ended. */
  reply(): void {}

  lost(reason: Reply): void {
    this.#follower?.lost(reason);
  }
}
