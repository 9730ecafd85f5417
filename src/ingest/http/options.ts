import type { ProviderName } from '../../domain/drop-in.ts';
import type { ApiKey } from '../../domain/key.ts';
import type { Acts, FeedbackDesk, Intake } from '../../engine/contract.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { CidrSet } from '../../lib/network.ts';
import type { Random } from '../../lib/random.ts';
import type { RecogniseToken } from '../../mail/feedback-report.ts';
import type { Events } from '../../observe/events.ts';
import type { Spool } from '../../spool/spool.ts';
import type { RequestLog } from '../../store/request-log.ts';
import type { Views } from '../../store/views.ts';
import type { AdminDoor, Outlook } from '../service.ts';
import type { IngestShared } from '../shared.ts';
import type { UnsubscribeTerms } from '../unsubscribing.ts';
import type { HookDeps } from './hook.ts';
import type { ReadWords } from './inbox/captured-words.ts';
import type { RequestRecorder } from './request-log.ts';
import type { TemplateSource } from './templating.ts';
import type { VerdictDeps } from './verdict.ts';

/** What the ingestion API needs. */
export interface IngestDeps {
  readonly intake: Intake;
  /** The relays and sending domains in force. */
  readonly sending: VerdictDeps['sending'];
  readonly suppressions: VerdictDeps['suppressions'];
  /** Checks messages before they are sent. */
  readonly preflight: VerdictDeps['preflight'];
  /** What links to unsubscribe are made of now. */
  readonly unsubscribing: () => UnsubscribeTerms;
  readonly acts: Acts;
  /** Hears what became of mail. */
  readonly desk: FeedbackDesk;
  /** Reads the tokens of ours in addresses and links. */
  readonly recognise: RecogniseToken;
  readonly findHook: HookDeps['findHook'];
  readonly hooks: HookDeps['hooks'];
  readonly spool: Pick<Spool, 'read'>;
  readonly views: Views;
  readonly templates: TemplateSource;
  /** Predicts when waiting recipients are tried next. */
  readonly outlook: Outlook;
  /** Parses a message's text. Throws a `Problem`. */
  readonly readWords: ReadWords;
  /** Every operator operation. Its refusals are `Problem`s. */
  readonly admin: AdminDoor;
  readonly shared: IngestShared;
  /** What became of requests. */
  readonly requests: Pick<RequestLog, 'requests'>;
  /** Writes down which requests were made. */
  readonly recorder: Pick<RequestRecorder, 'begin' | 'end'>;
  readonly events: Events;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The dashboard's bound port; null where this server has none. */
  readonly webuiPort: () => number | null;
  /** Whether mail is accepted now and for a while, for a load balancer in front of us. */
  readonly ready: () => boolean;
  /** Aborts when the service stops; waiting readers are answered then. */
  readonly signal: AbortSignal;
}

/**
 * Settings of the ingestion API (contract §6, §12) and bounds on its memory. The settings are read with every request,
 * so they may change while it runs; the bounds only at the start.
 */
export interface IngestOptions {
  /** Our host name, in `Message-ID` and `Received`. */
  readonly hostname: string;
  readonly allowedCidrs: CidrSet;
  /** Sources that may use the paths for strangers. */
  readonly strangerCidrs: CidrSet;
  readonly trustedProxies: CidrSet;
  /** What requests that are signed may have as their Host besides the one that they come with. */
  readonly publicHosts: readonly string[];
  /** Largest body of feedback. */
  readonly maxFeedbackBytes: number;
  readonly limits: IngestLimits;
  /**
   * The key of Mailpit's clients that send none, where only this machine can ask (`waybill dev`); null: they are refused.
   */
  readonly keyless: ApiKey | null;
  /** The providers whose APIs are offered (`dropin.enabled`); read at the start. */
  readonly dropIn: readonly ProviderName[];
  /** How many readers may wait with `?wait=` at once; further ones are answered immediately. */
  readonly maxWaitingReaders: number;
  /** How many may wait for events, or read a stream of them, at once; further ones are refused. */
  readonly maxEventReaders: number;
}

/**
 * The configured limits of the ingestion API (contract §6), named as in the configuration: `api.max_tags` is `maxTags`.
 * They may change while the server runs, so users read them with every request.
 */
export interface IngestLimits {
  /** Requests a minute of a key without a limit of its own; 0 is unlimited. */
  readonly rateLimitPerKey: number;
  readonly maxMessageBytes: number;
  readonly maxRecipients: number;
  readonly maxHeaders: number;
  readonly maxHeaderBytes: number;
  readonly maxAttachments: number;
  readonly maxTags: number;
  readonly maxMetadata: number;
  readonly maxJsonDepth: number;
  readonly maxJsonValues: number;
  readonly maxFormParts: number;
  readonly maxPartHeaderBytes: number;
  readonly maxPartHeaders: number;
  readonly maxBatchMessages: number;
  readonly maxBatchBytes: number;
  readonly batchMessagesPerMinute: number;
  readonly corsOrigins: readonly string[];
}
