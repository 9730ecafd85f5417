import { z } from 'zod';

/** The shapes of the answers on attempts; see `answers.ts`. */

const milliseconds = z.number().min(0);

/** How an attempt's time was spent. */
// biome-ignore format: a table
export const attemptTimingsSchema = z.object({
  queueMs: milliseconds.nullable().describe('From due time or acceptance to the start of the attempt.'),
  dnsMs: milliseconds.nullable(),
  connectMs: milliseconds.nullable(),
  tlsMs: milliseconds.nullable(),
  mailMs: milliseconds.nullable().describe('From MAIL to the last answer to RCPT.'),
  transferMs: milliseconds.nullable().describe('From DATA, or the first BDAT, to the final dot.'),
  replyMs: milliseconds.nullable().describe('From the final dot to its answer.'),
  totalMs: milliseconds,
}).describe('Duration of each step, in milliseconds; null for a step that did not happen, as with a reused connection.');

/** A DNS query that decided an attempt. */
// biome-ignore format: a table
export const dnsLookupSchema = z.object({
  name: z.string(),
  type: z.string().describe('`MX`, `A`, `AAAA`, `TXT` or `TLSA`.'),
  result: z.string().describe('`found`, `nodata`, `nxdomain`, or why nothing is known.'),
  answers: z.array(z.string()).describe('Records as text, limited in number. Written by a stranger.'),
  authenticated: z.boolean().describe('The resolver validated it (DNSSEC).'),
}).describe('A DNS query that decided the attempt, and its answer.');

/** How the connection of an attempt was secured. */
// biome-ignore format: a table
export const transportSecuritySchema = z.object({
  verdict: z.enum(['verified', 'dane', 'unverified', 'none']).nullable().describe('`verified`: the certificate is the host’s; `dane`: it matches a TLSA record; `unverified`: encrypted only; `none`: in clear; null: no session was opened, so no mail was sent.'),
  mtaSts: z.string().nullable().describe('The MTA-STS mode of the recipient’s domain: `enforce`, `testing`, `none`; null: not looked up.'),
  dane: z.string().nullable().describe('The state of its TLSA records: `usable`, `unusable`, `none`; null: not looked up.'),
}).describe('The security of the connection to the host, and the policies behind it.');

/** One step of the dialogue with a next hop. */
// biome-ignore format: a table
export const attemptStepSchema = z.object({
  verb: z.string(),
  reply: z.string(),
  atMs: milliseconds.describe('Milliseconds since the attempt began.'),
}).describe('What we sent, without secrets, and the reply.');

/** The result of an attempt for one recipient. */
// biome-ignore format: a table
export const attemptResultSchema = z.object({
  recipient: z.string(),
  outcome: z.enum(['delivered', 'deferred', 'rejected', 'unknown']),
  class: z.enum(['success', 'transient', 'permanent', 'unknown']),
  code: z.int().nullable().describe('SMTP reply code or HTTP status.'),
  enhancedCode: z.string().nullable(),
  reply: z.string(),
  providerMessageId: z.string().nullable(),
}).describe('The result of the attempt for one recipient.');

/** One attempt. */
// biome-ignore format: a table
export const attemptSchema = z.object({
  number: z.int().min(1).describe('From 1, the oldest first.'),
  startedAt: z.string().meta({ format: 'date-time' }),
  relay: z.string(),
  host: z.string().nullable(),
  address: z.string().nullable(),
  localAddress: z.string().nullable().describe('Our own address on the connection.'),
  tls: z.string().nullable().describe('Protocol and cipher; null without TLS.'),
  security: transportSecuritySchema.nullable().describe('Null if nothing was decided before the connection failed, or the attempt was recorded by an older version.'),
  dns: z.array(dnsLookupSchema).describe('Empty if the system’s resolver was used.'),
  reused: z.boolean().describe('Over a connection that was already open.'),
  timings: attemptTimingsSchema,
  steps: z.array(attemptStepSchema),
  results: z.array(attemptResultSchema),
}).describe('One attempt to deliver the message to a next hop. All members are always present.');

/** A page of a message's attempts. */
// biome-ignore format: a table
export const attemptsPageSchema = z.object({
  attempts: z.array(attemptSchema).describe('Oldest first.'),
  hasMore: z.boolean().describe('A page may have fewer than `limit` attempts although there are more.'),
  nextCursor: z.string().optional().describe('The `cursor` of the next page; absent on the last one.'),
}).describe('A page of a message’s attempts.');
