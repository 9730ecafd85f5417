import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { AuthFailures, MAX_FAILING_SOURCES, MAX_WAITING, MAX_WAITING_OF_SOURCE } from './key-check.ts';

const MINUTE = 60_000;

class World {
  readonly clock = new ManualClock();
  readonly failures = new AuthFailures(this.clock);

  /** Fails once and gives how long it had to wait, in ms; null when it was cut off. */
  async fail(address: string): Promise<number | null> {
    const since = this.clock.mono();
    let waited: number | null | undefined;
    void this.failures.wait(address).then((hasWaited) => {
      waited = hasWaited ? this.clock.mono() - since : null;
    });
    while (waited === undefined) await this.clock.advance(50);
    return waited;
  }

  /** Fails so often without waiting for the end. */
  failMany(count: number, addressOf: (i: number) => string): Promise<boolean>[] {
    return Array.from({ length: count }, (_, i) => this.failures.wait(addressOf(i)));
  }
}

const addressOf = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;

test('each failure of a source waits twice as long as the one before, up to ten seconds', async () => {
  const world = new World();
  const waits: (number | null)[] = [];
  for (let i = 0; i < 8; i++) waits.push(await world.fail('192.0.2.1'));
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test('another source is not slowed by it, an address of the same /64 is', async () => {
  const world = new World();
  await world.fail('2001:db8::1');
  expect(await world.fail('2001:db8:0:1::1')).toBe(250);
  expect(await world.fail('192.0.2.1')).toBe(250);
  expect(await world.fail('2001:db8::2')).toBe(500);
});

test('after ten minutes without a failure a source begins anew, and not before', async () => {
  const world = new World();
  for (let i = 0; i < 4; i++) await world.fail('192.0.2.1');
  await world.clock.advance(10 * MINUTE - 2000 - 50);
  expect(await world.fail('192.0.2.1')).toBe(4000);
  await world.clock.advance(10 * MINUTE);
  expect(await world.fail('192.0.2.1')).toBe(250);
});

test('failures at once count each', async () => {
  const world = new World();
  const waiting = world.failMany(10, () => '192.0.2.1');
  await world.clock.advance(10_000);
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 10 }, () => true));
  expect(await world.fail('192.0.2.1')).toBe(10_000);
});

test('of a source that has too many answers waiting the next is cut off at once, and others are not', async () => {
  const world = new World();
  const waiting = world.failMany(MAX_WAITING_OF_SOURCE, () => '192.0.2.1');
  expect(await world.failures.wait('192.0.2.1')).toBe(false);
  const other = world.failures.wait('192.0.2.2');
  await world.clock.advance(10_000);
  expect(await Promise.all([...waiting, other])).not.toContain(false);
  expect(await world.fail('192.0.2.1')).toBe(10_000);
});

test('when too many answers wait in all the next is cut off, whoever it is', async () => {
  const world = new World();
  const waiting = world.failMany(MAX_WAITING, addressOf);
  expect(await world.failures.wait('192.0.2.1')).toBe(false);
  await world.clock.advance(250);
  expect(await Promise.all(waiting)).not.toContain(false);
  expect(await world.fail('192.0.2.2')).toBe(250);
});

test('one source past the bound, the one that failed longest ago is forgotten', async () => {
  const world = new World();
  const rounds = MAX_FAILING_SOURCES / MAX_WAITING;
  for (let round = 0; round < rounds; round++) {
    const waiting = world.failMany(MAX_WAITING, (i) => addressOf(round * MAX_WAITING + i));
    await world.clock.advance(250);
    await Promise.all(waiting);
  }
  expect(await world.fail(addressOf(0))).toBe(500);
  expect(await world.fail('192.0.2.1')).toBe(250);
  expect(await world.fail(addressOf(0))).toBe(1000);
  expect(await world.fail(addressOf(1))).toBe(250);
});
