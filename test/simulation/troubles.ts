import type { HoldKind } from '../../src/domain/lane.ts';
import type { EngineSettings } from '../../src/engine/contract.ts';
import type { Random } from '../../src/lib/random.ts';
import type { SpoolFaults } from './faulty-spool.ts';
import type { StoreFaults } from './faulty-store.ts';
import { DNS_HEALTHY, type DnsFaults } from './hop-domains.ts';
import { DEAD, type HopFaults } from './hop-session.ts';
import type { NextHop } from './next-hop.ts';
import { SETTINGS } from './scene.ts';
import type { Seen } from './seen.ts';
import type { VirtualTime } from './virtual-clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** How long a full disk stays full at most, in ms: less than a report waits for room. */
const MAX_FULL_MS = 20 * SECOND;

/** What can be done to nodes. */
export interface Nodes {
  /** One process ends without a word, another starts a while later. False: none runs. */
  crash(): boolean;
  /** One is told to end, and another starts. */
  stop(): boolean;
  freeze(ms: number): boolean;
  /** One cannot reach the store for so long. */
  cutOff(ms: number): boolean;
  /** The clock that all go by is wrong by so much from now on, in ms; by how much it was set forward. */
  setClock(wrongMs: number): number;
  /** Operators changed the ways. */
  waysChanged(): void;
}

/** What troubles are made of. */
export interface TroublesParts {
  readonly time: VirtualTime;
  readonly dice: Random;
  readonly seen: Seen;
  readonly hop: NextHop;
  readonly nodes: Nodes;
  /** By name. */
  readonly relays: readonly string[];
  readonly spawn: (actor: Promise<void>) => void;
}

/** All that goes wrong with a world, and all that its operators do to it. */
export class Troubles {
  readonly store: StoreFaults;
  readonly spool: SpoolFaults;
  dns: DnsFaults = DNS_HEALTHY;
  settings: EngineSettings;
  readonly #parts: TroublesParts;
  /** Operators hold relays back, and turn the order of a rule around. */
  readonly #holds = new Map<string, HoldKind>();
  /** In some worlds clocks are right. */
  readonly #setsClocks: boolean;
  #isOver = false;

  constructor(parts: TroublesParts, settings: Partial<EngineSettings> = {}) {
    const { dice } = parts;
    this.#parts = parts;
    this.settings = { ...SETTINGS, ...settings, holds: this.#holds };
    const chance = { failBefore: dice.next() * 0.05, failAfter: dice.next() * 0.02 };
    this.store = { ...chance, isFull: false, isAway: false };
    this.spool = { failBefore: dice.next() * 0.1, failAfter: dice.next() * 0.05, failRead: 0, isFull: false };
    this.spool.failRead = dice.next() * 0.05;
    this.#setsClocks = dice.next() < 0.5;
    for (const relay of parts.relays) parts.hop.faultsOf.set(relay, this.#rollHop());
    this.dns = this.#rollDns();
  }

  /** Makes trouble until `end`, in ms of world time. */
  async make(end: number): Promise<void> {
    const { time, dice } = this.#parts;
    while (time.now < end) {
      await time.sleep(dice.next() * 4 * MINUTE);
      if (time.now < end) this.#one();
    }
  }

  /** From now on all is well. */
  end(): void {
    const { hop, nodes } = this.#parts;
    this.#isOver = true;
    this.#holds.clear();
    hop.faultsOf.clear();
    this.dns = DNS_HEALTHY;
    Object.assign(this.store, { failBefore: 0, failAfter: 0, isFull: false, isAway: false });
    Object.assign(this.spool, { failBefore: 0, failAfter: 0, failRead: 0, isFull: false });
    nodes.setClock(0);
    nodes.waysChanged();
  }

  #one(): void {
    const { dice, hop, nodes, relays, seen } = this.#parts;
    const roll = dice.next();
    if (roll < 0.2) {
      if (nodes.crash()) seen.note('crash');
    } else if (roll < 0.25) {
      if (nodes.stop()) seen.note('orderly stop');
    } else if (roll < 0.35) {
      const ms = dice.next() * 2 * MINUTE;
      if (nodes.freeze(ms)) seen.note(ms > 45 * SECOND ? 'freeze past the lease' : 'freeze');
    } else if (roll < 0.43) nodes.cutOff(dice.next() * 2 * MINUTE);
    else if (roll < 0.47) this.#away();
    else if (roll < 0.53) this.#fill();
    else if (roll < 0.6) this.#setClock();
    else if (roll < 0.72) this.#operate();
    else if (roll < 0.8) this.dns = this.#rollDns();
    else hop.faultsOf.set(pick(dice, relays), dice.next() < 0.3 ? DEAD : this.#rollHop());
  }

  /** The store is away from everybody. */
  #away(): void {
    this.store.isAway = true;
    this.#later(this.#parts.dice.next() * 90 * SECOND, () => {
      this.store.isAway = false;
    });
  }

  /** The disk is full: of the spool, of the store, or of both. */
  #fill(): void {
    const { dice } = this.#parts;
    const roll = dice.next();
    this.spool.isFull = roll < 0.7;
    this.store.isFull = roll > 0.3;
    this.#later(dice.next() * MAX_FULL_MS, () => {
      this.spool.isFull = false;
      this.store.isFull = false;
    });
  }

  /** Minutes or hours, forward or back; somebody sets it right some time later. */
  #setClock(): void {
    const { dice, nodes, seen } = this.#parts;
    if (!this.#setsClocks) return;
    const size = dice.next() < 0.5 ? 5 * MINUTE : 3 * 60 * MINUTE;
    const turn = (wrongMs: number) => {
      // Only in trouble does it count as such; in peace clocks are set so that all is over soon.
      if (this.#isOver) return;
      const ms = nodes.setClock(wrongMs);
      if (ms !== 0) seen.note(ms > 0 ? 'clock set forward' : 'clock set back');
    };
    turn(Math.floor((dice.next() - 0.5) * 2 * size));
    this.#later(dice.next() * 15 * MINUTE, () => turn(0));
  }

  /** An operator lays or lifts a hold, or publishes another table. */
  #operate(): void {
    const { dice, nodes, relays, seen } = this.#parts;
    const relay = pick(dice, relays);
    const roll = dice.next();
    if (roll < 0.4) this.#holds.delete(relay);
    else if (roll < 0.7) {
      seen.note('hold laid');
      this.#holds.set(relay, roll < 0.55 ? 'pause' : 'drain');
    } else this.#publish();
    nodes.waysChanged();
  }

  #publish(): void {
    this.#parts.seen.note('routing table published');
    const { routing } = this.settings;
    const rules = routing.rules.map((rule) => ({ ...rule, via: [...rule.via].reverse() }));
    this.settings = { ...this.settings, routing: { ...routing, rules, version: routing.version + 1 } };
  }

  #later(ms: number, act: () => void): void {
    this.#parts.spawn(this.#parts.time.sleep(ms).then(act));
  }

  #rollHop(): HopFaults {
    const { dice } = this.#parts;
    const up_to = (most: number) => (dice.next() < 0.4 ? 0 : dice.next() * most);
    return {
      refuseConnection: dice.next() < 0.15 ? 1 : up_to(0.3),
      ignoreConnection: up_to(0.1),
      refuseGreeting: up_to(0.1),
      deferHello: up_to(0.1),
      rejectHello: up_to(0.3),
      deferSender: up_to(0.2),
      rejectSender: up_to(0.05),
      defer: up_to(0.5),
      reject: up_to(0.1),
      deferData: up_to(0.2),
      rejectData: up_to(0.05),
      deferAfterDot: up_to(0.2),
      rejectAfterDot: up_to(0.05),
      close: up_to(0.05),
      dropBeforeDot: up_to(0.1),
      dropAfterDot: up_to(0.3),
      dawdle: up_to(0.1),
    };
  }

  #rollDns(): DnsFaults {
    const { dice } = this.#parts;
    const up_to = (most: number) => (dice.next() < 0.4 ? 0 : dice.next() * most);
    return { servfail: up_to(0.3), nxdomain: up_to(0.03), timeout: up_to(0.3) };
  }
}

function pick(dice: Random, names: readonly string[]): string {
  return names[Math.floor(dice.next() * names.length)] ?? '';
}
