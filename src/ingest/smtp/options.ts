import type { ApiKey, NamedSource } from '../../domain/key.ts';
import type { FeedbackDesk, Intake } from '../../engine/contract.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { CidrSet } from '../../lib/network.ts';
import type { Random } from '../../lib/random.ts';
import type { RecipientTokens, TokenPurpose } from '../../lib/recipient-token.ts';
import type { RecogniseToken } from '../../mail/feedback-report.ts';
import type { Events } from '../../observe/events.ts';
import type { DmarcDesk } from '../../reports/dmarc-desk.ts';
import type { SuppressionList } from '../../store/suppressions.ts';
import type { Views } from '../../store/views.ts';
import type { IngestShared } from '../shared.ts';
import type { UnsubscribeTerms } from '../unsubscribing.ts';
import type { Crowd } from './crowd.ts';
import type { SessionLog } from './session-log.ts';

/** What the SMTP listener needs. */
export interface SmtpDeps {
  readonly intake: Intake;
  /** Hears what mail to our bounce domains tells. */
  readonly desk: FeedbackDesk;
  /** Takes the DMARC reports of receivers in. */
  readonly dmarcDesk: DmarcDesk;
  /** What links to unsubscribe are made of now. */
  readonly unsubscribing: () => UnsubscribeTerms;
  /** Which recipients get nothing. */
  readonly suppressions: Pick<SuppressionList, 'suppressionsUnder'>;
  /** Finds repeats of a message under the same `Idempotency-Key`. */
  readonly views: Pick<Views, 'remembered'>;
  readonly shared: IngestShared;
  readonly events: Events;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Counts the connections of all threads that share the ports; null: there is only this one. */
  readonly crowd: Crowd | null;
  /** Notes sessions that have ended; null: nobody does. */
  readonly sessions: SessionLog | null;
}

/**
 * Settings of the listener, named as in the configuration: `listener.soft_errors` is `softErrors`. They may change
 * while it runs, so users read them at every use.
 */
export interface SmtpSettings {
  readonly requireAuth: boolean;
  readonly requireTls: boolean;
  readonly allowInsecureAuth: boolean;
  readonly receivedClient: boolean;
  readonly bareNewline: 'reject' | 'normalize';
  readonly quotedLocalParts: boolean;
  readonly suppressed: 'accept' | 'refuse';
  readonly rateLimitPerSource: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerSource: number;
  readonly maxMessagesPerConnection: number;
  readonly maxCommandsWithoutMail: number;
  readonly softErrors: number;
  readonly hardErrors: number;
  readonly maxAuthFailures: number;
  readonly greetDelayMs: number;
  readonly firstContactDelayMs: number;
  readonly commandTimeoutSeconds: number;
  readonly dataTimeoutSeconds: number;
  readonly busyTimeoutSeconds: number;
  readonly minDataBytesPerSecond: number;
}

/** Limits shared with the API, so that a message may be the same whichever way it arrives. */
export interface MessageLimits {
  readonly rateLimitPerKey: number;
  readonly maxMessageBytes: number;
  readonly maxRecipients: number;
  readonly maxTags: number;
  readonly maxMetadata: number;
}

/** The listener's options; everything is read at every use. */
export interface SmtpOptions {
  /** Our host name, in the greeting, `Received` and `Message-ID`. */
  readonly hostname: string;
  /** The dashboard's bound port, for clients that look for health here; null where this server has none. */
  readonly webuiPort: number | null;
  /** The recipient of mail to `<postmaster>`. */
  readonly postmaster: string;
  readonly settings: SmtpSettings;
  readonly limits: MessageLimits;
  readonly allowedCidrs: CidrSet;
  readonly trustedProxies: CidrSet;
  /** Registered sending domains: lower case, A-labels. */
  readonly domains: ReadonlySet<string>;
  /** The key that clients have who may send without one; null: none. */
  readonly keyless: ApiKey | null;
  /** `listener.sources`, in order. */
  readonly sources: readonly { readonly source: NamedSource; readonly cidrs: CidrSet }[];
  readonly bounces: BounceOptions;
}

/** Mail to our bounce domains (contract-2 §A3). */
export interface BounceOptions {
  /** Lower case, A-labels. None: nothing is taken from strangers. */
  readonly domains: ReadonlySet<string>;
  readonly maxMessageBytes: number;
  /** Messages a minute. */
  readonly ratePerSource: number;
  /** Null as long as the key of our tokens cannot be read: then none counts. */
  readonly tokens: (purpose: TokenPurpose) => RecipientTokens | null;
  readonly recognise: RecogniseToken;
}
