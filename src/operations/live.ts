import { z } from 'zod';
import { type Answers, type OperationsOf, operation, READ, type Shown } from './operation.ts';
import { foundMessage } from './search.ts';

/** What happens now: mail as it comes in, waits and leaves. */

/** Messages a minute, over the last sixty seconds. */
const pace = () =>
  z.strictObject({
    received: z.number(),
    delivered: z.number(),
    captured: z.number(),
    failed: z.number(),
  });

const liveRelay = () =>
  z.strictObject({
    name: z.string(),
    type: z.string(),
    state: z.string(),
    waiting: z.number(),
    inFlight: z.number(),
    /** Recipients, one number a minute, the oldest first; the last minute is not over. */
    delivered: z.array(z.number()),
    failed: z.array(z.number()),
  });

const live = (api: Answers) =>
  z.strictObject({
    /** The newest messages, the newest first. */
    messages: z.array(foundMessage(api)),
    pace: pace(),
    /** Messages that wait, and those being handed on. */
    waiting: z.number(),
    processing: z.number(),
    /** Those with the most to do, the busiest first. */
    relays: z.array(liveRelay()),
    moreRelays: z.number(),
  });

/** What happens now. */
export type Live = Shown<typeof live>;
/** A relay of it. */
export type LiveRelay = Shown<typeof liveRelay>;

/** What can be asked of the present moment. */
export const LIVE_OPERATIONS = {
  live: operation({
    meaning:
      'What happens now: the newest messages, messages a minute from accepted to sent, and the last half hour of the busiest relays. All who ask within a moment get one answer.',
    access: READ,
    request: z.strictObject({}),
    result: live,
  }),
};

/** Those who carry them out. */
export type LiveOperations = OperationsOf<typeof LIVE_OPERATIONS>;
