import type { SecureContext } from 'node:tls';
import type { ReceiverOptions } from '../../smtp/receiver/effect.ts';
import type { Connections } from './connections.ts';
import type { Denials } from './denials.ts';
import type { SmtpDeps, SmtpOptions } from './options.ts';
import type { Policy } from './policy.ts';
import type { SessionLog } from './session-log.ts';

/** What every session of the listener shares. */
export interface ListenerContext {
  readonly deps: SmtpDeps;
  readonly options: SmtpOptions;
  readonly policy: Policy;
  readonly connections: Connections;
  readonly denials: Denials;
  /** Notes sessions that have ended; null: nobody does. */
  readonly sessions: SessionLog | null;
  readonly receiverOptions: ReceiverOptions;
  /** Key and certificate for handshakes from now on; null without TLS. */
  readonly secureContext: () => SecureContext | null;
}
