import type { SecureContextOptions } from 'node:tls';
import type { Config } from '../config/schema.ts';
import type { ChallengeAnswer } from '../domain/certificate.ts';
import type { ApiKey } from '../domain/key.ts';
import type { SigningKeys } from '../ingest/authenticator.ts';
import type { IngestDeps } from '../ingest/http/options.ts';
import type { IngestShared, SharedLimits } from '../ingest/shared.ts';
import type { Crowd } from '../ingest/smtp/crowd.ts';
import type { Units } from '../lib/budget.ts';
import type { DmarcDesk } from '../reports/dmarc-desk.ts';
import type { Keyring } from '../store/accounts.ts';
import type { RequestLog } from '../store/request-log.ts';
import type { SuppressionList } from '../store/suppressions.ts';

/** The listeners of the mail ports: on the event loop that also delivers, or on their own threads. */
export interface MailListeners {
  /** SMTP connections open now. */
  readonly connections: number;
  /** Bytes of incoming messages. */
  readonly bytesInFlight: number;
  /** Binds a port of the ingestion API; 0 picks a free one. Resolves to the port. Rejects with `ListenError`. */
  listenApi(port: number, isTls: boolean): Promise<number>;
  /** Binds an SMTP port, see `SmtpListener.listen`. */
  listenSmtp(hosts: readonly string[], port: number, implicitTls: boolean): Promise<number>;
  /** Uses another key and certificate for handshakes from now on. */
  setSecureContext(tls: SecureContextOptions): void;
  /** What authorities that ask whether names are ours are answered from now on. */
  setChallenges(answers: readonly ChallengeAnswer[]): void;
  /** Resolves when every mail thread uses the configuration in force. */
  configured(): Promise<void>;
  /** Stops accepting at once. Work in progress ends, at the latest when the signal aborts. */
  close(deadline: AbortSignal): Promise<void>;
}

/** What the API and SMTP need from the rest of the service. */
export interface IngestRooms
  extends Pick<
    IngestDeps,
    | 'intake'
    | 'acts'
    | 'desk'
    | 'readWords'
    | 'preflight'
    | 'admin'
    | 'spool'
    | 'views'
    | 'outlook'
    | 'templates'
  > {
  readonly dmarcDesk: DmarcDesk;
  readonly keyring: Keyring;
  readonly signing: SigningKeys;
  readonly suppressions: Pick<SuppressionList, 'suppressionsUnder'>;
  readonly requests: Pick<RequestLog, 'writeRequests' | 'requests'>;
}

/** What listeners on one thread are made from. */
export interface MailParts
  extends Pick<IngestDeps, 'events' | 'clock' | 'random' | 'log' | 'webuiPort' | 'ready' | 'signal'> {
  readonly live: { readonly config: Config };
  readonly rooms: IngestRooms;
  readonly shared: IngestShared;
  /** The key of clients that send none, over SMTP and as those of Mailpit; absent: they have none. */
  readonly keyless?: ApiKey;
  /** Counts SMTP connections over all threads that share the ports; null: there is only this one. */
  readonly crowd: Crowd | null;
}

/** One thread's part of a limit for all mail threads; at least one. */
export function partOf(limit: number, { threads }: Pick<Config, 'threads'>): number {
  return limit === 0 ? 0 : Math.max(1, Math.floor(limit / threads.ingest));
}

/** A message that moves to another thread exists twice for a while. */
const COPIES = 2;

/** Bytes of incoming messages at once, over all threads, as counted by threads that do not also deliver. */
export function bytesInThreads({ limits }: Config): number {
  return Math.floor(limits.maxBytesInFlight / COPIES);
}

/** Limits on one thread's memory for incoming mail; `units` counts for all threads. */
export function sharedLimitsOf(config: Config, units: Units | null): SharedLimits {
  const { maxBytesInFlight, maxWaitingRequests, maxKeysInMemory } = config.limits;
  return {
    ...(units === null ? { maxBytesInFlight } : { maxBytesInFlight: bytesInThreads(config), units }),
    maxWaitingRequests: partOf(maxWaitingRequests, config),
    maxKeysInMemory,
  };
}
