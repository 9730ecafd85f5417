import type { Relay } from '../../src/domain/relay.ts';
import type { RoutingTable } from '../../src/domain/route.ts';
import type { EngineSettings } from '../../src/engine/contract.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Random } from '../../src/lib/random.ts';
import type { Transport } from '../../src/transport/transport.ts';
import type { Ledger } from './ledger.ts';
import { DECIDED_MS, type RelaysInForce } from './limits.ts';
import { MAX_AGE_MS, SETTINGS } from './scene.ts';
import type { Seen } from './seen.ts';
import type { NodeLife, VirtualTime } from './virtual-clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** A node hears of what was applied so much later, in ms. */
const HEARS_MS = 5 * SECOND;
/**
 * The relay that a plan may remove: its rule has another. Not that other one: what was routed meanwhile would be left
 * with a relay that has a quota, and wait for the next day.
 */
const REMOVABLE = 'third';

/** A process that is told of changes. */
export interface Process {
  readonly life: NodeLife;
  readonly engine: Engine;
}

/** What operators are made of. */
export interface OperatorsParts {
  readonly time: VirtualTime;
  /** No others' dice. */
  readonly dice: Random;
  readonly seen: Seen;
  readonly ledger: Ledger;
  /** What all engines are told. */
  readonly live: { settings: EngineSettings };
  readonly processes: () => Iterable<Process>;
  readonly transportOf: (life: NodeLife, relay: Relay) => Transport;
  /** Tells engines that there are other ways. */
  readonly waysChanged: () => void;
  readonly spawn: (actor: Promise<void>) => void;
}

/**
 * Operators who apply plans while mail is under way: relays get other limits, are disabled, removed and added again, and
 * mail is retried otherwise. Every node hears of it a little later, or once it runs again.
 */
export class Operators implements RelaysInForce {
  readonly #parts: OperatorsParts;
  readonly #first: ReadonlyMap<string, Relay>;
  readonly #table: RoutingTable;
  /** Of every relay that there ever was; null: it is removed. */
  readonly #relays: Map<string, Relay | null>;
  readonly #unheard = new Map<string, Set<NodeLife>>();
  readonly #heardAt = new Map<string, number>();
  readonly #formerly = new Map<string, readonly Relay[]>();

  constructor(relays: readonly Relay[], parts: OperatorsParts) {
    this.#parts = parts;
    this.#first = new Map(relays.map((relay) => [relay.name, relay]));
    this.#relays = new Map(this.#first);
    this.#table = parts.live.settings.routing;
  }

  /** See {@link RelaysInForce}. */
  inForce(name: string): Relay | null | undefined {
    return this.#relays.get(name);
  }

  /** See {@link RelaysInForce}. */
  heardAt(name: string): number {
    for (const life of this.#unheard.get(name) ?? []) if (!life.dead) return Number.POSITIVE_INFINITY;
    return this.#heardAt.get(name) ?? Number.NEGATIVE_INFINITY;
  }

  /** See {@link RelaysInForce}. */
  formerly(name: string): readonly Relay[] {
    const isSettled = this.heardAt(name) + DECIDED_MS < this.#parts.time.now;
    return isSettled ? [] : (this.#formerly.get(name) ?? []);
  }

  /** A process begins with what there is now. */
  equip(process: Process): void {
    for (const relay of this.#relays.values()) if (relay !== null) this.#put(process, relay);
  }

  /** Applies plans until `end`, in ms of world time. */
  async apply(end: number): Promise<void> {
    const { time, dice } = this.#parts;
    while (time.now < end) {
      await time.sleep(dice.next() * 8 * MINUTE);
      if (time.now < end) this.#one();
    }
  }

  /** Everything is as it was at first. */
  end(): void {
    for (const [name, relay] of this.#first) if (this.#relays.get(name) !== relay) this.#applied(name, relay);
    this.#retry(SETTINGS.retry);
    this.#routed();
  }

  #one(): void {
    const { dice, seen } = this.#parts;
    const names = [...this.#relays.keys()];
    const name = names[Math.floor(dice.next() * names.length)] ?? '';
    const relay = this.#relays.get(name) ?? null;
    const roll = dice.next();
    if (relay === null || (roll < 0.2 && name === REMOVABLE)) this.#removeOrAdd(name, relay);
    else if (roll < 0.7) this.#limit(relay);
    else if (roll < 0.85 || relay.disabled) {
      if (!relay.disabled) seen.note('relay disabled');
      this.#applied(name, { ...relay, disabled: !relay.disabled });
    } else this.#retryOtherwise();
  }

  /** A relay that rules name is removed from them, too. */
  #removeOrAdd(name: string, relay: Relay | null): void {
    const { seen } = this.#parts;
    seen.note(relay === null ? 'relay added again' : 'relay removed');
    this.#applied(name, relay === null ? (this.#first.get(name) ?? null) : null);
    this.#routed();
  }

  #limit(relay: Relay): void {
    const { dice, seen } = this.#parts;
    const { limits, mx } = relay;
    const maxConcurrency = 1 + Math.floor(dice.next() * 8);
    const maxPerDay = limits.maxPerDay === 0 ? 0 : 20 + Math.floor(dice.next() * 80);
    const isLower = maxConcurrency < limits.maxConcurrency || maxPerDay < limits.maxPerDay;
    seen.note(isLower ? 'relay limits lowered' : 'relay limits raised');
    this.#applied(relay.name, {
      ...relay,
      limits: { ...limits, maxConcurrency, maxPerDay },
      mx: mx === null ? null : { ...mx, maxPerDomain: 1 + Math.floor(dice.next() * 3) },
    });
  }

  #retryOtherwise(): void {
    const { dice, seen } = this.#parts;
    seen.note('retry settings changed');
    this.#retry({
      ...SETTINGS.retry,
      firstMs: Math.floor((1 + dice.next() * 29) * SECOND),
      maxMs: Math.floor((1 + dice.next() * 4) * MINUTE),
      maxAgeMs: Math.floor(MAX_AGE_MS * (0.6 + 0.4 * dice.next())),
    });
  }

  #retry(retry: EngineSettings['retry']): void {
    const { live, ledger } = this.#parts;
    live.settings = { ...live.settings, retry };
    ledger.agesAre(retry.maxAgeMs);
  }

  /** Rules have the relays that there are, in the order in which they have them now. */
  #routed(): void {
    const { live, waysChanged } = this.#parts;
    const { routing } = live.settings;
    const rules = routing.rules.map((rule) => {
      const kept = rule.via.filter(({ relay }) => this.#relays.get(relay) !== null);
      const first = this.#table.rules.find(({ name }) => name === rule.name)?.via ?? [];
      const added = first.filter(
        ({ relay }) => this.#relays.get(relay) !== null && !kept.some((one) => one.relay === relay),
      );
      return { ...rule, via: [...kept, ...added] };
    });
    live.settings = { ...live.settings, routing: { ...routing, rules, version: routing.version + 1 } };
    waysChanged();
  }

  #applied(name: string, relay: Relay | null): void {
    const { time, dice, processes, spawn } = this.#parts;
    const former = this.#relays.get(name) ?? null;
    this.#formerly.set(name, [...this.formerly(name), ...(former === null ? [] : [former])]);
    this.#relays.set(name, relay);
    this.#heardAt.set(name, time.now);
    const unheard = this.#unheard.get(name) ?? new Set();
    this.#unheard.set(name, unheard);
    for (const process of processes()) {
      unheard.add(process.life);
      spawn(time.sleep(dice.next() * HEARS_MS).then(() => this.#hears(process, name, unheard)));
    }
  }

  async #hears(process: Process, name: string, unheard: Set<NodeLife>): Promise<void> {
    const { life, engine } = process;
    await life.running();
    const relay = this.#relays.get(name) ?? null;
    if (relay === null) engine.relays.remove(name);
    else this.#put(process, relay);
    unheard.delete(life);
    this.#heardAt.set(name, this.#parts.time.now);
  }

  #put({ life, engine }: Process, relay: Relay): void {
    engine.relays.put(relay, this.#parts.transportOf(life, relay));
  }
}
