/**
 * The relays of a group fail under load, one way after the other, and are held back: everything acknowledged arrives by
 * one of them, and nothing twice that is not flagged.
 */
import { expect, test } from 'vitest';
import type { SmtpSink } from '../peers/smtp-sink.ts';
import { HANG } from '../peers/smtp-sink-script.ts';
import { CONCURRENCY, TwoRelays } from './two-relays.ts';

const MESSAGES = 1000;
const TIMEOUT = { timeout: 180_000 };

/** One way for a relay to fail: how that begins, by what is seen that it was met, and how it ends. */
interface Fault {
  readonly name: string;
  begin(first: SmtpSink): void | Promise<void>;
  met(world: TwoRelays): Promise<void>;
  end(first: SmtpSink): void | Promise<void>;
  /** Nothing can know of it, so what is under way waits for its end. */
  readonly silent?: true;
}

const isFoundIll = (world: TwoRelays) => world.untilRelay('first', { state: 'open' });
const mend = (first: SmtpSink) => {
  first.script = {};
};

const FAULTS: readonly Fault[] = [
  {
    name: 'killed, with answers owed',
    begin: async (first) => {
      let owed = 0;
      first.script = {
        DOT: () => {
          owed++;
          return {};
        },
      };
      await first.until(() => owed === CONCURRENCY);
      await first.close();
    },
    met: isFoundIll,
    end: async (first) => {
      mend(first);
      await first.listen();
    },
  },
  {
    name: 'a black hole',
    begin: (first) => {
      first.script = { CONNECT: HANG };
      first.cut();
    },
    met: (world) => world.untilRelay('first', { inflight: CONCURRENCY }),
    end: (first) => {
      mend(first);
      first.cut();
    },
    silent: true,
  },
  {
    name: 'greets with 421',
    begin: (first) => {
      first.script = { CONNECT: { reply: '421 4.3.2 Not now', close: 'end' } };
      first.cut();
    },
    met: isFoundIll,
    end: mend,
  },
  {
    name: 'refuses every RCPT with 451',
    begin: (first) => {
      first.script = { RCPT: '451 4.7.1 Not now' };
    },
    met: isFoundIll,
    end: mend,
  },
  {
    name: 'drops after the dot now and then',
    begin: (first) => {
      let dots = 0;
      first.script = { DOT: () => (++dots % 5 === 0 ? { close: 'reset' } : undefined) };
    },
    met: async ({ first }) => {
      const { connections } = first;
      await first.until(() => first.connections > connections + 5);
    },
    end: mend,
  },
];

test(
  'under load the first relay fails in every way: nothing is lost, and nothing comes twice unflagged',
  TIMEOUT,
  async (context) => {
    const world = await TwoRelays.start(context);
    const { first, shop } = world;
    const block = MESSAGES / (FAULTS.length * 2);
    for (const fault of FAULTS) {
      // It is well, and under load, when the fault strikes.
      await world.untilRelay('first', { state: 'closed' });
      const enough = first.taken + block / 4;
      const struck = first.until(() => first.taken > enough).then(() => fault.begin(first));
      await Promise.all([world.load(shop, block), struck]);
      await Promise.all([world.load(shop, block), fault.met(world)]);
      if (fault.silent !== true) await world.untilArrived(shop);
      await fault.end(first);
      await world.untilArrived(shop);
    }
    process.stdout.write(`failover: ${await world.hold()}\n`);
  },
);

test(
  'a relay sends nothing while it is paused, and takes nothing new while it drains, over kills too',
  TIMEOUT,
  async (context) => {
    const world = await TwoRelays.start(context);
    const { first, shop, printers } = world;
    const everyone = [...shop, ...printers];
    const idle = { processing: 0, inFlight: 0 };
    const block = MESSAGES / 10;
    await world.load(everyone, block);
    await world.queue('pause', 'first');
    await world.untilLane('first', { state: 'paused', ...idle });
    const paused = first.messages.length;
    await world.killUnderLoad(everyone, block);
    await world.load(everyone, block);
    await world.untilArrived(shop);
    await world.untilLane('first', { state: 'paused', ...idle });
    expect(first.messages.length).toBe(paused);

    // What waited is sent, and nothing that comes now.
    await world.queue('drain', 'first');
    await world.untilArrived(printers);
    await world.untilLane('first', { state: 'draining', waiting: 0, ...idle });
    const drained = first.messages.length;
    expect(drained).toBeGreaterThan(paused);
    await world.killUnderLoad(everyone, block);
    await world.load(everyone, block);
    await world.untilArrived(shop);
    await world.untilLane('first', { state: 'draining', waiting: 0, ...idle });
    expect(first.messages.length).toBe(drained);

    await world.queue('resume', 'first');
    await world.untilArrived(everyone);
    expect(world.relaysOf(printers)).toEqual(['first']);
    process.stdout.write(`held back: ${await world.hold()}\n`);
  },
);
