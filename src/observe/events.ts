import type { AlertSeverity } from '../domain/alert-rules.ts';
import type { MessageStatus } from '../domain/delivery.ts';
import type { DmarcVerdict } from '../domain/dmarc-report.ts';
import type { FeedbackSource } from '../domain/feedback.ts';
import type { Outcome, Reply } from '../domain/outcome.ts';
import type { SuppressionReason } from '../domain/suppression.ts';
import type { AcceptDelivery } from '../store/accepting.ts';
import type { ToldResult } from '../store/telling.ts';

/** The ways to sign in to the dashboard; a code of the second factor is the end of one by password. */
export const SIGN_IN_WAYS = ['password', 'passkey', 'provider'] as const;

/** What a sign-in comes to. `slowed`: nothing was tried after too many tries; `failed`: it could not be tried. */
export const SIGN_IN_RESULTS = ['done', 'refused', 'slowed', 'failed'] as const;

/** What a try to tell an endpoint of an event comes to. */
export const WEBHOOK_RESULTS = ['delivered', 'failed'] as const;

/** Events that rooms announce, for logs, metrics and waiting readers. Never contents. */
export type Event =
  | {
      readonly type: 'accepted';
      readonly messageId: string;
      readonly keyId: string | null;
      readonly requestId: string | null;
      readonly source: string;
      /** Its recipients, with the relays that were chosen for them. */
      readonly deliveries: readonly Pick<AcceptDelivery, 'recipient' | 'relay'>[];
      readonly tags: readonly string[];
      readonly sizeBytes: number;
      /** From the checked submission to stable storage, in ms. */
      readonly durationMs: number;
    }
  | {
      readonly type: 'attempted';
      readonly messageId: string;
      readonly keyId: string | null;
      readonly tags: readonly string[];
      /** When it was accepted, or could first be sent if that is later (wall ms). */
      readonly acceptedAt: number;
      readonly relay: string;
      readonly host: string | null;
      readonly durationMs: number;
      readonly results: readonly {
        readonly address: string;
        readonly state: MessageStatus;
        readonly outcome: Outcome;
        /** It failed instead of waiting again, because the message was cancelled meanwhile. */
        readonly cancelled?: true;
      }[];
    }
  /** Recipients that waited until they expired. */
  | {
      readonly type: 'expired';
      readonly messageId: string;
      readonly keyId: string | null;
      readonly tags: readonly string[];
      readonly recipients: readonly { readonly address: string; readonly relay: string | null }[];
    }
  /** Recipients in hand when their message was cancelled, which ended without an attempt. */
  | { readonly type: 'cancelled'; readonly messageId: string; readonly recipients: readonly string[] }
  /** A message was cancelled or retried, and changed. A cancellation does not end an attempt under way. */
  | {
      readonly type: 'acted';
      readonly messageId: string;
      readonly act: 'cancel' | 'retry' | 'reschedule' | 'discard';
    }
  | {
      readonly type: 'denied';
      readonly reason: string;
      readonly sourceAddress: string | null;
      /** The list of allowed sources that lacks the source, if that is the reason. */
      readonly port?: 'api' | 'hooks' | 'webui';
      /** The id of the denied request, if it has one. */
      readonly requestId?: string;
      /** The would-be owner, if known: a key, or a named source. */
      readonly keyId?: string | null;
      readonly count: number;
    }
  /** A message over SMTP was refused for its content, or for lack of room: nobody was denied anything. */
  | {
      readonly type: 'refused';
      readonly reason: string;
      /** The reply's code and its enhanced status code, such as `550 5.6.11`. */
      readonly reply: string;
      readonly sourceAddress: string;
      readonly requestId?: string;
      readonly keyId?: string | null;
      readonly count: number;
    }
  | {
      readonly type: 'lane_paused';
      readonly lane: string;
      readonly pauseMs: number;
      /** The reason: the hop's reply, or our substitute. */
      readonly reply: Reply;
      /** It had rested before, and its hop was still failing. */
      readonly again: boolean;
    }
  /** The hop of a resting relay was probed, without mail. */
  | {
      readonly type: 'probed';
      readonly relay: string;
      readonly host: string;
      /** Why it does not accept mail; null if it does. */
      readonly trouble: Reply | null;
      /** Wall ms of the next probe; null if it works. */
      readonly nextProbeAt: number | null;
    }
  /** A relay gets no mail for a while: its hop failed or, with many destinations, most of them did. */
  | {
      readonly type: 'relay_rests';
      readonly relay: string;
      /** Null: that is not known. */
      readonly pauseMs: number | null;
      readonly reply: Reply;
    }
  | { readonly type: 'relay_recovered'; readonly relay: string }
  /** The lane's next hop works again. */
  | { readonly type: 'lane_resumed'; readonly lane: string }
  /** A relay has used most of its allowance for today, or all of it. */
  | {
      readonly type: 'quota';
      readonly relay: string;
      readonly news: 'low' | 'used_up';
      /** Recipients allowed for today, and used. */
      readonly allowance: number;
      readonly used: number;
      /** The allowance is a step of its warm-up. */
      readonly warming: boolean;
    }
  | { readonly type: 'reclaimed'; readonly released: number; readonly unknown: number }
  /** A sender is told by a report from us what happened to a message, or some of its recipients. */
  | {
      readonly type: 'reported';
      readonly messageId: string;
      readonly reportId: string;
      readonly kind: 'failed' | 'delayed' | 'success';
      readonly recipients: number;
    }
  /** A sender got so many reports within the hour that this one is only recorded. */
  | {
      readonly type: 'report_suppressed';
      readonly messageId: string;
      readonly kind: 'failed' | 'delayed' | 'success';
      readonly recipients: number;
    }
  /**
   * A report could not be written, for lack of room or because the process ends: failed recipients wait, and their
   * sender is told later; a report of delay or success is dropped.
   */
  | {
      readonly type: 'report_unwritten';
      readonly messageId: string;
      readonly kind: 'failed' | 'delayed' | 'success';
      readonly recipients: number;
    }
  /** A request came to the hook of a relay, and was proven to be its provider's, or not. */
  | { readonly type: 'hook'; readonly relay: string; readonly proven: boolean }
  /** An endpoint was told of an event, or was not. */
  | {
      readonly type: 'webhook_tried';
      readonly endpoint: string;
      readonly result: (typeof WEBHOOK_RESULTS)[number];
    }
  /** So many events are still to be told, to all endpoints together. Counted now and then. */
  | { readonly type: 'webhooks_pending'; readonly count: number }
  /**
   * Feedback came that says nothing of any mail. `unmatched`: it is kept as evidence; `ignored`: an event that means
   * nothing here; `refused`: it was not proven, and nobody knows what it is.
   */
  | {
      readonly type: 'feedback';
      readonly source: FeedbackSource;
      readonly result: 'unmatched' | 'ignored' | 'refused';
      readonly count: number;
    }
  /** A DMARC report came in; the domain is empty for an unreadable one. */
  | { readonly type: 'dmarc_report'; readonly domain: string; readonly verdict: DmarcVerdict }
  /** Waiting recipients were rerouted, or lost their route: the routing table or the relays changed. */
  | { readonly type: 'rerouted'; readonly moved: number; readonly lost: number }
  /** Recipients that the suppression list stopped, at acceptance or before an attempt. */
  | {
      readonly type: 'suppressed';
      readonly messageId: string;
      readonly recipients: readonly { readonly address: string; readonly reason: SuppressionReason }[];
    }
  /** Somebody told what became of mail, and it was applied, or led to nothing. */
  | ({ readonly type: 'told' } & ToldResult)
  /** Bounces of a recipient domain suppress nothing for a while: it refused most recipients as unknown. */
  | { readonly type: 'guarded'; readonly domain: string }
  /** An alert fires, or is over. */
  | {
      readonly type: 'alert';
      readonly alert: string;
      readonly rule: string;
      readonly subject: string;
      readonly severity: AlertSeverity;
      readonly text: string;
      readonly state: 'firing' | 'resolved';
    }
  /** A channel was told of an alert; `error`: why it was not. */
  | {
      readonly type: 'alert_told';
      readonly alert: string;
      readonly channel: string;
      readonly error: string | null;
    }
  /** Somebody signed in to the dashboard, or was not let in. */
  | {
      readonly type: 'signed_in';
      readonly way: (typeof SIGN_IN_WAYS)[number];
      readonly result: (typeof SIGN_IN_RESULTS)[number];
    }
  /** An operation that may have changed something has finished. */
  | { readonly type: 'operated'; readonly operation: string }
  | { readonly type: 'fault'; readonly code: string; readonly message: string };

/** Stops listening. */
export type Unsubscribe = () => void;

/** The event bus: synchronous, in order; a listener must not throw and must not block. */
export class Events {
  readonly #listeners = new Set<(event: Event) => void>();

  emit(event: Event): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Listens until the returned function is called. */
  on(listener: (event: Event) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
