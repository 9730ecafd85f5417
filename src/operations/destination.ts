import { z } from 'zod';
import { LANE_STATES } from '../domain/lane.ts';
import { text } from './command.ts';
import { type OperationsOf, operation, READ, type Shown } from './operation.ts';
import { restView } from './relays.ts';
import { obstacle } from './search.ts';

/** Why mail to a recipient domain is late, by whatever relay it goes. */

const destination = () =>
  z.strictObject({
    /** In lower case, A-labels. */
    domain: z.string(),
    /** Its mailbox provider, as far as its name says; null where it says nothing. */
    provider: z.string().nullable(),
    time: z.string(),
    /** Where its mail waits or is under way, the most first; and its own lanes of `mx` relays that are at work. */
    places: z.array(place()),
    /** How many messages that wait were looked at: the newest. */
    messages: z.number(),
    /** There may be more of them. */
    more: z.boolean(),
  });

/** See {@link DESTINATION_OPERATIONS}. */
export type Destination = Shown<typeof destination>;

const place = () =>
  z.strictObject({
    /** Null for both: without a route. */
    lane: z.string().nullable(),
    relay: z.string().nullable(),
    state: z.enum(LANE_STATES).nullable(),
    /** Why the lane rests; null if it does not. */
    rest: restView().nullable(),
    /** What keeps the mail; empty when nothing does but its next attempt. */
    waits: z.array(obstacle()),
    /** Recipients at the domain, of the messages that were looked at. */
    waiting: z.number(),
    processing: z.number(),
    /** When the oldest of these messages was accepted; null: there are none. */
    since: z.string().nullable(),
    /** When the next of them is due, which may be over; null: none waits. */
    nextAt: z.string().nullable(),
    /** Of the whole lane: attempts under way, how many its next hop bears, and how many ended within a minute. */
    inFlight: z.number(),
    concurrency: z.number().nullable(),
    perMinute: z.number(),
    /** Attempts that its relay may begin in a second; null: no limit of ours. */
    maxPerSecond: z.number().nullable(),
    /** What their last attempts got, the most frequent first. */
    replies: z.array(
      z.strictObject({
        /** Of replies that differ only in details, the one of `messageId`. Hostile: a peer wrote it. */
        reply: z.string(),
        code: z.number().nullable(),
        enhancedCode: z.string().nullable(),
        recipients: z.number(),
        messageId: z.string(),
      }),
    ),
  });

/** Where mail to a domain waits. */
export type DestinationPlace = Shown<typeof place>;

/** Longer names are nobody's. */
const MAX_DOMAIN = 320;

/** What operators can ask of mail to one domain. */
export const DESTINATION_OPERATIONS = {
  destination: operation({
    meaning:
      'Why mail to a recipient domain waits, by whatever relay: where, what keeps it there, what was said of it, and when it is tried next.',
    access: READ,
    request: z.strictObject({
      domain: z.string().min(1).max(MAX_DOMAIN).describe('The domain, or an address there.'),
    }),
    result: destination,
    commands: [
      {
        words: 'queue why',
        summary: 'why mail to a domain is late: what waits for it, where, and what was said of it',
        examples: ['waybill queue why example.org'],
        takes: { domain: text('<domain>', 'the recipient domain, or an address there') },
      },
    ],
  }),
};

/** Those who carry them out. */
export type DestinationOperations = OperationsOf<typeof DESTINATION_OPERATIONS>;
