/** Waiting for the end of a message that was handed to the installation here. */

import { expect, test } from 'vitest';
import type { Clock } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import type { StatusRecord } from '../operations/messages.ts';
import { localOutbox } from './send.ts';

const AWAY = new OperationError('unavailable', 'The server disconnected.');
const NOBODY = new OperationError('not_found', 'There is no message msg_1.');
const queued = { status: 'queued' } as StatusRecord;
const delivered = { status: 'delivered' } as StatusRecord;

test.for<[string, (StatusRecord | Error)[], StatusRecord | Error]>([
  ['the server comes back', [queued, AWAY, AWAY, delivered], delivered],
  ['it stays away', [queued, AWAY], queued],
  ['it was never there again', [AWAY], AWAY],
  ['there is no such message', [NOBODY, delivered], NOBODY],
  ['the time is over', [queued], queued],
])('%s', async ([, answers, end]) => {
  const waited = localOutbox(installation(answers), true, quickClock()).wait('msg_1', 2000);
  if (end instanceof Error) await expect(waited).rejects.toBe(end);
  else expect(await waited).toBe(end);
});

/** An installation that answers one question after the other; the last answer is for all that come after. */
function installation(answers: readonly (StatusRecord | Error)[]): Parameters<typeof localOutbox>[0] {
  const left = [...answers];
  const unused = () => Promise.reject(new Error('nobody asks for this'));
  const message = async () => {
    const answer = left.length > 1 ? left.shift() : left[0];
    if (answer === undefined || answer instanceof Error) throw answer;
    return answer;
  };
  return { submit: unused, checkMessage: unused, message };
}

/** A clock on which every wait is over at once, and counted. */
function quickClock(): Clock {
  let now = 0;
  return {
    wall: () => now,
    mono: () => now,
    sleep: async (ms) => {
      now += ms;
    },
  };
}
