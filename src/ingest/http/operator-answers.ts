import { z } from 'zod';
import { HOLD_KINDS, LANE_STATES } from '../../domain/lane.ts';
import { messageRecordSchema } from './answers.ts';

/** The shapes of the answers on the queue, routes and captured mail; see `answers.ts`. */

const time = z.string().meta({ format: 'date-time' });
const count = z.int().min(0);

const laneReplySchema = z.object({
  code: z.int().nullable(),
  enhancedCode: z.string().nullable(),
  reply: z.string().describe('Written by a stranger: show it as plain text only.'),
  at: time,
});

// biome-ignore format: a table
const laneSchema = z.object({
  lane: z.string().describe('A relay; for type `mx`, a relay and a domain.'),
  relay: z.string(),
  state: z.enum(LANE_STATES).describe('`untried`: its relay was added, but never tried; `resting`: its next hop failed, and delivery pauses; `probing`: single attempts test it; `spent`: its relay has used up its allowance for today (UTC).'),
  restsUntil: time.nullable().describe('Null unless it rests.'),
  restsSince: time.nullable().describe('Since when its next hop has failed; null unless it rests, or is being probed.'),
  waiting: count.describe('Recipients.'),
  processing: count.describe('Leased recipients: in an attempt, about to be, or being recorded.'),
  inFlight: count.describe('Attempts under way, on all running nodes.'),
  concurrency: count.nullable().describe('Most concurrent attempts now, adapted to what its next hop can handle; null if no node works it.'),
  oldestSeconds: count.nullable().describe('How long the longest due recipient has been due; 0 if none is due yet, null if none waits.'),
  perMinute: count.describe('Attempts that ended within the last minute, on all running nodes.'),
  lastReply: laneReplySchema.nullable().describe('The next hop’s last reply, to any node.'),
});

/** The queue. */
// biome-ignore format: a table
export const queueSchema = z.object({
  time,
  lanes: z.array(laneSchema).describe('Those with most mail first; at most 500.'),
  more: z.boolean().describe('There are lanes that are not shown.'),
  totals: laneSchema.pick({ waiting: true, processing: true, inFlight: true, oldestSeconds: true, perMinute: true }).describe('Totals over all lanes, shown or not.'),
  withoutRoute: z.object({ waiting: count, more: z.boolean() }).describe('Recipients that wait for a route; if `more`, at least this many.'),
}).describe('The queue at a moment.');

/** The result of a hold. */
// biome-ignore format: a table
export const holdSchema = z.object({
  target: z.string(),
  kind: z.enum(HOLD_KINDS).nullable().describe('The current hold; null: none.'),
  changed: z.boolean().describe('Whether this call changed it.'),
  waiting: count,
  processing: count,
}).describe('The hold on a lane or relay, and the recipients there.');

/** The result of one call on a selection. */
// biome-ignore format: a table
export const queueActSchema = z.object({
  matched: count.describe('Messages (for `reroute`, recipients) selected in this part.'),
  acted: count.describe('Those acted on; 0 in a dry run.'),
  more: z.boolean().describe('The selection has more; call again with `cursor`.'),
  cursor: z.string().nullable(),
}).describe('The result for a part of a selection.');

// What answers show of routes, described once for the API's description.

/** A relay of a group. */
// biome-ignore format: a table
export const groupMemberSchema = z.object({
  relay: z.string(),
  fitness: z.enum(['usable', 'resting', 'spent', 'paused', 'disabled', 'draining', 'missing']).describe('`usable`; `resting` after failures; `spent`: it has used up its allowance for today; `paused` or `draining` by an operator; `disabled`; `missing`: there is no such relay.'),
}).describe('A relay that may carry the mail, and whether it is usable now.');

/** The result of a rule. */
// biome-ignore format: a table
export const ruleVerdictSchema = z.object({
  rule: z.string(),
  matched: z.boolean(),
  unmet: z.string().nullable().describe('The first condition that does not hold; null when it matches.'),
}).describe('The result of one rule.');

/** How mail is routed, and why. */
// biome-ignore format: a table
export const routeExplanationSchema = z.object({
  from: z.string().describe('The envelope’s sender; empty for the null reverse-path.'),
  to: z.string(),
  at: z.string().meta({ format: 'date-time', description: 'When it would be sent.' }),
  tableVersion: z.int().describe('The published routing table that decides.'),
  rules: z.array(ruleVerdictSchema).describe('In order, up to the one that matched; empty if the decision came before any rule.'),
  rule: z.string().nullable().describe('The rule that chose the group; null for the default relay.'),
  weighted: z.boolean().describe('The order of the group is drawn at random by weight: the next message may get another order.'),
  group: z.array(groupMemberSchema).describe('In the order in which they are tried.'),
  relay: z.string().nullable().describe('The relay that would be tried first; null: it would wait for a route.'),
}).describe('Where mail would go, and why.');

// What answers show of captured mail, described once for the API's description.

const link = z.object({ url: z.string(), text: z.string().describe('The text that a reader sees.') });

/** How recipients leave the list that a message belongs to. */
// biome-ignore format: a table
export const listUnsubscribeSchema = z.object({
  links: z.array(z.string()).describe('Those of List-Unsubscribe that can be used, in its order.'),
  oneClick: z.boolean().describe('One click suffices, without a page between (RFC 8058).'),
  faults: z.array(z.string()).describe('What keeps recipients from unsubscribing, in sentences.'),
}).describe('How recipients leave the list, as the header says.');

/** A file of a captured message. */
// biome-ignore format: a table
export const capturedFileSchema = z.object({
  index: count.describe('Its place, by which its bytes are asked for.'),
  filename: z.string(),
  contentType: z.string().describe('Lower case, without parameters.'),
  sizeBytes: count,
  inline: z.boolean().describe('It is shown within the text, as a picture of the HTML is.'),
  contentId: z.string().nullable().describe('By which the HTML refers to it, without angle brackets.'),
  sha256: z.string(),
}).describe('A file of a captured message.');

/** A captured message with all that it says. */
// biome-ignore format: a table
export const capturedMessageSchema = z.object({
  message: messageRecordSchema,
  text: z.string().nullable().describe('Null when it has none. Long texts are cut.'),
  html: z.string().nullable().describe('Null when it has none. Long ones are cut.'),
  links: z.array(link).describe('Web addresses in HTML and text, in their order; at most 100.'),
  codes: z.array(z.string()).describe('Likely codes to type in, the likeliest first; at most 10.'),
  headers: z.array(z.tuple([z.string(), z.string()])).describe('Names and values of the header, in its order, decoded; at most 300.'),
  envelope: z.object({ from: z.string().describe('Empty for the null reverse-path.'), to: z.array(z.string()) }),
  listUnsubscribe: listUnsubscribeSchema.nullable().describe('Null if the header says nothing of it.'),
  attachments: z.array(capturedFileSchema).describe('At most 200.'),
}).describe('A captured message with all that it says. Everything in it is written by strangers.');

/** A captured message of a list. */
// biome-ignore format: a table
export const capturedItemSchema = messageRecordSchema.extend({
  snippet: z.string().describe('The beginning of what it says, at most 200 characters on one line; empty if it cannot be read.'),
  attachments: count.describe('Files that are not shown within the text.'),
}).describe('A captured message, and how it begins.');

/** A page of captured messages. */
// biome-ignore format: a table
export const capturedPageSchema = z.object({
  messages: z.array(capturedItemSchema).describe('Newest first.'),
  hasMore: z.boolean().describe('With a filter by `text` or `has` a page may have fewer than `limit` messages, even none, although there are more.'),
  nextCursor: z.string().optional().describe('The `cursor` of the next page; absent on the last one.'),
}).describe('A page of captured messages.');
