/** Many large messages at once, by every way in: within the memory that is told, and the small ones of others go past them. */
import { expect, test } from 'vitest';
import { tell, times } from '../support/proof.ts';
import { Siege } from './siege.ts';
import { type Target, UPLOADS } from './uploads.ts';

const SENDERS = times('overload_uploads', 8);
const MINUTES = 60_000;
/** Of which the memory is, in MiB: what comes, and what is composed of it. */
const BUDGET = 128;
/** How much more than that it may take, as docs/operations.md tells. */
const MOST = 1.5;
/** Nothing was accepted, and the sender should come again. */
const AGAIN = [503, 452];
const TAKEN = [202, 250];

test(`${SENDERS} uploads of 25 MB at once, and a good client among them`, { timeout: 10 * MINUTES }, async ({
  onTestFinished,
}) => {
  const siege = await Siege.begin({ limits: `max_bytes_in_flight: ${BUDGET * 1024 * 1024}` });
  onTestFinished(() => siege.remove());
  const { api, runtime } = siege.server;
  const target = { api, smtp: runtime.smtp[0] ?? 0, key: await siege.key('large', 0), from: '127.0.50.1' };
  siege.vitals.forgetPeak();
  const goodBefore = siege.good.sent;
  const meanwhile = () => siege.good.sent - goodBefore;
  // They go on until more small ones went past than there are of them: nobody is served only because the others have gone.
  const isOver = () => meanwhile() > SENDERS;
  const others = Array.from({ length: SENDERS }, (_, place) => uploadWhile(target, place, isOver));
  const uploads = await siege.good.sendDuring(Promise.all(others));
  const small = meanwhile();
  const { slowestMs } = siege.good;
  const sumOf = (figure: keyof Uploads) => uploads.reduce((sum, each) => sum + each[figure], 0);
  await sinkHas(siege, sumOf('taken'));
  const { peakMiB: most, idleMiB } = siege.vitals;
  await siege.end();
  expect(most - idleMiB).toBeLessThan(MOST * BUDGET);
  tell(
    'large messages at once',
    {
      'messages of 25 MB': sumOf('taken'),
      'had to come again': sumOf('refused'),
      'small messages of another meanwhile': small,
    },
    {
      'MiB at most': most,
      'MiB before': idleMiB,
      'open files after': siege.vitals.files,
      'ms of the slowest small message': slowestMs,
    },
  );
});

/** What came of the uploads of one sender. */
interface Uploads {
  readonly taken: number;
  readonly refused: number;
}

/** Uploads until one is taken, and then again until it `isOver`. */
async function uploadWhile(target: Target, place: number, isOver: () => boolean): Promise<Uploads> {
  const [name, upload] = UPLOADS[place % UPLOADS.length] ?? [];
  if (upload === undefined) throw new Error('no way');
  for (let taken = 0, refused = 0; ; ) {
    const code = await upload(target);
    if (TAKEN.includes(code)) taken++;
    else {
      expect(AGAIN, name).toContain(code);
      refused++;
    }
    if (taken > 0 && isOver()) return { taken, refused };
  }
}

/** Waits until all of them are delivered. */
function sinkHas({ sink }: Siege, count: number): Promise<void> {
  return sink.until(() => sink.messages.filter(({ from }) => from.includes('large@')).length >= count);
}
