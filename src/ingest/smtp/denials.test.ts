import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { Events } from '../../observe/events.ts';
import { Denials, MAX_TOLD, MAX_TOLD_OF_ALL, MAX_WINDOWS } from './denials.ts';

const SOURCE = '192.0.2.7';

class World {
  readonly clock = new ManualClock();
  readonly told: { reason: string; source: string | null; count: number; requestId?: string }[] = [];
  readonly denials: Denials;

  constructor() {
    const events = new Events();
    events.on((event) => {
      if (event.type !== 'denied') return;
      const { reason, sourceAddress: source, count, requestId } = event;
      this.told.push({ reason, source, count, ...(requestId !== undefined && { requestId }) });
    });
    this.denials = new Denials(events, this.clock);
  }

  flood(count: number, address = SOURCE, reason = 'relay_not_allowed'): void {
    for (let i = 0; i < count; i++) this.denials.tell({ type: 'denied', reason, sourceAddress: address });
  }

  get counted(): number {
    return this.told.reduce((sum, { count }) => sum + count, 0);
  }
}

test('a refusal is told at once, with its source and its session', () => {
  const world = new World();
  world.denials.tell({
    type: 'denied',
    reason: 'relay_not_allowed',
    sourceAddress: SOURCE,
    requestId: 'r-1',
  });
  expect(world.told).toEqual([{ reason: 'relay_not_allowed', source: SOURCE, count: 1, requestId: 'r-1' }]);
});

test('past sixty in a minute for one reason the refusals of a source are told in sums, each of ten seconds', async () => {
  const world = new World();
  world.flood(MAX_TOLD + 40);
  expect(world.told).toHaveLength(MAX_TOLD);
  await world.clock.advance(9_999);
  expect(world.told).toHaveLength(MAX_TOLD);
  await world.clock.advance(1);
  expect(world.told.slice(MAX_TOLD)).toEqual([{ reason: 'relay_not_allowed', source: SOURCE, count: 40 }]);
  world.flood(7);
  await world.clock.advance(10_000);
  expect(world.told.at(-1)?.count).toBe(7);
  await world.clock.advance(60_000);
  expect(world.told).toHaveLength(MAX_TOLD + 2);
});

test('a minute after the first they are told one by one again, and none is lost', async () => {
  const world = new World();
  world.flood(MAX_TOLD);
  await world.clock.advance(55_000);
  world.flood(5);
  await world.clock.advance(5_000);
  world.flood(3);
  expect(world.told.slice(MAX_TOLD).map(({ count }) => count)).toEqual([5, 1, 1, 1]);
  await world.clock.advance(60_000);
  expect(world.counted).toBe(MAX_TOLD + 8);
});

test('the addresses of an IPv6 /64 are one source; other sources and other reasons are told all the same', () => {
  const world = new World();
  world.flood(MAX_TOLD, '2001:db8::1');
  world.flood(1, '2001:db8::2');
  expect(world.told).toHaveLength(MAX_TOLD);
  world.flood(1, '2001:db8:0:1::1');
  world.flood(1, '2001:db8::1', 'rate_limited');
  expect(world.told).toHaveLength(MAX_TOLD + 2);
});

/** So many addresses, each a source of its own. */
function manySources(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
}

test('past three hundred in a minute for one reason the refusals of all sources are told in sums, and none is lost', async () => {
  const world = new World();
  for (const source of manySources(MAX_TOLD_OF_ALL + 50)) world.flood(1, source);
  expect(world.told).toHaveLength(MAX_TOLD_OF_ALL);
  world.flood(1, SOURCE, 'rate_limited');
  expect(world.told).toHaveLength(MAX_TOLD_OF_ALL + 1);
  await world.clock.advance(10_000);
  expect(world.told.slice(MAX_TOLD_OF_ALL + 1)).toEqual([
    { reason: 'relay_not_allowed', source: manySources(MAX_TOLD_OF_ALL + 50).at(-1), count: 50 },
  ]);
  world.flood(3);
  await world.clock.advance(50_000);
  expect(world.counted).toBe(MAX_TOLD_OF_ALL + 54);
  world.flood(1);
  expect(world.told.at(-1)).toMatchObject({ source: SOURCE, count: 1 });
});

test('what is summed up is told when the listener closes, once', async () => {
  const world = new World();
  world.flood(MAX_TOLD + 5);
  world.denials.flush();
  expect(world.told.at(-1)?.count).toBe(5);
  world.denials.flush();
  await world.clock.advance(60_000);
  expect(world.counted).toBe(MAX_TOLD + 5);
});

test('one source past the bound, the one that began longest ago makes room, and its sum is told', () => {
  const world = new World();
  world.flood(MAX_TOLD + 5);
  // A reason of their own for every few, so that none of them is told in sums.
  for (const [i, source] of manySources(MAX_WINDOWS - 1).entries())
    world.flood(1, source, `reason_${Math.floor(i / MAX_TOLD_OF_ALL)}`);
  world.flood(1);
  expect(world.counted).toBe(MAX_TOLD + MAX_WINDOWS - 1);
  world.flood(1, '198.51.100.1');
  expect(world.told.at(-2)).toEqual({ reason: 'relay_not_allowed', source: SOURCE, count: 6 });
  world.flood(1);
  expect(world.told.at(-1)).toMatchObject({ source: SOURCE, count: 1 });
});
