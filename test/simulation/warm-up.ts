import { WELL } from './pace-hop.ts';
import { DAY, PaceWorld, smarthost } from './pace-world.ts';

const HOUR_MS = 3_600_000;
/** So much of each hour is played; the rest is skipped, nothing would happen in it. */
const PLAYED_MS = 15_000;
const HOURS = 24;

/** How many recipients a relay may have on its first days. */
export const SCHEDULE: readonly number[] = [100, 250, 600];
/** The first day of the schedule. */
export const FIRST_DAY = DAY + 1;

/** What a warm-up came to. */
export interface WarmUpHistory {
  /** Recipients that were handed in in each hour, and that each relay's hop took. */
  readonly accepted: readonly number[];
  readonly taken: Readonly<Record<string, readonly number[]>>;
  readonly world: PaceWorld;
}

/** Messages that come in, by the hour of the day: 960 in a day, most of them at noon. */
export function daily(hour: number): number {
  return Math.round(40 - 25 * Math.cos((Math.PI * hour) / 12));
}

/**
 * A new relay warms up for so many days, from the first midnight on, while `perHour` of an hour of the day messages come
 * in. With `spill`, what is beyond its allowance may go by an old relay.
 */
export async function warmUp(
  days: number,
  perHour: (hour: number) => number,
  spill: boolean,
): Promise<WarmUpHistory> {
  const fresh = smarthost('new', { maxConcurrency: 20, warmUp: { startDay: FIRST_DAY, perDay: SCHEDULE } });
  const old = smarthost('old', { maxConcurrency: 20 });
  const relays = spill ? [fresh, old] : [fresh];
  const world = new PaceWorld({ relays, epoch: FIRST_DAY * HOURS * HOUR_MS - 60_000 });
  for (const { name } of relays) world.hop.tempers.set(name, { ...WELL, takesMs: 20 });
  await world.bear();
  const accepted: number[] = [];
  const taken: Record<string, number[]> = Object.fromEntries(relays.map(({ name }) => [name, []]));
  const total = (relay: string) =>
    [...(world.hop.takenOn.get(relay)?.values() ?? [])].reduce((sum, day) => sum + day, 0);
  for (let hour = 0; hour < days * HOURS; hour++) {
    world.skipToDay(FIRST_DAY, hour * HOUR_MS);
    const before = relays.map(({ name }) => total(name));
    const count = perHour(hour % HOURS);
    await world.submit(`h${hour}-`, count);
    await world.run(PLAYED_MS);
    accepted.push(count);
    for (const [place, { name }] of relays.entries()) taken[name]?.push(total(name) - (before[place] ?? 0));
  }
  return { accepted, taken, world };
}
