import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { silentLog } from '../lib/log.ts';
import { tallyDenials } from './denials.ts';
import { Events } from './events.ts';

const NOW = Date.UTC(2026, 10, 20);

function world(refuse: () => boolean = () => false) {
  const events = new Events();
  const clock = new ManualClock(NOW);
  const written: [count: number, now: number][] = [];
  const store = {
    tally: async (counts: readonly { count: number }[], at: { now: number }) => {
      if (refuse()) throw new Error('no');
      for (const { count } of counts) written.push([count, at.now]);
    },
  };
  const deny = (count: number) =>
    events.emit({ type: 'denied', reason: 'key_unknown', sourceAddress: null, count });
  const denials = tallyDenials({ events, store, node: 'n1', clock, log: silentLog });
  return { clock, written, deny, denials, events };
}

test('refusals are written once a second, together', async () => {
  const { clock, written, deny, denials } = world();
  deny(1);
  deny(2);
  expect(written).toEqual([]);
  await clock.advance(1000);
  expect(written).toEqual([[3, NOW + 1000]]);
  await clock.advance(5000);
  expect(written).toHaveLength(1);
  await denials.stop();
});

test('what is pending at the stop is written, and nothing is counted after it', async () => {
  const { written, deny, denials } = world();
  deny(4);
  await denials.stop();
  deny(1);
  expect(written).toEqual([[4, NOW]]);
});

test('what the store does not take is kept for the next second', async () => {
  let refusing = true;
  const { clock, written, deny, denials } = world(() => refusing);
  deny(1);
  await clock.advance(1000);
  deny(1);
  refusing = false;
  await clock.advance(1000);
  expect(written).toEqual([[2, NOW + 2000]]);
  await denials.stop();
});

test('only refusals are counted', async () => {
  const { events, written, denials } = world();
  events.emit({ type: 'reclaimed', released: 3, unknown: 0 });
  await denials.stop();
  expect(written).toEqual([]);
});
