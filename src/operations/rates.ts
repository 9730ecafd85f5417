import { z } from 'zod';
import { type OperationsOf, operation, READ, type Shown } from './operation.ts';

/** How much of the mail came back, and how much of it was called spam. */

/** What rates are told by. */
const RATES_BY = ['relay', 'domain', 'tag'] as const;

/** Recipients, one number a day, the oldest first. */
const counts = () => z.array(z.number());

const rateCounts = () =>
  z.strictObject({
    /** Taken by the next hop, whatever became of them later. */
    delivered: counts(),
    /** Failed: refused, given up, or come back. */
    failed: counts(),
    /** Of the failed: come back after the next hop had taken them. */
    bounced: counts(),
    /** Called it spam. */
    complained: counts(),
  });

/** What became of mail, day by day. */
export type RateCounts = Shown<typeof rateCounts>;

const rateRow = () =>
  rateCounts().extend({
    /** Of a relay, a recipient domain or a tag; empty for mail without a tag. */
    name: z.string(),
  });

/** What became of mail of one name. */
export type RateRow = Shown<typeof rateRow>;

const rates = () =>
  z.strictObject({
    /** What the names of the rows are, as it was asked for. */
    by: z.enum(RATES_BY),
    /** Start of the first day (UTC), RFC 3339. */
    from: z.string(),
    days: z.number(),
    /** The most mail first. */
    rows: z.array(rateRow()),
    /** Names that are not among the rows. */
    moreNames: z.number(),
    /** All mail: a message with several tags counts once. */
    total: rateCounts(),
    /** Recipients that were too many different ones to be told apart: they are in the total alone. */
    others: z.number(),
  });

/** See {@link RATE_OPERATIONS}. */
export type Rates = Shown<typeof rates>;

/** What operators can ask of bounces and complaints. */
export const RATE_OPERATIONS = {
  rates: operation({
    meaning:
      'Recipients by what became of them, day by day, from counters: by relay, recipient domain or tag.',
    access: READ,
    request: z.strictObject({
      by: z.enum(RATES_BY),
      days: z.int().min(1).max(90).describe('How many days (UTC) back from now, today included.'),
    }),
    result: rates,
  }),
};

/** Those who carry them out. */
export type RateOperations = OperationsOf<typeof RATE_OPERATIONS>;
