import { z } from 'zod';
import { HOLD_KINDS, type HoldKind } from '../domain/hold.ts';
import { acts, answers, MAIL_TOPICS, type OperationsOf, READ } from './operation.ts';

/** The acts on a selection. */
const QUEUE_ACTS = ['retry', 'cancel', 'reroute'] as const;

/** Of what waits or has failed; what is under way, or delivered, is never selected. */
export const SELECTABLE_STATUSES = ['queued', 'retrying', 'failed'] as const;

/** See {@link SELECTABLE_STATUSES}. */
export type SelectableStatus = (typeof SELECTABLE_STATUSES)[number];

/** Longer names of targets, addresses and tags are nobody's. */
const MAX_TEXT = 1000;
const name = z.string().min(1).max(MAX_TEXT);

/** What is acted on: each that is not null must hold. */
export const selectionSchema = z.strictObject({
  lane: name.nullable(),
  relay: name.nullable(),
  /** Any of these; empty for what the act is usually meant for. */
  statuses: z.array(z.enum(SELECTABLE_STATUSES)),
  tag: name.nullable(),
  /** A recipient, or the sender (reverse-path): a whole address, or `@` and a domain. */
  to: name.nullable(),
  from: name.nullable(),
  /** Accepted at least so long ago. */
  olderThanSeconds: z.int().min(0).max(1e9).nullable(),
  /** Nothing else is said, and everything is meant. */
  all: z.boolean(),
});

/** See {@link selectionSchema}. */
export type Selection = z.infer<typeof selectionSchema>;

/**
 * What a lane may do now: `ready`; `untried`, too, of a stored relay that was never tried;  `paused` or `draining` by an operator; `resting` after failures of its next hop,
 * `probing` when single attempts find out whether it is well again; `spent` when its relay has had what it may have today;
 * `disabled` with its relay; `missing`: there is no such
 * relay.
 */
export const LANE_STATES = [
  'ready',
  'untried',
  'paused',
  'draining',
  'resting',
  'probing',
  'spent',
  'disabled',
  'missing',
] as const;

/** See {@link LANE_STATES}. */
export type LaneState = (typeof LANE_STATES)[number];

/** A lane as it is shown. Counts are of recipients. */
export interface QueueLane {
  readonly lane: string;
  readonly relay: string;
  readonly state: LaneState;
  /** Until when it rests; null unless it does. */
  readonly restsUntil: string | null;
  readonly waiting: number;
  /** Leased: under way, about to be, or being recorded. */
  readonly processing: number;
  /** Attempts under way, on all nodes that run. */
  readonly inFlight: number;
  /** Attempts at once that it may have now, as its hop has shown to bear; null where no node works it. */
  readonly concurrency: number | null;
  /** For how long the longest due recipient has been due; 0 when none is due yet, null when none waits. */
  readonly oldestSeconds: number | null;
  /** Attempts that ended within the last minute, on all nodes that run. */
  readonly perMinute: number;
  /** What the next hop said last, to whichever node. */
  readonly lastReply: LaneReplyView | null;
}

/** See {@link QueueLane.lastReply}. */
export interface LaneReplyView {
  readonly code: number | null;
  readonly enhancedCode: string | null;
  readonly reply: string;
  readonly at: string;
}

/** The queue at a moment. */
export interface QueueView {
  readonly time: string;
  /** The fullest first; a bounded number. */
  readonly lanes: readonly QueueLane[];
  /** There are lanes that are not shown. */
  readonly more: boolean;
  /** Over all lanes, shown or not. */
  readonly totals: Pick<QueueLane, 'waiting' | 'processing' | 'inFlight' | 'oldestSeconds' | 'perMinute'>;
  /** Recipients that wait for a route to be made: at least so many, if `more`. */
  readonly withoutRoute: { readonly waiting: number; readonly more: boolean };
}

/** How a lane or relay is held now. */
export interface HoldView {
  readonly target: string;
  /** Null: not at all. */
  readonly kind: HoldKind | null;
  /** It was otherwise before. */
  readonly changed: boolean;
  /** Recipients waiting and being attempted there. */
  readonly waiting: number;
  readonly processing: number;
}

/** What one call did. Messages for `retry` and `cancel`, recipients for `reroute`. */
export interface QueueActView {
  /** That the selection names. */
  readonly matched: number;
  /** On which something was done; 0 in a dry run. */
  readonly acted: number;
  /** Where the next call goes on; null when this was the end. */
  readonly next: string | null;
}

/** What operators can ask of the queue, and do to it. */
export const QUEUE_OPERATIONS = {
  queue: {
    meaning: 'What waits where, and how each lane does.',
    access: READ,
    request: z.strictObject({
      /** Only the lanes of this relay; null for all. */
      relay: name.nullable(),
    }),
    answer: answers<QueueView>(),
  },
  hold: {
    meaning: 'Holds a lane back, or a relay with all its lanes, or lets it go. Survives a restart.',
    access: acts({
      words: 'Held or released a lane',
      subject: 'target',
      touches: ['queue', 'relays', 'health'],
    }),
    request: z.strictObject({
      /** A lane's name, or a relay's. */
      target: name,
      /** Null lets it go. */
      kind: z.enum(HOLD_KINDS).nullable(),
    }),
    answer: answers<HoldView>(),
  },
  actOnQueue: {
    meaning:
      'Acts on what a selection names: on a bounded part of it; to be called again with `next` until that is null. A dry run only counts.',
    access: acts({ words: 'Acted on the queue', subject: 'act', touches: MAIL_TOPICS }),
    request: z.strictObject({
      act: z.enum(QUEUE_ACTS),
      selection: selectionSchema,
      /** Of `reroute`: where mail is to go; null decides anew by the routing table. */
      toRelay: name.nullable(),
      dryRun: z.boolean(),
      /** The `next` of an earlier call; null starts. */
      cursor: z.string().max(MAX_TEXT).nullable(),
    }),
    answer: answers<QueueActView>(),
  },
};

/** Those who carry them out. */
export type QueueOperations = OperationsOf<typeof QUEUE_OPERATIONS>;
