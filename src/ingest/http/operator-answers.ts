import { z } from 'zod';
import { HOLD_KINDS, LANE_STATES } from '../../domain/lane.ts';
import { messageRecordSchema } from './answers.ts';

/** The shapes of the answers on the queue, routes and captured mail; see `answers.ts`. */

const time = z.string().meta({ format: 'date-time' });
const count = z.int().min(0);

const laneReplySchema = z.object({
  code: z.int().nullable(),
  enhancedCode: z.string().nullable(),
  reply: z.string().describe('Written by a stranger: show it as text only.'),
  at: time,
});

// biome-ignore format: a table
const laneSchema = z.object({
  lane: z.string().describe('A relay; of a relay of type `mx`, a relay and a domain.'),
  relay: z.string(),
  state: z.enum(LANE_STATES).describe('`untried`: its relay was added, and never tried yet; `resting`: its next hop failed and is left alone; `probing`: single attempts try it; `spent`: its relay has had what it may have today (UTC).'),
  restsUntil: time.nullable().describe('Null unless it rests.'),
  waiting: count.describe('Recipients.'),
  processing: count.describe('Recipients leased: under way, about to be, or being recorded.'),
  inFlight: count.describe('Attempts under way, on all nodes that run.'),
  concurrency: count.nullable().describe('Attempts at once that it may have now, as its next hop has shown to bear; null where no node works it.'),
  oldestSeconds: count.nullable().describe('For how long the longest due recipient has been due; 0 when none is due yet, null when none waits.'),
  perMinute: count.describe('Attempts that ended within the last minute, on all nodes that run.'),
  lastReply: laneReplySchema.nullable().describe('What the next hop said last, to whichever node.'),
});

/** The queue. */
// biome-ignore format: a table
export const queueSchema = z.object({
  time,
  lanes: z.array(laneSchema).describe('The fullest first; at most 500.'),
  more: z.boolean().describe('There are lanes that are not shown.'),
  totals: laneSchema.pick({ waiting: true, processing: true, inFlight: true, oldestSeconds: true, perMinute: true }).describe('Over all lanes, shown or not.'),
  withoutRoute: z.object({ waiting: count, more: z.boolean() }).describe('Recipients that wait for a route to be made: at least so many, if `more`.'),
}).describe('The queue at a moment.');

/** The result of a hold. */
// biome-ignore format: a table
export const holdSchema = z.object({
  target: z.string(),
  kind: z.enum(HOLD_KINDS).nullable().describe('How it is held now; null: not at all.'),
  changed: z.boolean().describe('It was otherwise before.'),
  waiting: count,
  processing: count,
}).describe('How a lane or relay is held now, and the recipients there.');

/** The result of one call on a selection. */
// biome-ignore format: a table
export const queueActSchema = z.object({
  matched: count.describe('Messages, or of `reroute` recipients, that the selection names in this part.'),
  acted: count.describe('On which something was done; 0 in a dry run.'),
  more: z.boolean().describe('The selection has more; call again with `cursor`.'),
  cursor: z.string().nullable(),
}).describe('What was done to a part of a selection.');

// What answers show of routes, described once for the API's description.

/** A relay of a group. */
// biome-ignore format: a table
export const groupMemberSchema = z.object({
  relay: z.string(),
  fitness: z.enum(['usable', 'resting', 'spent', 'paused', 'disabled', 'draining', 'missing']).describe('`usable`; `resting` after failures; `spent`: it has had what it may have today; `paused` or `draining` by an operator; `disabled`; `missing`: there is no such relay.'),
}).describe('A relay that mail may go by, and whether it can be sent to now.');

/** The result of a rule. */
// biome-ignore format: a table
export const ruleVerdictSchema = z.object({
  rule: z.string(),
  matched: z.boolean(),
  unmet: z.string().nullable().describe('The first condition that does not hold; null when it matches.'),
}).describe('What one rule came to.');

/** How mail is routed, and why. */
// biome-ignore format: a table
export const routeExplanationSchema = z.object({
  from: z.string().describe('The envelope’s sender; empty for the null reverse-path.'),
  to: z.string(),
  at: z.string().meta({ format: 'date-time', description: 'When it would be sent.' }),
  tableVersion: z.int().describe('The published routing table that decides.'),
  rules: z.array(ruleVerdictSchema).describe('In order, up to the one that matched; none where it is decided before any rule.'),
  rule: z.string().nullable().describe('The rule that chose the group; null for the default relay.'),
  weighted: z.boolean().describe('The order of the group is drawn by weight: the next message may get another.'),
  group: z.array(groupMemberSchema).describe('In the order in which they are tried.'),
  relay: z.string().nullable().describe('The relay that would be tried first; null: it would wait for a route.'),
}).describe('Where mail would go, and why.');

// What answers show of captured mail, described once for the API's description.

/** A captured message with its text. */
// biome-ignore format: a table
export const capturedMessageSchema = z.object({
  message: messageRecordSchema,
  text: z.string().nullable().describe('Null when it has none. Long texts are cut.'),
  html: z.string().nullable().describe('Null when it has none. Long ones are cut.'),
  links: z.array(z.object({ url: z.string(), text: z.string().describe('What a reader sees of it.') })).describe('Web addresses in HTML and text, in their order; at most 100.'),
  codes: z.array(z.string()).describe('What looks like a code to be typed in, the likeliest first; at most 10.'),
  attachments: z.array(z.object({ filename: z.string(), contentType: z.string(), sizeBytes: z.int().min(0), inline: z.boolean(), contentId: z.string().nullable() })),
}).describe('A captured message, and what it says.');
