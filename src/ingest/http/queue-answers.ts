import { z } from 'zod';
import { HOLD_KINDS } from '../../domain/hold.ts';
import { LANE_STATES } from '../../operations/queue.ts';

/** The shapes of the answers on the queue; see `answers.ts`. */

const time = z.string().meta({ format: 'date-time' });
const count = z.int().min(0);

const laneReplySchema = z.object({
  code: z.int().nullable(),
  enhancedCode: z.string().nullable(),
  reply: z.string().describe('Written by a stranger: show it as text only.'),
  at: time,
});

const laneSchema = z.object({
  lane: z.string().describe('A relay; of a relay of type `mx`, a relay and a domain.'),
  relay: z.string(),
  state: z
    .enum(LANE_STATES)
    .describe(
      '`untried`: its relay was added, and never tried yet; `resting`: its next hop failed and is left alone; `probing`: single attempts try it; `spent`: its relay has had what it may have today (UTC).',
    ),
  restsUntil: time.nullable(),
  waiting: count.describe('Recipients.'),
  processing: count.describe('Recipients leased: under way, or about to be.'),
  inFlight: count.describe('Attempts under way on this node.'),
  concurrency: count
    .nullable()
    .describe('Attempts at once that it may have now, as its next hop has shown to bear.'),
  oldestSeconds: count.nullable().describe('For how long the longest due recipient has been due.'),
  perMinute: count.describe('Attempts that ended within the last minute, on this node.'),
  lastReply: laneReplySchema.nullable().describe('What the next hop said last.'),
});

/** The queue. */
export const queueSchema = z
  .object({
    time,
    lanes: z.array(laneSchema).describe('The fullest first; at most 500.'),
    more: z.boolean().describe('There are lanes that are not shown.'),
    totals: laneSchema.pick({
      waiting: true,
      processing: true,
      inFlight: true,
      oldestSeconds: true,
      perMinute: true,
    }),
    withoutRoute: z
      .object({ waiting: count, more: z.boolean() })
      .describe('Recipients that wait for a route to be made: at least so many, if `more`.'),
  })
  .describe('The queue at a moment.');

/** What a hold came to. */
export const holdSchema = z
  .object({
    target: z.string(),
    kind: z.enum(HOLD_KINDS).nullable().describe('How it is held now; null: not at all.'),
    changed: z.boolean(),
    waiting: count,
    processing: count,
  })
  .describe('How a lane or relay is held now, and the recipients there.');

/** What one call on a selection did. */
export const queueActSchema = z
  .object({
    matched: count.describe('Messages, or of `reroute` recipients, that the selection names in this part.'),
    acted: count.describe('On which something was done; 0 in a dry run.'),
    more: z.boolean().describe('The selection has more; call again with `cursor`.'),
    cursor: z.string().nullable(),
  })
  .describe('What was done to a part of a selection.');
