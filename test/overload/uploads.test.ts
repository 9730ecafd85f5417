/** Many large messages at once, by every way in: within the memory that is told, and the small ones of others go past them. */
import { expect, test } from 'vitest';
import { tell, times } from '../support/proof.ts';
import { Siege } from './siege.ts';
import { type Target, UPLOADS } from './uploads.ts';

const SENDERS = times('overload_uploads', 8);
const MINUTES = 60_000;
/** Of which the memory is, in MiB: what comes as it comes. */
const BUDGET = 128;
/** How much more than that it may take, as docs/operations.md tells. */
const COPIES = 4;
/** Nothing was accepted, and the sender should come again. */
const AGAIN = [503, 452];
const TAKEN = [202, 250];

test(`${SENDERS} uploads of 25 MB at once, and a good client among them`, { timeout: 30 * MINUTES }, async ({
  onTestFinished,
}) => {
  const siege = await Siege.begin({ limits: `max_bytes_in_flight: ${BUDGET * 1024 * 1024}` });
  onTestFinished(() => siege.remove());
  const { api, runtime } = siege.server;
  const target = { api, smtp: runtime.smtp[0] ?? 0, key: await siege.key('large', 0), from: '127.0.50.1' };
  siege.vitals.forgetPeak();
  const goodBefore = siege.good.sent;
  const others = Array.from({ length: SENDERS }, (_, place) => uploadUntilTaken(target, place));
  const again = await siege.good.sendDuring(Promise.all(others));
  const goodMeanwhile = siege.good.sent - goodBefore;
  const { slowestMs } = siege.good;
  expect(goodMeanwhile, 'small messages meanwhile, each way in turn').toBeGreaterThan(SENDERS);
  await sinkHas(siege, SENDERS);
  const { peakMiB: most, idleMiB } = siege.vitals;
  await siege.end();
  expect(most - idleMiB).toBeLessThan(COPIES * BUDGET);
  tell(
    'large messages at once',
    {
      'messages of 25 MB': SENDERS,
      'had to come again': again.reduce((sum, count) => sum + count, 0),
      'small messages of another meanwhile': goodMeanwhile,
    },
    {
      ...{ 'MiB at most': most, 'MiB before': idleMiB, 'open files after': siege.vitals.files },
      'ms of the slowest small message': slowestMs,
    },
  );
});

/** How often it had to come again. */
async function uploadUntilTaken(target: Target, place: number): Promise<number> {
  const [name, upload] = UPLOADS[place % UPLOADS.length] ?? [];
  if (upload === undefined) throw new Error('no way');
  for (let refused = 0; ; refused++) {
    const code = await upload(target);
    if (TAKEN.includes(code)) return refused;
    expect(AGAIN, name).toContain(code);
  }
}

/** Waits until all of them are delivered. */
function sinkHas({ sink }: Siege, count: number): Promise<void> {
  return sink.until(() => sink.messages.filter(({ from }) => from.includes('large@')).length >= count);
}
