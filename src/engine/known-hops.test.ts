import { describe, expect, it } from 'vitest';
import { localReply, type Outcome } from '../domain/outcome.ts';
import type { Relay } from '../domain/relay.ts';
import { openWindow } from '../domain/window.ts';
import { systemClock } from '../lib/clock.ts';
import { ClaimRound } from './claim-round.ts';
import { Lane } from './lanes.ts';
import type { RelayAtWork } from './relays.ts';
import { Relays } from './relays.ts';

const TOO_MUCH: Outcome[] = [
  { kind: 'deferred', reply: { ...localReply('smtp_reply', '4.7.0', ''), code: 421 } },
];

const NO_TRANSPORT = {
  deliver: () => Promise.reject(new Error('nothing is delivered')),
  connections: () => 0,
  close: async () => {},
};
const GOOGLES_HOST = 'aspmx.l.google.com';

function relayOf(name: string, presets: boolean | null, maxPerDay = 0): Relay {
  const mx = {
    helo: null,
    sourceIps: [],
    ipFamily: 'any' as const,
    returnPath: 'auto' as const,
    port: 25,
    tls: 'opportunistic' as const,
    allowPrivate: false,
    maxPerDomain: 20,
    presets: presets === true,
  };
  const limits = {
    maxConcurrency: 40,
    maxRatePerSecond: 0,
    maxMessageBytes: 0,
    maxRecipients: 10,
    maxPerDay,
    reservePercent: 0,
    warmUp: null,
  };
  const rest = { origin: 'file' as const, disabled: false, smtp: null, provider: null };
  return presets === null
    ? { ...rest, name, limits, type: 'smtp', mx: null }
    : { ...rest, name, limits, type: 'mx', mx };
}

/** Relays, and lanes of theirs that are taken and let go. */
function worldOf(...all: readonly Relay[]) {
  const lanes = new Map<string, Lane>();
  const held = new Map<string, 'pause'>();
  const relays = new Relays(
    { clock: systemClock, lanes, holds: () => held, shunned: { has: () => false } },
    () => {},
  );
  for (const relay of all) relays.put(relay, NO_TRANSPORT);
  const take = (name: string) => {
    const lane = new Lane(name, 1, Number.POSITIVE_INFINITY, 0);
    relays.hops.introduce(lane);
    lanes.set(name, lane);
    return lane;
  };
  const letGo = (lane: Lane) => {
    lanes.delete(lane.name);
    relays.hops.remember(lane);
  };
  const at = (name: string): RelayAtWork => {
    const found = relays.get(name);
    if (found === undefined) throw new Error(`no relay ${name}`);
    return found;
  };
  return { relays, held, take, letGo, at };
}

const sizeOf = ({ window }: Lane) => window?.size ?? null;

describe('a lane of a relay that delivers directly', () => {
  it('begins with one attempt, which tells whose it is', () => {
    const { relays, take, at } = worldOf(relayOf('mx', true));
    const [google, nobody] = [take('mx/customer.example'), take('mx/own.example')];
    expect([sizeOf(google), sizeOf(nobody)]).toEqual([1, 1]);
    relays.hops.spokeTo(google, at('mx'), GOOGLES_HOST);
    relays.hops.spokeTo(nobody, at('mx'), 'mail.own.example');
    expect([google.provider?.name, sizeOf(google)]).toEqual(['google', 2]);
    expect([nobody.provider, sizeOf(nobody)]).toEqual([null, 5]);
  });

  it('begins as its provider does where that is known by the domain, and with five where nobody is asked', () => {
    const { take } = worldOf(relayOf('mx', true), relayOf('plain', false));
    expect(sizeOf(take('mx/gmail.com'))).toBe(2);
    expect(sizeOf(take('plain/gmail.com'))).toBe(5);
  });

  it('keeps what its hop was found not to bear', () => {
    const { relays, take, at } = worldOf(relayOf('mx', true));
    const lane = take('mx/customer.example');
    lane.inflight = 1;
    lane.paced(TOO_MUCH, 20, 5, 10);
    relays.hops.spokeTo(lane, at('mx'), 'mail.own.example');
    expect(sizeOf(lane)).toBe(1);
  });

  it('is remembered with provider and window when it is let go', () => {
    const { relays, take, letGo, at } = worldOf(relayOf('mx', true));
    const lane = take('mx/customer.example');
    relays.hops.spokeTo(lane, at('mx'), GOOGLES_HOST);
    lane.window = openWindow(7);
    letGo(lane);
    const again = take('mx/customer.example');
    expect([again.provider?.name, sizeOf(again)]).toEqual(['google', 7]);
  });
});

it('the window of a smarthost is remembered too', () => {
  const { take, letGo } = worldOf(relayOf('out', null));
  const lane = take('out');
  expect(sizeOf(lane)).toBeNull();
  lane.window = openWindow(3);
  letGo(lane);
  expect(sizeOf(take('out'))).toBe(3);
});

it('so many lanes are remembered, the last ones', () => {
  const { take, letGo } = worldOf(relayOf('mx', false));
  for (let count = 0; count <= 20_000; count++) {
    const lane = take(`mx/d${count}.example`);
    lane.window = openWindow(9);
    letGo(lane);
  }
  expect(sizeOf(take('mx/d0.example'))).toBe(5);
  expect(sizeOf(take('mx/d1.example'))).toBe(9);
  expect(sizeOf(take('mx/d20000.example'))).toBe(9);
});

describe('what is known of a lane’s hop is worth nothing any more', () => {
  const resting = (world: ReturnType<typeof worldOf>) => {
    const lane = world.take('mx/customer.example');
    lane.restUntil(Number.MAX_SAFE_INTEGER);
    lane.window = openWindow(9);
    return lane;
  };

  it('when its relay is replaced', () => {
    const world = worldOf(relayOf('mx', true), relayOf('other', true));
    const lane = resting(world);
    world.relays.put(relayOf('other', true), NO_TRANSPORT);
    expect([lane.breakerState(0), sizeOf(lane)]).toEqual(['open', 9]);
    world.relays.put(relayOf('mx', true), NO_TRANSPORT);
    expect([lane.breakerState(0), sizeOf(lane)]).toEqual(['closed', 1]);
  });

  it.each(['mx', 'mx/customer.example'])('when the hold on %s is lifted', (target) => {
    const world = worldOf(relayOf('mx', true));
    const lane = resting(world);
    world.held.set(target, 'pause');
    world.relays.holdsChanged();
    expect(lane.breakerState(0)).toBe('open');
    world.held.delete(target);
    world.relays.holdsChanged();
    expect([lane.breakerState(0), sizeOf(lane)]).toEqual(['closed', 1]);
  });
});

describe('units in hand', () => {
  it('count for the relay, and for the provider as soon as it is known', () => {
    const { relays, take, at } = worldOf(relayOf('mx', true));
    const [known, found] = [take('mx/gmail.com'), take('mx/customer.example')];
    const inHand = () =>
      at('mx')
        .throttles()
        .map((throttle) => throttle.inHand);
    relays.took(known, 6);
    relays.took(found, 4);
    expect(inHand()).toEqual([10, 6]);
    relays.hops.spokeTo(found, at('mx'), GOOGLES_HOST);
    expect(inHand()).toEqual([10, 10]);
    relays.took(found, -3);
    relays.hops.forget(found);
    expect(inHand()).toEqual([7, 6]);
  });
});

describe('what is asked of the store in one round', () => {
  it('is bounded by what the relay, and the provider, may have in hand', () => {
    const { take, at } = worldOf(relayOf('mx', true));
    const relay = at('mx');
    const [google, other] = [take('mx/gmail.com'), take('mx/own.example')];
    const round = new ClaimRound(0);
    const [groups, own] = [relay.throttlesOf(google), relay.throttlesOf(other)];
    expect([round.roomOf(relay, groups), round.roomOf(relay, own)]).toEqual([20, 80]);
    const request = google.claimRequest(round.limitsOf(relay, google), 20, 0);
    if (request === null) throw new Error('it asks for nothing');
    round.ask(google, { ...request, limit: 20 }, relay, groups);
    expect([round.roomOf(relay, groups), round.roomOf(relay, own)]).toEqual([0, 60]);
    // What is asked for may not be there: only what is in hand keeps what matters most from being asked for.
    expect(round.hasRoomForHigh(groups)).toBe(true);
    for (const throttle of groups) throttle.inHand = 30;
    expect([round.hasRoomForHigh(groups), round.hasRoomForHigh(own)]).toEqual([false, true]);
  });

  it('is no more of a quota than is left, over all lanes', () => {
    const { take, at } = worldOf(relayOf('mx', true, 10));
    const relay = at('mx');
    const round = new ClaimRound(0);
    const asked = ['a', 'b', 'c'].map((domain) => {
      const lane = take(`mx/${domain}.example`);
      lane.window = openWindow(3);
      const request = lane.claimRequest(round.limitsOf(relay, lane), 80, 0);
      if (request !== null) round.ask(lane, request, relay, relay.throttlesOf(lane));
      return request?.limit ?? 0;
    });
    expect(asked).toEqual([6, 4, 0]);
  });
});
