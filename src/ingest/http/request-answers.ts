import { z } from 'zod';

/** The shapes of the log of requests as the API shows it, as `answers.ts` has those of messages. */

const meaning = z
  .string()
  .nullable()
  .describe('Why it is given; null for a code that this version does not know.');
const cure = z.string().nullable().describe('What to do about it.');

/** A field that was at fault. */
export const requestFaultSchema = z.object({
  pointer: z.string().describe('JSON pointer to the field. `…` stands for what is no plain name.'),
  code: z.string().describe('As in `errors` of the refusal.'),
  meaning,
  cure,
});

/** A request of the log. */
// biome-ignore format: a table
export const loggedRequestSchema = z.object({
  at: z.string().meta({ format: 'date-time' }).describe('When it was answered.'),
  key: z.string().nullable().describe('The name of the key that it named; null: no known key.'),
  method: z.string(),
  path: z.string().describe('Without the query. What may be an address or a token is left out: `{address}`, or `…`.'),
  status: z.int().nullable().describe('The status of the answer; null: the client left before.'),
  code: z.string().nullable().describe('Why it was refused: the code that this API gives, whatever API was spoken; null: it was accepted.'),
  meaning: meaning.describe('What the code means; null: it was accepted.'),
  cure: cure.describe('What to do about it; null: it was accepted.'),
  faults: z.array(requestFaultSchema).describe('The first fields that were at fault, at most three.'),
  durationMs: z.int().min(0).describe('From the end of the header until the answer.'),
  requestId: z.string().describe('The `X-Request-Id` of its answer.'),
  standsFor: z.int().min(1).describe('How many requests the line stands for: more than one if there were over 100 in a second.'),
}).describe('A request to the API, without anything of its body. All members are always present.');

/** A page of the log. */
// biome-ignore format: a table
export const requestsPageSchema = z.object({
  requests: z.array(loggedRequestSchema),
  hasMore: z.boolean().describe('There are more.'),
  nextCursor: z.string().optional().describe('With it as `cursor`, the next page follows; absent at the end.'),
}).describe('A page of the log of requests, newest first.');
