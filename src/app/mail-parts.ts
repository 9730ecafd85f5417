import type { SecureContextOptions } from 'node:tls';
import type { Config } from '../config/schema.ts';
import type { IngestDeps } from '../ingest/http/options.ts';
import type { IngestShared, SharedLimits } from '../ingest/shared.ts';
import type { Crowd } from '../ingest/smtp/crowd.ts';
import type { Units } from '../lib/budget.ts';
import type { Keyring } from '../store/accounts.ts';

/** The listeners of the ports that take mail: on the event loop that also delivers, or on threads of their own. */
export interface MailListeners {
  /** SMTP connections open now. */
  readonly connections: number;
  /** Bytes of messages that are coming in. */
  readonly bytesInFlight: number;
  /** Binds a port of the ingestion API; 0 takes a free one. Resolves to the port. Rejects with `ListenError`. */
  listenApi(port: number, isTls: boolean): Promise<number>;
  /** Binds a port of SMTP, see `SmtpListener.listen`. */
  listenSmtp(hosts: readonly string[], port: number, implicitTls: boolean): Promise<number>;
  /** Uses another key and certificate for handshakes from now on. */
  setSecureContext(tls: SecureContextOptions): void;
  /** Resolves when every thread that takes mail goes by the configuration in force. */
  configured(): Promise<void>;
  /** Stops accepting at once; ends what is under way, at the latest when the signal aborts. */
  close(deadline: AbortSignal): Promise<void>;
}

/** What the API and SMTP ask of the rest of the service. */
export interface IngestRooms
  extends Pick<IngestDeps, 'intake' | 'acts' | 'readWords' | 'admin' | 'spool' | 'views' | 'outlook'> {
  readonly keyring: Keyring;
}

/** What listeners on one thread are made of. */
export interface MailParts
  extends Pick<IngestDeps, 'events' | 'clock' | 'random' | 'log' | 'webuiPort' | 'ready' | 'signal'> {
  readonly live: { readonly config: Config };
  readonly rooms: IngestRooms;
  readonly shared: IngestShared;
  /** Counts SMTP connections over all threads that take mail at the same ports; null: this is the only one. */
  readonly crowd: Crowd | null;
}

/** The part of one thread that takes mail of what all of them together may have; at least one. */
export function partOf(limit: number, { threads }: Pick<Config, 'threads'>): number {
  return limit === 0 ? 0 : Math.max(1, Math.floor(limit / threads.ingest));
}

/** Of a message that goes to another thread there are two copies for a while. */
const COPIES = 2;

/** Bytes of messages that may be coming in at once, over all threads, as those count them that do not also deliver. */
export function bytesInThreads({ limits }: Config): number {
  return Math.floor(limits.maxBytesInFlight / COPIES);
}

/** What one thread may keep in memory of what comes in; `units` counts what all threads have. */
export function sharedLimitsOf(config: Config, units: Units | null): SharedLimits {
  const { maxBytesInFlight, maxWaitingRequests, maxKeysInMemory } = config.limits;
  return {
    ...(units === null ? { maxBytesInFlight } : { maxBytesInFlight: bytesInThreads(config), units }),
    maxWaitingRequests: partOf(maxWaitingRequests, config),
    maxKeysInMemory,
  };
}
