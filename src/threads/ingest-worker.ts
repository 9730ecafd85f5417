/** An ingest thread: the ports that accept mail, and all that is decided before a message goes to the engine. */
import { parentPort, workerData } from 'node:worker_threads';
import { createMailListeners } from '../app/mail-listeners.ts';
import { type MailListeners, sharedLimitsOf } from '../app/mail-parts.ts';
import { createShared, type RateMember } from '../ingest/shared.ts';
import { systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { systemRandom } from '../lib/random.ts';
import { SharedClock } from '../lib/shared-clock.ts';
import { type Event, Events, type Unsubscribe } from '../observe/events.ts';
import { Line, remote } from './ingest/line.ts';
import type { Deed, FromIngest, IngestStart, IngestState, IngestVerbs, ToIngest } from './ingest/messages.ts';
import { RemoteIntake } from './ingest/remote-intake.ts';
import { remoteRooms, type StepsHeard } from './ingest/remote-rooms.ts';
import { SharedCrowd, SharedUnits } from './ingest/shared-counts.ts';

/** Passes events of this thread to the other one, and receives those of the other while somebody listens. */
class SharedEvents extends Events {
  readonly #tell: (note: FromIngest) => void;
  #listeners = 0;

  constructor(tell: (note: FromIngest) => void) {
    super();
    this.#tell = tell;
  }

  override emit(event: Event): void {
    this.#tell({ kind: 'event', event });
  }

  override on(listener: (event: Event) => void): Unsubscribe {
    if (this.#listeners++ === 0) this.#tell({ kind: 'listening', isListening: true });
    const unsubscribe = super.on(listener);
    return () => {
      unsubscribe();
      if (--this.#listeners === 0) this.#tell({ kind: 'listening', isListening: false });
    };
  }

  /** An event of the other thread. */
  hear(event: Event): void {
    super.emit(event);
  }
}

class IngestThread implements IngestVerbs {
  readonly #line: Line<FromIngest, ToIngest>;
  readonly #clock = new SharedClock(systemClock);
  readonly #events: SharedEvents;
  readonly #steps: StepsHeard = new Map();
  readonly #stopping = new AbortController();
  readonly #deadline = new AbortController();
  readonly #log: Log;
  readonly #shared: ReturnType<typeof createShared>;
  readonly #listeners: MailListeners;
  readonly #live: { config: IngestStart['config'] };
  /** Resolves once the clock is set. */
  readonly #timed: Promise<void>;
  #state: IngestState = { suspension: null, ready: true, webuiPort: null };

  constructor(port: NonNullable<typeof parentPort>, start: IngestStart) {
    const line = new Line<FromIngest, ToIngest>(port, { ingest: this }, (note) => this.#hear(note));
    const tell = (note: FromIngest) => line.tell(note);
    const logAs =
      (level: keyof Log): Log['info'] =>
      (event, fields) =>
        tell({ kind: 'log', level, event, fields });
    const log = { debug: logAs('debug'), info: logAs('info'), warn: logAs('warn'), error: logAs('error') };
    const live = { config: start.config };
    const clock = this.#clock;
    const { signal } = this.#stopping;
    const events = new SharedEvents(tell);
    const state = () => this.#state;
    const intake = new RemoteIntake({ line, state, clock, random: systemRandom });
    const rooms = remoteRooms(line, intake, this.#steps, () => live.config);
    const member = (room: string): RateMember => ({
      cluster: remote((...asked) => line.ask(...asked), room),
      node: start.name,
    });
    const news = (deed: Deed) => (group: string) => tell({ kind: 'source', deed, group });
    const shared = createShared(
      {
        keyring: rooms.keyring,
        signing: rooms.signing,
        clock,
        log,
        others: member('keyRates'),
        threads: {
          sources: member('sourceRates'),
          news: { completed: news('completed'), spokeHttp: news('spokeHttp') },
        },
      },
      sharedLimitsOf(start.config, new SharedUnits(start.units)),
      signal,
    );
    this.#line = line;
    this.#events = events;
    this.#log = log;
    this.#live = live;
    this.#shared = shared;
    this.#listeners = createMailListeners(
      {
        live,
        rooms,
        shared,
        events,
        clock,
        log,
        signal,
        random: systemRandom,
        crowd: new SharedCrowd(start.crowd),
        webuiPort: () => this.#state.webuiPort,
        ready: () => this.#state.ready,
      },
      start.tls,
    );
    this.#timed = start.sharesTime ? this.#followTime() : Promise.resolve();
  }

  async listenApi(port: number, isTls: boolean): Promise<number> {
    await this.#timed;
    return this.#listeners.listenApi(port, isTls);
  }

  async listenSmtp(hosts: readonly string[], port: number, implicitTls: boolean): Promise<number> {
    await this.#timed;
    return this.#listeners.listenSmtp(hosts, port, implicitTls);
  }

  async heed(): Promise<void> {}

  async close(): Promise<void> {
    await this.#listeners.close(this.#deadline.signal);
    await this.#line.idle();
  }

  async #followTime(): Promise<void> {
    await this.#clock.follow(() => this.#line.ask('time', 'now', []) as Promise<number>);
    void this.#clock.keep(this.#log, this.#stopping.signal);
  }

  #hear(note: ToIngest): void {
    switch (note.kind) {
      case 'source':
        this.#shared[note.deed].hear(note.group, this.#clock.mono());
        break;
      case 'config':
        this.#live.config = note.config;
        break;
      case 'tls':
        this.#listeners.setSecureContext(note.tls);
        break;
      case 'challenges':
        this.#listeners.setChallenges(note.answers);
        break;
      case 'state':
        this.#state = note.state;
        break;
      case 'event':
        this.#events.hear(note.event);
        break;
      case 'step':
        this.#steps.get(note.call)?.(note.step);
        break;
      case 'stopping':
        this.#stopping.abort();
        break;
      case 'deadline':
        this.#deadline.abort();
        break;
    }
  }
}

if (parentPort === null) throw new Error('this file runs in a worker thread only');
new IngestThread(parentPort, workerData as IngestStart);
