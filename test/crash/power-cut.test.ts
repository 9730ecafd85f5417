/**
 * The power is cut: the real process is recorded at work with each of its writes and flushes (`power-cut/recording.ts`), a
 * disk that keeps only what was flushed repeats it up to any step (`power-cut/disk.ts`), and what is left then is opened and
 * held against what the process had promised by then (`power-cut/survivor.ts`; a few times by the process itself).
 *
 * It goes red where something is promised too early: without `files.fdatasync` or `files.fsync(directoryFd)` in
 * `src/spool/segments/writer.ts`; with `synchronous = NORMAL` and no `assertDurable` in `src/store/sqlite`; where the gate of
 * `src/engine/attempt.ts` does not wait for the mark; where `src/config/secrets.ts` makes the key under its own name.
 *
 *     WAYBILL_TIMES_POWER_CUTS=600 npx vitest run test/crash/power-cut.test.ts
 */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { type Random, seededRandom } from '../../src/lib/random.ts';
import { describeWith } from '../peers/need.ts';
import { before, tell, times } from '../support/proof.ts';
import { type Cut, chooseCuts } from './power-cut/cuts.ts';
import { Disk } from './power-cut/disk.ts';
import { Listener } from './power-cut/promises.ts';
import { type Recording, record } from './power-cut/recording.ts';
import { expectGoesOn } from './power-cut/restart.ts';
import { expectKept, layOut, Promises } from './power-cut/survivor.ts';

const CUTS = times('power_cuts', 50);
/** On so many of them the real process is started. */
const RESTARTS = Math.ceil(CUTS / 300);
/** What is laid out for one cut is smaller. */
const ROOM_BYTES = 48 * 1024 * 1024;

describeWith(['strace'], 'power cuts', () => {
  test(`what was promised holds after each of ${CUTS} power cuts`, {
    timeout: 300_000 + CUTS * 1_000,
  }, async (context) => {
    const recording = await record(context);
    const promised = expectFaithful(recording);
    const dice = seededRandom(CUTS + before());
    const cuts = chooseCuts(recording.steps, promised, CUTS, dice);
    await replay(recording, cuts, dice, context);
    const steps = { 'steps recorded': recording.steps.length, 'of them cut after': placesOf(cuts).size };
    tell('power cuts', { cuts: CUTS, restarts: RESTARTS, ...steps, lost: 0 });
  });
});

function placesOf(cuts: readonly Cut[]): ReadonlySet<number> {
  return new Set(cuts.map((cut) => cut.after));
}

/** The record is whole: it comes to the very files, and says all that was heard. Gives the steps that promise something. */
function expectFaithful({ steps, files, letters, heard }: Recording): number[] {
  const disk = new Disk();
  const listener = listenerFor(letters);
  const promises = new Promises();
  const promised: number[] = [];
  for (const [place, step] of steps.entries()) {
    disk.apply(step);
    const words = listener.hear(step);
    for (const promise of words) promises.add(promise);
    if (words.length > 0) promised.push(place);
  }
  const kept = disk.cut('kept', seededRandom(0));
  for (const [name, bytes] of files) expect(kept.get(name)?.equals(bytes), name).toBe(true);
  expect([...promises.accepted].sort()).toEqual([...letters.keys()].sort());
  // A process that is killed takes words with it that nobody has heard yet.
  expect([...promises.sent.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(heard);
  expect(promises.ended.size).toBeGreaterThan(0);
  return promised;
}

/** Does all again up to each of the cuts. */
async function replay(
  recording: Recording,
  cuts: readonly Cut[],
  dice: Random,
  context: TestContext,
): Promise<void> {
  const { steps, letters } = recording;
  const folder = mkdtempSync(join(quickFolder(), 'waybill-power-cut-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const [disk, listener, promises] = [new Disk(), listenerFor(letters), new Promises()];
  const every = Math.ceil(cuts.length / RESTARTS);
  let done = 0;
  for (const [place, { after, fate }] of cuts.entries()) {
    for (; done <= after; done++) {
      const step = steps[done];
      if (step === undefined) throw new Error('a cut after the last step');
      disk.apply(step);
      for (const promise of listener.hear(step)) promises.add(promise);
    }
    const found = disk.cut(fate, dice);
    const left = join(folder, 'left');
    layOut(found, left);
    await told(`cut after step ${after} of ${steps.length}, unflushed: ${fate}`, async () => {
      await expectKept(left, promises, { letters, dice });
      if (place % every === Math.floor(every / 2)) await expectGoesOn(found, promises, recording, context);
    });
  }
}

/** Says where it was when something fails. */
async function told(where: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) error.message = `${where}: ${error.message}`;
    throw error;
  }
}

function listenerFor(letters: Recording['letters']): Listener {
  return new Listener(new Map([...letters].map(([id, { subject }]) => [subject, id])));
}

/** A disk in memory, where flushes cost nothing; else what there is. */
function quickFolder(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize > ROOM_BYTES ? '/dev/shm' : tmpdir();
  } catch {
    return tmpdir();
  }
}
