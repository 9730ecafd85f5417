import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { silentLog } from '../lib/log.ts';
import { Events } from './events.ts';
import { rememberHookProofs } from './hook-proofs.ts';

const HOUR = 3_600_000;

function rig() {
  const events = new Events();
  const clock = new ManualClock(1000);
  const notes: string[] = [];
  const broken = { now: false };
  const registry = {
    putSetting: async (key: string, value: string | null) => {
      if (broken.now) throw new Error('away');
      notes.push(`${key}=${value}`);
    },
  };
  const proofs = rememberHookProofs({
    events,
    registry,
    noteOf: (relay) => `n.${relay}`,
    clock,
    log: silentLog,
  });
  const use = (relay: string, proven: boolean) => events.emit({ type: 'hook', relay, proven });
  return { proofs, clock, notes, use, broken };
}

test('the last proof and the last refusal of each hook are remembered', async () => {
  const { proofs, clock, use } = rig();
  expect(proofs.of('a')).toEqual({ provenAt: null, refusedAt: null });
  use('a', true);
  await clock.advance(5);
  use('a', false);
  use('b', true);
  expect([proofs.of('a'), proofs.of('b')]).toEqual([
    { provenAt: 1000, refusedAt: 1005 },
    { provenAt: 1005, refusedAt: null },
  ]);
});

test('a proof is noted at most every six hours, a refusal never', async () => {
  const { proofs, clock, notes, use } = rig();
  use('a', false);
  use('a', true);
  use('a', true);
  use('b', true);
  await clock.advance(6 * HOUR - 1);
  use('a', true);
  await clock.advance(1);
  use('a', true);
  await proofs.stop();
  expect(notes).toEqual(['n.a=1000', 'n.b=1000', `n.a=${1000 + 6 * HOUR}`]);
  use('a', true);
  expect(proofs.of('a').provenAt).toBe(1000 + 6 * HOUR);
});

test('a hook that is forgotten was never used, and its next proof is noted at once', async () => {
  const { proofs, clock, notes, use } = rig();
  use('a', true);
  use('b', true);
  proofs.forget('a');
  expect([proofs.of('a').provenAt, proofs.of('b').provenAt]).toEqual([null, 1000]);
  await clock.advance(1);
  use('a', true);
  await proofs.stop();
  expect(notes).toEqual(['n.a=1000', 'n.b=1000', 'n.a=1001']);
});

test('a note that cannot be written is tried again with the next proof', async () => {
  const { proofs, clock, notes, use, broken } = rig();
  broken.now = true;
  use('a', true);
  await clock.advance(1);
  broken.now = false;
  use('a', true);
  await proofs.stop();
  expect(notes).toEqual(['n.a=1001']);
});
