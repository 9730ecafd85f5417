import { z } from 'zod';
import { TRAFFIC_DIMENSIONS } from '../domain/traffic.ts';
import { type OperationsOf, operation, READ, type Shown } from './operation.ts';

/** What became of mail, by where it went and whose it was. */

/** Most rows, and most groups of replies, of one answer. */
const MAX_TRAFFIC_ROWS = 200;
/** Longer names are nobody's. */
const value = z.string().max(255);

const summary = () =>
  z.strictObject({
    /** Recipients accepted from senders. */
    accepted: z.number(),
    /** Taken by a next hop, whatever became of them later. */
    delivered: z.number(),
    /** Taken by the local inbox. */
    captured: z.number(),
    /** Refused, given up, or come back. */
    failed: z.number(),
    /** Attempts that left them waiting. */
    deferred: z.number(),
    /** Of the failed: come back after the next hop had taken them. */
    bounced: z.number(),
    /** Called it spam. */
    complained: z.number(),
    /** Of those with an end, the share (0 to 1) that was delivered and did not come back; null: none has one. */
    success: z.number().nullable(),
    /** Half of the delivered, and 95 in 100, took at most so long (ms, from fixed buckets); null: there were none. */
    p50Ms: z.number().nullable(),
    p95Ms: z.number().nullable(),
  });

/** What became of recipients. */
export type TrafficSummary = Shown<typeof summary>;

const row = () =>
  summary().extend({
    /** Of a relay, recipient domain, mailbox provider or tag, or a key's id; empty for mail without. */
    name: z.string(),
    /** The name of a key; null: it is gone, or the row is no key's. */
    label: z.string().nullable(),
    /**
     * Recipients delivered, captured and failed in each part of the time, the oldest first. There are at most 60 parts of
     * equally many steps; the last one may have fewer. Empty: there are too many names or tags to tell.
     */
    ended: z.array(z.number()),
  });

const replies = () =>
  z.strictObject({
    /** Replies that differ only in addresses, numbers, ids and hosts; null: those beyond the bound. */
    group: z.string().nullable(),
    /** The newest of them that is known, without addresses. Hostile: a peer wrote it. */
    example: z.string(),
    /** Its message; null for what is beyond the bound. */
    messageId: z.string().nullable(),
    deferred: z.number(),
    failed: z.number(),
    bounced: z.number(),
  });

const traffic = () =>
  z.strictObject({
    /** Start of the first step, RFC 3339. */
    from: z.string(),
    stepSeconds: z.number(),
    /** One for each step, the oldest first. */
    steps: z.array(summary()),
    total: summary(),
    /** By what was asked for, the most mail first. A message with several tags is in the row of each. */
    rows: z.array(row()),
    /** What is not told apart by it any more, because there was too much; null: nothing. */
    others: summary().nullable(),
    /** Names that are not among the rows. */
    moreNames: z.number(),
    /** The most frequent first; none by minute. */
    replies: z.array(replies()),
  });

/** See {@link TRAFFIC_OPERATIONS}. */
export type TrafficView = Shown<typeof traffic>;

/** What operators can ask of the counters of mail. */
export const TRAFFIC_OPERATIONS = {
  traffic: operation({
    meaning:
      'What became of recipients, from counters: over time, by relay, recipient domain, mailbox provider, tag or key, and why receivers refused.',
    access: READ,
    request: z.strictObject({
      step: z
        .enum(['minute', 'hour', 'day'])
        .describe('Minutes are kept for 3 hours, hours for 3 days, days for `retention.statistics_days`.'),
      count: z.int().min(1).max(400).describe('How many steps (UTC) back from now, this one included.'),
      by: z
        .enum(TRAFFIC_DIMENSIONS)
        .nullable()
        .optional()
        .describe('What the rows are; absent for none. By minute, only the total is known.'),
      where: z
        .partialRecord(z.enum(TRAFFIC_DIMENSIONS), value)
        .optional()
        .describe('Only mail that is so; a key by its id; empty for mail without.'),
      limit: z
        .int()
        .min(1)
        .max(MAX_TRAFFIC_ROWS)
        .optional()
        .describe('Most rows, and most replies; 50 if absent.'),
    }),
    result: traffic,
  }),
};

/** Those who carry them out. */
export type TrafficOperations = OperationsOf<typeof TRAFFIC_OPERATIONS>;
