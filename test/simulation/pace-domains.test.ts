/** That among many recipient domains of one relay none keeps the others waiting that could go. */
import { describe, expect, test } from 'vitest';
import { type Temper, WELL } from './pace-hop.ts';
import { direct, PaceWorld } from './pace-world.ts';

const SECOND = 1_000;
/** Attempts at once that Google is thought to bear. */
const GOOGLE = 10;

/** A host of Google's for domains that begin with `p`. */
const hostOf = (domain: string) => (domain.startsWith('p') ? 'aspmx.l.google.com' : 'mail.own.example');

async function worldOf(temper: Partial<Temper>) {
  const world = new PaceWorld({ relays: [direct('out', { maxConcurrency: 20 })] });
  world.hop.tempers.set('out', { ...WELL, spread: 0.5, ...temper });
  await world.bear();
  const startOf = (token: string) =>
    world.hop.starts.find((start) => start.token === token)?.at ?? Number.POSITIVE_INFINITY;
  return { world, startOf };
}

describe('with bulk mail to many domains, more than the relay’s slots take', () => {
  test.each([
    ['a slow hop', 10 * SECOND],
    ['a quick hop', 300],
  ])('a high message to a domain of its own starts within a second: %s', async (_, takesMs) => {
    const { world, startOf } = await worldOf({ takesMs });
    for (let domain = 0; domain < 200; domain++)
      await world.submit(`bulk${domain}-`, 10, { priority: 'bulk', domain: `d${domain}.example` });
    await world.run(5 * SECOND);
    for (let turn = 0; turn < 4; turn++) {
      const at = world.time.now;
      await world.submit(`high${turn}-`, 1, { priority: 'high', domain: `new${turn}.example` });
      await world.run(2 * SECOND);
      expect(startOf(`high${turn}-0`) - at, `turn ${turn}`).toBeLessThanOrEqual(SECOND);
      // The slots that are kept are free again.
      await world.run(1.25 * takesMs);
    }
    expect(world.hop.underWay('out')).toBeGreaterThanOrEqual(18);
  });

  test('one to a domain with bulk of its own starts within a second of its time', async () => {
    const { world, startOf } = await worldOf({ takesMs: 500, hostOf });
    for (let domain = 0; domain < 200; domain++)
      await world.submit(`bulk${domain}-`, 10, { priority: 'bulk', domain: `d${domain}.example` });
    const due: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const inMs = 5 * SECOND + turn * 4 * SECOND;
      due.push(world.time.now + inMs);
      const mail = { priority: 'high' as const, domain: `d${7 + turn * 11}.example` };
      await world.submit(`high${turn}-`, 1, { ...mail, sendAt: Math.ceil(world.wall + inMs) });
    }
    await world.run(20 * SECOND);
    const waits = due.map((at, turn) => startOf(`high${turn}-0`) - at);
    expect(Math.max(...waits)).toBeLessThanOrEqual(SECOND + 1);
  });
});

describe('customers’ domains of one provider', () => {
  test('keep no other domain waiting, however much there is for them', async () => {
    const { world, startOf } = await worldOf({ takesMs: 300, hostOf });
    const mx = world.hop.tempers.get('out') ?? WELL;
    for (let domain = 0; domain < 60; domain++)
      await world.submit(`p${domain}-`, 1, { domain: `p${domain}.example` });
    await world.run(10 * SECOND, () => world.hop.taken.size === 60);
    // From now on it is slow, and takes all that it may have at once.
    world.hop.tempers.set('out', { ...mx, takesMs: 10 * SECOND });
    for (let domain = 0; domain < 60; domain++)
      await world.submit(`q${domain}-`, 20, {
        domain: `p${domain}.example`,
        sendAt: Math.ceil(world.wall + SECOND),
      });
    const at = world.time.now + 20 * SECOND;
    for (let domain = 0; domain < 10; domain++)
      await world.submit(`own${domain}-`, 1, {
        domain: `own${domain}.example`,
        sendAt: Math.ceil(world.wall + 20 * SECOND),
      });
    await world.run(22 * SECOND);
    const waits = Array.from({ length: 10 }, (_, domain) => startOf(`own${domain}-0`) - at);
    expect(Math.max(...waits)).toBeLessThanOrEqual(SECOND + 1);
  });

  test('share its pace from their first attempts on, also after they were let go', async () => {
    const { world } = await worldOf({ takesMs: SECOND, hostOf });
    const domains = Array.from({ length: 30 }, (_, number) => `p${number}.example`);
    for (const domain of domains) await world.submit(`first-${domain}-`, 1, { domain });
    await world.run(90 * SECOND);
    const from = world.hop.starts.length;
    for (const domain of domains) await world.submit(`later-${domain}-`, 4, { domain });
    await world.run(20 * SECOND);
    const later = world.hop.starts.slice(from);
    expect(later.length).toBe(120);
    expect(Math.max(...later.map(({ atOnce }) => atOnce))).toBeLessThanOrEqual(GOOGLE);
  });
});
