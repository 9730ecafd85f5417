import type { MessageStatus } from '../domain/delivery.ts';
import type { Outcome, Reply } from '../domain/outcome.ts';

/** What the rooms tell each other has happened, for logs, metrics and waiting readers. Never contents. */
export type Event =
  | {
      readonly type: 'accepted';
      readonly messageId: string;
      readonly keyId: string | null;
      readonly requestId: string | null;
      readonly source: string;
      readonly recipients: number;
      readonly sizeBytes: number;
      /** From the checked submission to stable storage. */
      readonly durationMs: number;
    }
  | {
      readonly type: 'attempted';
      readonly messageId: string;
      readonly relay: string;
      readonly host: string | null;
      readonly durationMs: number;
      readonly results: readonly {
        readonly address: string;
        readonly state: MessageStatus;
        readonly outcome: Outcome;
        /** It failed, instead of waiting again, because the message was cancelled meanwhile. */
        readonly cancelled?: true;
      }[];
    }
  /** Recipients that were in hand when their message was cancelled have ended so, without an attempt. */
  | { readonly type: 'cancelled'; readonly messageId: string; readonly recipients: readonly string[] }
  /**
   * Somebody cancelled or retried a message, and it changed. What was under way when it was cancelled has not ended
   * by that.
   */
  | { readonly type: 'acted'; readonly messageId: string; readonly act: 'cancel' | 'retry' | 'discard' }
  | {
      readonly type: 'denied';
      readonly reason: string;
      readonly sourceAddress: string | null;
      /** Whose list of allowed sources the source is not on, where that is why. */
      readonly port?: 'api' | 'webui';
      /** The id of the one request that was denied, where it has one. */
      readonly requestId?: string;
      /** Whose it would have been, where that is known: a key, or a named source. */
      readonly keyId?: string | null;
      readonly count: number;
    }
  /** A message that came in over SMTP was refused for what it is, or for want of room: nobody was denied anything. */
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
      /** Why: what its hop said, or what is said in its stead. */
      readonly reply: Reply;
      /** It has rested before, and was found ill still. */
      readonly again: boolean;
    }
  /** The hop of a relay that rests was asked, without mail, how it is. */
  | {
      readonly type: 'probed';
      readonly relay: string;
      readonly host: string;
      /** What keeps it from taking mail; null: nothing. */
      readonly trouble: Reply | null;
      /** Wall ms at which it is asked again; null: it is well. */
      readonly nextProbeAt: number | null;
    }
  /** Its next hop works again. */
  | { readonly type: 'lane_resumed'; readonly lane: string }
  /** A relay has had most of what it may have today, or all of it. */
  | {
      readonly type: 'quota';
      readonly relay: string;
      readonly news: 'low' | 'used_up';
      /** Recipients that it may have today, and has had. */
      readonly allowance: number;
      readonly used: number;
      /** It is a step of its warm-up. */
      readonly warming: boolean;
    }
  | { readonly type: 'reclaimed'; readonly released: number; readonly unknown: number }
  /** A sender is told by a message of ours what became of theirs, or some of its recipients. */
  | {
      readonly type: 'reported';
      readonly messageId: string;
      readonly reportId: string;
      readonly kind: 'failed' | 'delayed' | 'success';
      readonly recipients: number;
    }
  /** A sender has been told so often within the hour that this is only recorded. */
  | {
      readonly type: 'report_suppressed';
      readonly messageId: string;
      readonly kind: 'failed' | 'delayed' | 'success';
      readonly recipients: number;
    }
  /**
   * A report could not be written, for want of room or because the process ends: who has failed waits, and its sender is told
   * later; a report of delay or success does not come.
   */
  | {
      readonly type: 'report_unwritten';
      readonly messageId: string;
      readonly kind: 'failed' | 'delayed' | 'success';
      readonly recipients: number;
    }
  /** Waiting recipients were given another way, or lost theirs: the routing table or the relays changed. */
  | { readonly type: 'rerouted'; readonly moved: number; readonly lost: number }
  /** An operation that may have changed something is done. */
  | { readonly type: 'operated'; readonly operation: string }
  | { readonly type: 'fault'; readonly code: string; readonly message: string };

/** A listener's way out. */
export type Unsubscribe = () => void;

/** The bus: synchronous, in order; a listener must not throw and must not block. */
export class Events {
  readonly #listeners = new Set<(event: Event) => void>();

  /** Tells every listener. */
  emit(event: Event): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Listens until the returned function is called. */
  on(listener: (event: Event) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
