import { z } from 'zod';
import { HOLD_KINDS } from '../domain/lane.ts';
import type { holdSchema, queueSchema } from '../ingest/http/operator-answers.ts';
import { fixed, text } from './command.ts';
import { acts, MAIL_TOPICS, type OperationsOf, operation, READ, type Shown } from './operation.ts';

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
  statuses: z.array(z.enum(SELECTABLE_STATUSES)).describe('Any of these; empty for the act’s usual ones.'),
  tag: name.nullable(),
  to: name
    .nullable()
    .describe('A recipient, or the sender (reverse-path): a whole address, or `@` and a domain.'),
  from: name.nullable(),
  olderThanSeconds: z.int().min(0).max(1e9).nullable().describe('Accepted at least this long ago.'),
  all: z.boolean().describe('Everything, without any other condition.'),
});

/** See {@link selectionSchema}. */
export type Selection = z.infer<typeof selectionSchema>;

/** The queue at a moment. */
export type QueueView = Shown<typeof queueSchema>;

/** A lane as it is shown. */
export type QueueLane = QueueView['lanes'][number];

/** How a lane or relay is held now. */
export type HoldView = Shown<typeof holdSchema>;

const queueActView = () =>
  z.strictObject({
    /** That the selection names. */
    matched: z.number(),
    /** On which something was done; 0 in a dry run. */
    acted: z.number(),
    /** Where the next call goes on; null when this was the end. */
    next: z.string().nullable(),
  });

/** What one call did. Messages for `retry` and `cancel`, recipients for `reroute`. */
export type QueueActView = Shown<typeof queueActView>;

/** What a lane or a relay is called, where it is named on the command line. */
export const TARGET_MEANING = "a relay's name, or a lane: an mx relay's name, a slash and a domain";
const WHICH = text('<target>', TARGET_MEANING);

/** What operators can ask of the queue, and do to it. */
export const QUEUE_OPERATIONS = {
  queue: operation({
    meaning: 'The queue: what waits, and the state of each lane.',
    access: READ,
    request: z.strictObject({
      relay: name.nullable().describe('Only the lanes of this relay; null for all.'),
    }),
    result: ({ queueSchema }) => queueSchema,
  }),
  hold: operation({
    meaning: 'Holds a lane, or a relay with all its lanes, or releases it. Survives a restart.',
    access: acts({
      words: 'Held or released a lane',
      subject: 'target',
      touches: ['queue', 'relays', 'health'],
    }),
    request: z.strictObject({
      target: name.describe("A lane's name, or a relay's."),
      kind: z.enum(HOLD_KINDS).nullable().describe('Null releases it.'),
    }),
    result: ({ holdSchema }) => holdSchema,
    // Holding mail back must not wait until a configuration is free of faults.
    commands: [
      {
        words: 'queue pause',
        summary: 'send nothing through a lane or relay until it is resumed; mail routed to it waits',
        examples: ['waybill queue pause out', 'waybill queue pause direct/example.com'],
        takes: { target: WHICH, kind: fixed('pause') },
        cures: true,
        prints: ({ target, waiting }) =>
          `${target} is paused, recipients waiting there: ${waiting}. Attempts in progress finish. To resume: waybill queue resume ${target}`,
      },
      {
        words: 'queue drain',
        summary: 'send what waits for a lane or relay, but route nothing new to it',
        examples: ['waybill queue drain out'],
        takes: { target: WHICH, kind: fixed('drain') },
        cures: true,
        prints: ({ target, waiting, processing }) =>
          `${target} is draining, recipients still to be sent: ${waiting + processing}. New mail goes elsewhere. To undo: waybill queue resume ${target}`,
      },
    ],
  }),
  actOnQueue: operation({
    meaning:
      'Acts on a bounded part of the selected mail; call again with `next` until that is null. A dry run only counts.',
    access: acts({ words: 'Acted on the queue', subject: 'act', touches: MAIL_TOPICS }),
    request: z.strictObject({
      act: z.enum(QUEUE_ACTS),
      selection: selectionSchema,
      toRelay: name
        .nullable()
        .describe('For `reroute`: the relay to use; with null the routing table decides anew.'),
      dryRun: z.boolean(),
      cursor: z.string().max(MAX_TEXT).nullable().describe('The `next` of an earlier call; null starts.'),
    }),
    result: queueActView,
  }),
};

/** Those who carry them out. */
export type QueueOperations = OperationsOf<typeof QUEUE_OPERATIONS>;
