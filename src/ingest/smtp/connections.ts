import type { Clock } from '../../lib/clock.ts';
import { type Crowd, SourceCounts } from './crowd.ts';
import type { SmtpOptions } from './options.ts';
import { deny, type Refusal } from './refusal.ts';

/** How long a client may be silent now, in ms: shorter as connections get scarce. */
export interface Timeouts {
  readonly commandMs: number;
  readonly dataMs: number;
}

/** An open connection, in whichever phase it is. */
export interface Member {
  /** Looks whether its time is up. */
  look(now: number, timeouts: Timeouts): void;
  /** The service stops: ends when what is under way has ended. */
  shutDown(): void;
  /** Ends at once. */
  destroy(): void;
}

/** How often time-outs are looked at. */
const LOOK_MS = 1000;
/** Of the connections there may be, the part from which time-outs begin to shrink, and where they are shortest. */
const BUSY_FROM = 0.5;
const BUSIEST_FROM = 0.9;
/** Connections turned away that are told why before they are closed; of more, the next ones are just closed. */
const MAX_TURNED_AWAY = 500;
/** Of these of one source: those that do not leave when told must not take the words from others. */
export const MAX_TURNED_AWAY_OF_SOURCE = 20;

/**
 * The listener's open connections: how many there may be, in all and of one source, and how long they may be silent.
 * One timer serves all of them.
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
  /** Told when the last connection has ended, once it is waited for. */
  #onEmpty: (() => void) | null = null;

  constructor(clock: Clock, options: Pick<SmtpOptions, 'settings'>, crowd: Crowd) {
    this.#clock = clock;
    this.#options = options;
    this.#crowd = crowd;
  }

  /** Connections open now. */
  get size(): number {
    return this.#members.size;
  }

  /** The service stops: who comes now comes too late. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Whether one more would be too many in all. */
  full(): Refusal | null {
    const { maxConnections } = this.#options.settings;
    return this.#crowd.size < maxConnections
      ? null
      : deny(
          'too_many_connections',
          421,
          '4.3.2',
          `Too many connections; at most ${maxConnections} are taken (listener.max_connections). Try again soon`,
        );
  }

  /** Adds a connection. */
  add(member: Member): void {
    if (this.#members.has(member)) return;
    this.#members.add(member);
    this.#crowd.enter();
    if (!this.#running) void this.#run();
  }

  /** The next phase of a connection takes the place of the one before. */
  replace(before: Member, after: Member): void {
    this.#drop(before);
    this.add(after);
  }

  /** A connection has ended. */
  remove(member: Member): void {
    this.#drop(member);
    if (this.size === 0) this.#onEmpty?.();
  }

  /** Counts a connection of a source; refuses it, and counts nothing, when the source has too many. */
  claim(address: string): Refusal | null {
    const { maxConnectionsPerSource } = this.#options.settings;
    if (!this.#crowd.claim(address, maxConnectionsPerSource))
      return deny(
        'too_many_connections_of_source',
        421,
        '4.7.0',
        `Too many connections from ${address}; at most ${maxConnectionsPerSource} are taken (listener.max_connections_per_source)`,
      );
    return null;
  }

  /** A connection that was counted has ended. */
  unclaim(address: string): void {
    this.#crowd.unclaim(address);
  }

  /** Whether there is room to say why to one that is turned away; the function returned must be called at its end. */
  turnAway(address: string): (() => void) | null {
    if (this.#turnedAway.total >= MAX_TURNED_AWAY) return null;
    if (!this.#turnedAway.add(address, MAX_TURNED_AWAY_OF_SOURCE)) return null;
    return () => this.#turnedAway.remove(address);
  }

  /** How long clients may be silent now. */
  timeouts(): Timeouts {
    const { maxConnections, commandTimeoutSeconds, dataTimeoutSeconds, busyTimeoutSeconds } =
      this.#options.settings;
    const share = (this.#crowd.size / maxConnections - BUSY_FROM) / (BUSIEST_FROM - BUSY_FROM);
    const busy = Math.min(1, Math.max(0, share));
    const shrunk = (seconds: number) => (seconds - busy * Math.max(0, seconds - busyTimeoutSeconds)) * 1000;
    return { commandMs: shrunk(commandTimeoutSeconds), dataMs: shrunk(dataTimeoutSeconds) };
  }

  /** Tells all of them that the service stops; resolves when none is left, or ends them when the signal aborts. */
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
