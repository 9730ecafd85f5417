import { AsyncLocalStorage } from 'node:async_hooks';
import type { Role } from '../domain/account.ts';
import type { ActorKind } from '../operations/system.ts';

/** Who asks for an operation. */
export interface Actor {
  readonly kind: ActorKind;
  /** A user's or key's name; empty for the command line and the service itself. */
  readonly name: string;
  readonly role: Role;
  /** Where from; null for the command line and the service. */
  readonly sourceAddress: string | null;
  /** Of a user: the session that asks. */
  readonly sessionId: string | null;
  /** Of a user: the name, without a port, by which the browser reached us. */
  readonly host?: string;
}

/** Who asked for what is being done: for the few operations whose answer depends on it. The door sets it. */
export const ASKING = new AsyncLocalStorage<Actor>();

/** Whoever owns the data directory and uses the command line. */
export const COMMAND_LINE: Actor = {
  kind: 'command',
  name: '',
  role: 'admin',
  sourceAddress: null,
  sessionId: null,
};
