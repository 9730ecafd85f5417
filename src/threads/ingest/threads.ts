import { createServer } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { Worker } from 'node:worker_threads';
import { bytesInThreads, type IngestRooms, type MailListeners } from '../../app/mail-parts.ts';
import type { Config } from '../../config/schema.ts';
import type { ChallengeAnswer } from '../../domain/certificate.ts';
import type { RateMember } from '../../ingest/shared.ts';
import type { Clock } from '../../lib/clock.ts';
import { bindAll } from '../../lib/listen.ts';
import type { Log } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import { startThread } from '../../lib/thread.ts';
import type { Events, Unsubscribe } from '../../observe/events.ts';
import type { Cluster, RateUnits } from '../../store/cluster.ts';
import type { KeyAndCertificate } from '../../tls/self-signed.ts';
import { workerUrl } from '../wire.ts';
import { type CallsUnderWay, engineRooms } from './engine-rooms.ts';
import { Line, remote } from './line.ts';
import type { FromIngest, IngestStart, IngestState, IngestVerbs, ToIngest } from './messages.ts';
import { crowdBuffer, SharedCrowd, SharedUnits, unitsBuffer } from './shared-counts.ts';

/** How often to check whether the threads need news, in ms. */
const LOOK_MS = 50;
/** How long after the deadline a thread may take to interrupt what is left, in ms. */
const CLOSE_MS = 1_000;
/** As much as the main thread has for the same work (`waybill`). */
const MEMORY = { maxYoungGenerationSizeMb: 48 };

/** What the ingest threads need. */
export interface IngestThreadsParts {
  readonly live: { readonly config: Config };
  readonly rooms: IngestRooms;
  /** Where other nodes count the same keys; null: this process is the only one. */
  readonly others: RateMember | null;
  readonly tls: KeyAndCertificate | null;
  readonly state: () => IngestState;
  readonly events: Events;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Aborts when the service stops. */
  readonly signal: AbortSignal;
  /** Called once when a thread has died. */
  readonly onDeath: (error: Error & { readonly code: string }) => void;
}

/** An ingest thread ended unexpectedly: its connections are lost, and the process must end. */
class IngestThreadError extends Error {
  readonly code = 'ingest_thread_died';
  constructor(cause: unknown) {
    super(`a thread that takes mail died: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'IngestThreadError';
  }
}

/** Starts `threads.ingest` threads, which do not listen yet. */
export function startIngestThreads(parts: IngestThreadsParts): MailListeners {
  return new IngestThreads(parts);
}

class IngestThreads implements MailListeners {
  readonly #parts: IngestThreadsParts;
  readonly #threads: readonly IngestThread[];
  readonly #crowd: SharedCrowd;
  readonly #units: SharedUnits;
  #closing = false;
  /** The configuration last sent to the threads. */
  #config: Config;
  #state = '';

  constructor(parts: IngestThreadsParts) {
    const { live, tls, others, random } = parts;
    const count = live.config.threads.ingest;
    const crowd = crowdBuffer(Math.floor(random.next() * 2 ** 32));
    const units = unitsBuffer(bytesInThreads(live.config));
    const common = { config: live.config, tls, crowd, units, sharesTime: others !== null };
    this.#parts = parts;
    this.#config = live.config;
    this.#crowd = new SharedCrowd(crowd);
    this.#units = new SharedUnits(units);
    const book = { keys: others?.cluster ?? new RateBook(), sources: new RateBook() };
    this.#threads = Array.from({ length: count }, (_, place) => {
      const start = { ...common, name: `${others?.node ?? ''}/${place}` };
      return new IngestThread(start, parts, book, {
        tellOthers: (note) => this.#tellAll(note, place),
        died: (error) => {
          if (!this.#closing) parts.onDeath(new IngestThreadError(error));
        },
      });
    });
    parts.signal.addEventListener('abort', () => this.#tellAll({ kind: 'stopping' }), { once: true });
    void this.#keepInformed();
  }

  get connections(): number {
    return this.#crowd.size;
  }

  get bytesInFlight(): number {
    return bytesInThreads(this.#parts.live.config) - this.#units.free;
  }

  async listenApi(port: number, isTls: boolean): Promise<number> {
    const free = await freePort(this.#parts.live.config.api.bind, port);
    await this.#listenAll((verbs) => verbs.listenApi(free, isTls));
    return free;
  }

  async listenSmtp(hosts: readonly string[], port: number, implicitTls: boolean): Promise<number> {
    const free = await freePort(hosts, port);
    await this.#listenAll((verbs) => verbs.listenSmtp(hosts, free, implicitTls));
    return free;
  }

  setSecureContext({ key, cert }: SecureContextOptions): void {
    this.#tellAll({ kind: 'tls', tls: { key: String(key), cert: String(cert) } });
  }

  setChallenges(answers: readonly ChallengeAnswer[]): void {
    this.#tellAll({ kind: 'challenges', answers });
  }

  async configured(): Promise<void> {
    this.#inform();
    await Promise.all(this.#threads.map(({ verbs }) => verbs.heed()));
  }

  async close(deadline: AbortSignal): Promise<void> {
    const late = () => this.#tellAll({ kind: 'deadline' });
    deadline.addEventListener('abort', late, { once: true });
    if (deadline.aborted) late();
    const closed = Promise.allSettled(this.#threads.map(({ verbs }) => verbs.close()));
    // A thread that hangs is terminated.
    await Promise.race([closed, this.#longAfter(deadline)]);
    deadline.removeEventListener('abort', late);
    this.#closing = true;
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  /**
   * The first thread binds the port before the others ask for it: no other program can take it in between, so all
   * threads get it, or none.
   */
  async #listenAll(listen: (verbs: IngestVerbs) => Promise<number>): Promise<void> {
    const [first, ...others] = this.#threads;
    if (first !== undefined) await listen(first.verbs);
    await Promise.all(others.map(({ verbs }) => listen(verbs)));
  }

  async #longAfter(deadline: AbortSignal): Promise<void> {
    if (!deadline.aborted)
      await new Promise((resolve) => deadline.addEventListener('abort', resolve, { once: true }));
    await this.#parts.clock.sleep(CLOSE_MS);
  }

  #tellAll(note: ToIngest, except: number | null = null): void {
    for (const [place, thread] of this.#threads.entries()) if (place !== except) thread.tell(note);
  }

  async #keepInformed(): Promise<void> {
    while (!this.#closing) {
      this.#inform();
      await this.#parts.clock.sleep(LOOK_MS);
    }
  }

  /** Tells the threads of a new configuration, and whether mail is accepted. */
  #inform(): void {
    const { config } = this.#parts.live;
    if (config !== this.#config) this.#tellAll({ kind: 'config', config });
    this.#config = config;
    const state = this.#parts.state();
    const text = JSON.stringify(state);
    if (text !== this.#state) this.#tellAll({ kind: 'state', state });
    this.#state = text;
  }
}

/** What one thread may trigger in the others. */
interface Neighbours {
  readonly tellOthers: (note: ToIngest) => void;
  readonly died: (error: unknown) => void;
}

class IngestThread {
  readonly verbs: IngestVerbs;
  readonly #parts: IngestThreadsParts;
  readonly #neighbours: Neighbours;
  readonly #worker: Worker;
  readonly #line: Line<ToIngest, FromIngest>;
  readonly #calls: CallsUnderWay = new Map();
  #unsubscribe: Unsubscribe | null = null;

  constructor(
    start: IngestStart,
    parts: IngestThreadsParts,
    book: { readonly keys: RateMember['cluster']; readonly sources: RateMember['cluster'] },
    neighbours: Neighbours,
  ) {
    this.#parts = parts;
    this.#neighbours = neighbours;
    this.#worker = startThread(workerUrl('ingest-worker'), { workerData: start, resourceLimits: MEMORY });
    const rooms = engineRooms(parts.rooms, this.#calls, (call, step) =>
      this.tell({ kind: 'step', call, step }),
    );
    this.#line = new Line<ToIngest, FromIngest>(
      this.#worker,
      {
        ...rooms,
        keyRates: book.keys,
        sourceRates: book.sources,
        time: { now: () => parts.clock.wall() },
      },
      (note) => this.#hear(note),
    );
    this.verbs = remote((...asked) => this.#line.ask(...asked), 'ingest');
    const dead = (error: unknown) => {
      this.#line.end(new IngestThreadError(error));
      neighbours.died(error);
    };
    this.#worker.once('error', dead).once('exit', () => dead('it ended without a reason'));
  }

  tell(note: ToIngest): void {
    this.#line.tell(note);
  }

  async end(): Promise<void> {
    this.#unsubscribe?.();
    await this.#worker.terminate();
  }

  #hear(note: FromIngest): void {
    // Its log lines were already published as events where they were written.
    const { log: destination, events } = this.#parts;
    switch (note.kind) {
      case 'log':
        destination[note.level](note.event, note.fields);
        break;
      case 'event':
        events.emit(note.event);
        break;
      case 'listening':
        this.#listen(note.isListening);
        break;
      case 'source':
        this.#neighbours.tellOthers(note);
        break;
      case 'abort':
        this.#calls.get(note.call)?.abort();
        break;
    }
  }

  /** Forwards the events that readers wait for, while there are any. */
  #listen(isListening: boolean): void {
    this.#unsubscribe?.();
    this.#unsubscribe = isListening
      ? this.#parts.events.on((event) => this.tell({ kind: 'event', event }))
      : null;
  }
}

/**
 * A port that is free on these addresses: the given one, or any for 0. The threads share it, and another program of the
 * same user could share it too; so it is first bound without sharing. Rejects with `ListenError`.
 */
async function freePort(hosts: readonly string[], port: number): Promise<number> {
  const { servers, port: free } = await bindAll(
    hosts,
    port,
    () => createServer((socket) => socket.destroy()),
    () => {},
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return free;
}

/** How many seconds of each thread's admissions are kept: every thread asks several times a second. */
const KEPT_SECONDS = 10;

interface Units extends Omit<RateUnits, 'units' | 'second'> {
  readonly byThread: Map<string, number>;
}

/** Where the ingest threads of one process exchange what they admitted. Units are whole numbers, like the cluster's. */
export class RateBook implements Pick<Cluster, 'exchangeRates'> {
  /** By second, then by window and key. */
  readonly #seconds = new Map<number, Map<string, Units>>();

  async exchangeRates(thread: string, mine: readonly RateUnits[], sinceSecond: number): Promise<RateUnits[]> {
    for (const one of mine) this.#add(thread, one);
    return [...this.#seconds].flatMap(([second, windows]) =>
      second < sinceSecond ? [] : othersIn(second, windows, thread),
    );
  }

  #add(thread: string, { keyId, window, second, units }: RateUnits): void {
    const windows = this.#seconds.get(second) ?? this.#begin(second);
    const name = `${window}:${keyId}`;
    const known = windows.get(name) ?? { keyId, window, byThread: new Map<string, number>() };
    known.byThread.set(thread, units + (known.byThread.get(thread) ?? 0));
    windows.set(name, known);
  }

  #begin(second: number): Map<string, Units> {
    const windows = new Map<string, Units>();
    this.#seconds.set(second, windows);
    for (const known of this.#seconds.keys()) if (known <= second - KEPT_SECONDS) this.#seconds.delete(known);
    return windows;
  }
}

function othersIn(second: number, windows: ReadonlyMap<string, Units>, thread: string): RateUnits[] {
  const told: RateUnits[] = [];
  for (const { keyId, window, byThread } of windows.values()) {
    let units = 0;
    for (const [name, own] of byThread) if (name !== thread) units += own;
    if (units > 0) told.push({ keyId, window, second, units });
  }
  return told;
}
