import type { NamedSource } from '../../domain/key.ts';
import type { Intake } from '../../engine/contract.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { CidrSet } from '../../lib/network.ts';
import type { Random } from '../../lib/random.ts';
import type { Events } from '../../observe/events.ts';
import type { Views } from '../../store/views.ts';
import type { IngestShared } from '../shared.ts';
import type { Crowd } from './crowd.ts';

/** What the SMTP listener stands on. */
export interface SmtpDeps {
  readonly intake: Intake;
  /** For repeats of a message under the same `Idempotency-Key`. */
  readonly views: Pick<Views, 'remembered'>;
  readonly shared: IngestShared;
  readonly events: Events;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Counts the connections of all threads that share the ports; null: this is the only one. */
  readonly crowd: Crowd | null;
}

/**
 * Settings of the listener, named as in the configuration: `listener.soft_errors` is `softErrors`. They may change
 * while it runs; whoever heeds one reads it at every use.
 */
export interface SmtpSettings {
  readonly requireAuth: boolean;
  readonly requireTls: boolean;
  readonly allowInsecureAuth: boolean;
  readonly receivedClient: boolean;
  readonly bareNewline: 'reject' | 'normalize';
  readonly quotedLocalParts: boolean;
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

/** Limits that are the API's as well, so that a message may be the same whichever way it comes. */
export interface MessageLimits {
  readonly rateLimitPerKey: number;
  readonly maxMessageBytes: number;
  readonly maxRecipients: number;
  readonly maxTags: number;
  readonly maxMetadata: number;
}

/** How the listener is set; everything is read anew at every use. */
export interface SmtpOptions {
  /** Our name, in the greeting, `Received` and `Message-ID`. */
  readonly hostname: string;
  /** The port of the dashboard that is bound, for who asks there for health; null where this server has none. */
  readonly webuiPort: number | null;
  /** Who gets mail to `<postmaster>`. */
  readonly postmaster: string;
  readonly settings: SmtpSettings;
  readonly limits: MessageLimits;
  readonly allowedCidrs: CidrSet;
  readonly trustedProxies: CidrSet;
  /** Domains that mail is sent from, registered here: lower case, A-labels. */
  readonly domains: ReadonlySet<string>;
  /** `listener.sources`, in order. */
  readonly sources: readonly { readonly source: NamedSource; readonly cidrs: CidrSet }[];
}
