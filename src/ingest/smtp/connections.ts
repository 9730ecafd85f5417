import type { Clock } from '../../lib/clock.ts';
import { type Crowd, SourceCounts } from './crowd.ts';
import type { SmtpOptions } from './options.ts';
import { deny, type Refusal } from './refusal.ts';

/** How long a client may be silent, in ms: shorter as connections get scarce. */
export interface Timeouts {
  readonly commandMs: number;
  readonly dataMs: number;
}

/** An open connection, in any phase. */
export interface Member {
  /** Checks whether its time is up. */
  look(now: number, timeouts: Timeouts): void;
  /** The service stops: ends after the work in progress. */
  shutDown(): void;
  /** Ends at once. */
  destroy(): void;
}

/** How often time-outs are checked, in ms. */
const LOOK_MS = 1000;
/** The shares of the allowed connections at which time-outs begin to shrink, and at which they are shortest. */
const BUSY_FROM = 0.5;
const BUSIEST_FROM = 0.9;
/** Refused connections that are told why before they close; further ones are just closed. */
const MAX_TURNED_AWAY = 500;
/** The same for one source: clients that do not leave must not keep others from being told. */
export const MAX_TURNED_AWAY_OF_SOURCE = 20;

/**
 * The listener's open connections: how many are allowed, in all and per source, and how long they may be silent. One
 * timer serves them all.
 */
export class Connections {
  readonly #clock: Clock;
  readonly #options: Pick<SmtpOptions, 'settings'>;
  readonly #members = new Set<Member>();
  readonly #crowd: Crowd;
  readonly #turnedAway = new SourceCounts();
  readonly #stopping = new AbortController();
  #running = false;
  #closing = false;
  /** Called when the last connection has ended, once that is awaited. */
  #onEmpty: (() => void) | null = null;

  constructor(clock: Clock, options: Pick<SmtpOptions, 'settings'>, crowd: Crowd) {
    this.#clock = clock;
    this.#options = options;
    this.#crowd = crowd;
  }

  get size(): number {
    return this.#members.size;
  }

  /** The service stops: new connections come too late. */
  get closing(): boolean {
    return this.#closing;
  }

  /** The refusal of one more connection when there are too many in all. */
  full(): Refusal | null {
    const { maxConnections } = this.#options.settings;
    return this.#crowd.size < maxConnections
      ? null
      : deny(
          'too_many_connections',
          421,
          '4.3.2',
          `Too many connections; at most ${maxConnections} are allowed (listener.max_connections). Try again soon`,
        );
  }

  /** Adds a connection. */
  add(member: Member): void {
    if (this.#members.has(member)) return;
    this.#members.add(member);
    this.#crowd.enter();
    if (!this.#running) void this.#run();
  }

  /** Replaces a connection by its next phase. */
  replace(before: Member, after: Member): void {
    this.#drop(before);
    this.add(after);
  }

  remove(member: Member): void {
    this.#drop(member);
    if (this.size === 0) this.#onEmpty?.();
  }

  /** Counts a connection of a source; refuses it, uncounted, when the source has too many. */
  claim(address: string): Refusal | null {
    const { maxConnectionsPerSource } = this.#options.settings;
    if (!this.#crowd.claim(address, maxConnectionsPerSource))
      return deny(
        'too_many_connections_of_source',
        421,
        '4.7.0',
        `Too many connections from ${address}; at most ${maxConnectionsPerSource} are allowed (listener.max_connections_per_source)`,
      );
    return null;
  }

  unclaim(address: string): void {
    this.#crowd.unclaim(address);
  }

  /** Reserves room to tell a refused connection why, null if there is none; call the returned function when it ends. */
  turnAway(address: string): (() => void) | null {
    if (this.#turnedAway.total >= MAX_TURNED_AWAY) return null;
    if (!this.#turnedAway.add(address, MAX_TURNED_AWAY_OF_SOURCE)) return null;
    return () => this.#turnedAway.remove(address);
  }

  timeouts(): Timeouts {
    const { maxConnections, commandTimeoutSeconds, dataTimeoutSeconds, busyTimeoutSeconds } =
      this.#options.settings;
    const share = (this.#crowd.size / maxConnections - BUSY_FROM) / (BUSIEST_FROM - BUSY_FROM);
    const busy = Math.min(1, Math.max(0, share));
    const shrunk = (seconds: number) => (seconds - busy * Math.max(0, seconds - busyTimeoutSeconds)) * 1000;
    return { commandMs: shrunk(commandTimeoutSeconds), dataMs: shrunk(dataTimeoutSeconds) };
  }

  /** Tells all connections that the service stops. Resolves when none is left; ends them when the signal aborts. */
  async close(deadline: AbortSignal): Promise<void> {
    this.#closing = true;
    for (const member of this.#members) member.shutDown();
    if (this.size > 0 && !deadline.aborted)
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
        deadline.addEventListener('abort', () => resolve(), { once: true });
      });
    for (const member of this.#members) member.destroy();
    this.#stopping.abort();
  }

  #drop(member: Member): void {
    if (this.#members.delete(member)) this.#crowd.leave();
  }

  async #run(): Promise<void> {
    this.#running = true;
    const { signal } = this.#stopping;
    while (this.size > 0 && !signal.aborted) {
      await this.#clock.sleep(LOOK_MS, signal);
      const now = this.#clock.mono();
      const timeouts = this.timeouts();
      for (const member of this.#members) member.look(now, timeouts);
    }
    this.#running = false;
  }
}
