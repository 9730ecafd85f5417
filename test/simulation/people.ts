import { type Random, seededRandom } from '../../src/lib/random.ts';
import type { Erasures } from '../../src/store/erasing.ts';
import type { SuppressionList } from '../../src/store/suppressions.ts';
import type { Views } from '../../src/store/views.ts';
import { Aftermaths } from './aftermath.ts';
import { Customers } from './customers.ts';
import { Erasers } from './erasers.ts';
import type { StoreFaults } from './faulty-store.ts';
import { Forgers } from './forgers.ts';
import type { Watch } from './invariants.ts';
import type { Ledger } from './ledger.ts';
import { Mailboxes } from './mailboxes.ts';
import type { NextHop } from './next-hop.ts';
import type { Process } from './operators.ts';
import { Receivers } from './receivers.ts';
import type { Seen } from './seen.ts';
import type { InvariantBroken } from './statuses.ts';
import type { VirtualTime } from './virtual-clock.ts';

/** What all the people of a world are made of. */
export interface PeopleParts {
  readonly seed: number;
  readonly troubleMs: number;
  readonly time: VirtualTime;
  /** The world's dice. */
  readonly dice: Random;
  readonly seen: Seen;
  readonly watch: Watch;
  readonly ledger: Ledger;
  readonly hop: NextHop;
  readonly stores: {
    readonly views: Views;
    readonly suppressions: SuppressionList;
    readonly erasures: Erasures;
  };
  readonly faults: StoreFaults;
  /** The nodes that take mail. */
  readonly nodes: readonly Process[];
  /** Wall ms, by a clock that is right. */
  readonly wall: () => number;
  readonly spawn: (actor: Promise<void>) => void;
}

/** Everybody who has to do with the mail of a world: those who write it, get it, forge news of it, or will be forgotten. */
export class People {
  readonly customers: Customers;
  readonly aftermaths: Aftermaths;
  readonly erasers: Erasers;
  readonly #receivers: Receivers;
  readonly #forgers: Forgers;
  readonly #parts: PeopleParts;

  constructor(parts: PeopleParts) {
    const { seed, time, dice, seen, watch, ledger, hop, stores, faults, nodes, wall, spawn } = parts;
    this.#parts = parts;
    // Each has dice of its own: see `Mailboxes`.
    const mailboxes = new Mailboxes(seededRandom(-seed));
    const anyEngine = (any: Random) => () => nodes[Math.floor(any.next() * nodes.length)]?.engine;
    const shared = { time, seen, watch, ledger, mailboxes, wall, spawn };
    this.customers = new Customers({ ...shared, dice, anyEngine: anyEngine(dice) });
    this.aftermaths = new Aftermaths(watch.story, hop.taken, () => time.now);
    watch.onlooker = this.aftermaths;
    const { aftermaths, customers } = this;
    const { suppressions } = stores;
    const receiving = (dice: Random) => ({
      ...shared,
      dice,
      aftermaths,
      suppressions,
      anyEngine: anyEngine(dice),
    });
    this.#receivers = new Receivers(receiving(seededRandom(-1000 - seed)));
    this.#forgers = new Forgers(receiving(seededRandom(-2000 - seed)));
    const own = { dice: seededRandom(-4000 - seed), customers, receivers: this.#receivers };
    this.erasers = new Erasers({ ...shared, ...stores, ...own, faults }, parts.troubleMs);
    hop.refusal = (address) => this.erasers.refusal(address) ?? mailboxes.refusal(address);
    hop.onTaken = (copy) => {
      for (const one of [this.#receivers, this.#forgers, this.erasers]) one.took(copy);
    };
  }

  /** They begin to do what they do while there is trouble. */
  begin(): void {
    const { spawn, troubleMs } = this.#parts;
    spawn(this.customers.submitMail(troubleMs));
    spawn(this.customers.changeMinds(troubleMs));
    spawn(this.#receivers.lookAtTheList(troubleMs));
    spawn(this.#forgers.forge(troubleMs));
    spawn(this.erasers.live());
  }

  /** What any of them found first. */
  get broken(): InvariantBroken | null {
    return this.aftermaths.broken ?? this.erasers.broken;
  }

  /** Nobody waits for anything. */
  get areQuiet(): boolean {
    return this.#receivers.isQuiet && this.aftermaths.isQuiet && this.erasers.isQuiet;
  }

  /** What all of them know at the end is so. */
  async check(views: Views): Promise<void> {
    await this.aftermaths.check(views);
    await this.#forgers.check();
    await this.erasers.check();
  }
}
