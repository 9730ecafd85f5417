import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { Event, Events, Unsubscribe } from '../observe/events.ts';
import type { Topic } from '../operations/operation.ts';
import { OPERATIONS, operationNamed } from '../operations/table.ts';
import type { Hint } from './contract.ts';

/** What may look different after each type of event. */
const OF_EVENTS: Readonly<Record<Event['type'], readonly Topic[]>> = {
  accepted: ['messages', 'queue'],
  attempted: ['messages', 'queue', 'relays'],
  expired: ['messages', 'queue'],
  cancelled: ['messages', 'queue'],
  acted: ['messages', 'queue'],
  denied: ['denials'],
  refused: ['denials'],
  probed: ['queue', 'relays', 'health'],
  lane_paused: ['queue', 'relays', 'health'],
  lane_resumed: ['queue', 'relays', 'health'],
  relay_rests: ['relays', 'health'],
  relay_recovered: ['relays', 'health'],
  quota: ['relays', 'queue'],
  reclaimed: ['messages', 'queue'],
  reported: ['messages'],
  report_suppressed: [],
  report_unwritten: [],
  hook: ['relays'],
  webhook_tried: ['webhooks'],
  webhooks_pending: [],
  feedback: [],
  dmarc_report: ['reports'],
  rerouted: ['queue'],
  suppressed: ['messages', 'queue'],
  told: ['messages', 'queue', 'suppressions'],
  guarded: ['health'],
  alert: ['alerts', 'health'],
  alert_told: ['alerts'],
  signed_in: [],
  operated: ['activity'],
  fault: ['health'],
};

/** The relay that captures mail instead of sending it. */
const INBOX = 'inbox';
const CAPTURED: readonly Topic[] = [...OF_EVENTS.attempted, 'inbox'];

/** The topics that an event may have changed. */
function topicsOfEvent(event: Event): readonly Topic[] {
  if (event.type === 'operated') return topicsOfOperation(event.operation);
  return event.type === 'attempted' && event.relay === INBOX ? CAPTURED : OF_EVENTS[event.type];
}

function topicsOfOperation(name: string): readonly Topic[] {
  const operation = operationNamed(name);
  const own = operation === null ? null : OPERATIONS[operation].access.audit;
  return [...(own?.touches ?? []), ...OF_EVENTS.operated];
}

/** How often each topic may have changed on this node since its start: a different count is news for other nodes. */
export interface TopicCounts {
  readonly counts: () => Readonly<Partial<Record<Topic, number>>>;
  readonly stop: Unsubscribe;
}

/** Begins to count. */
export function countTopics(events: Events): TopicCounts {
  const counts: Partial<Record<Topic, number>> = {};
  const stop = events.on((event) => {
    for (const topic of topicsOfEvent(event)) counts[topic] = (counts[topic] ?? 0) + 1;
  });
  return { counts: () => ({ ...counts }), stop };
}

// Tells every open page what may have changed. Events only note their topics; a few times a second these are serialized
// once, and every stream gets the same bytes. So the cost of an event does not grow with the number of streams, nor
// that of a stream with the number of events.

/** A stream that receives hints. Must not throw, and must not wait. */
export interface HintStream {
  /** Sends bytes; the same ones go to every stream. */
  send(bytes: Uint8Array): void;
}

export interface HintFeedOptions {
  readonly events: Events;
  readonly clock: Clock;
  readonly random: Random;
}

/** The least time between hints: four a second. */
export const HINT_MS = 250;
/** How often a stream without hints is sent something, so that no proxy cuts it. */
export const HEARTBEAT_MS = 15_000;
/** Hints that can be repeated to a stream: at least four minutes of them, under constant events. */
export const MAX_REMEMBERED = 1000;
/** Most messages named in one hint; with more, none is named. */
const MAX_IDS = 20;
/** How soon a page reconnects its lost stream. */
const RETRY_MS = 2000;

interface Remembered {
  readonly number: number;
  readonly topics: readonly Topic[];
}

/** Distributes hints to the streams. */
export class HintFeed {
  readonly #clock: Clock;
  readonly #streams = new Set<HintStream>();
  readonly #stopping = new AbortController();
  readonly #unsubscribe: () => void;
  /** Distinguishes this process's ids from those of earlier ones. */
  readonly #run: string;
  readonly #topics = new Set<Topic>();
  readonly #ids = new Set<string>();
  readonly #remembered: Remembered[] = [];
  #number = 0;
  #due = false;
  #beating = false;

  constructor({ events, clock, random }: HintFeedOptions) {
    this.#clock = clock;
    this.#run = Buffer.from(random.fill(new Uint8Array(6))).toString('hex');
    this.#unsubscribe = events.on((event) => this.#hear(event));
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** Notes that something may have changed. */
  note(topics: readonly Topic[]): void {
    for (const topic of topics) this.#topics.add(topic);
    if (this.#due || this.#topics.size === 0) return;
    this.#due = true;
    void this.#sendSoon();
  }

  /**
   * Sends a stream all hints from now on, until the returned function is called; before them those missed since its
   * last id, or `reset` if that is unknown. Null for a new stream.
   */
  add(stream: HintStream, lastEventId: string | null): () => void {
    stream.send(this.#welcome(lastEventId));
    this.#streams.add(stream);
    if (!this.#beating) void this.#beat();
    return () => void this.#streams.delete(stream);
  }

  /** Stops listening. */
  stop(): void {
    this.#unsubscribe();
    this.#stopping.abort();
    this.#streams.clear();
  }

  #hear(event: Event): void {
    const id = 'messageId' in event ? event.messageId : null;
    if (id !== null && this.#ids.size <= MAX_IDS) this.#ids.add(id);
    this.note(topicsOfEvent(event));
  }

  async #sendSoon(): Promise<void> {
    const { signal } = this.#stopping;
    await this.#clock.sleep(HINT_MS, signal);
    this.#due = false;
    if (signal.aborted) return;
    const topics = [...this.#topics];
    const ids = this.#ids.size <= MAX_IDS ? [...this.#ids] : [];
    this.#topics.clear();
    this.#ids.clear();
    this.#number += 1;
    this.#remembered.push({ number: this.#number, topics });
    if (this.#remembered.length > MAX_REMEMBERED) this.#remembered.shift();
    const bytes = Buffer.from(this.#hint(ids.length > 0 ? { topics, ids } : { topics }));
    for (const stream of this.#streams) stream.send(bytes);
  }

  async #beat(): Promise<void> {
    const { signal } = this.#stopping;
    const bytes = Buffer.from(': still here\n\n');
    this.#beating = true;
    while (this.#streams.size > 0 && !signal.aborted) {
      await this.#clock.sleep(HEARTBEAT_MS, signal);
      for (const stream of this.#streams) stream.send(bytes);
    }
    this.#beating = false;
  }

  /** The beginning of a stream. Browsers remember an id without data, and tell the page nothing. */
  #welcome(lastEventId: string | null): Buffer {
    const begin = `retry: ${RETRY_MS}\n${this.#id()}\n`;
    if (lastEventId === null) return Buffer.from(begin);
    const seen = this.#numberOf(lastEventId);
    if (seen === null) return Buffer.from(`retry: ${RETRY_MS}\nevent: reset\n${this.#id()}data: {}\n\n`);
    const missed = this.#remembered.slice(seen - this.#number + this.#remembered.length);
    const topics = [...new Set(missed.flatMap((hint) => hint.topics))];
    return Buffer.from(topics.length === 0 ? begin : `retry: ${RETRY_MS}\n${this.#hint({ topics })}`);
  }

  /** The number of an id since which no hint was forgotten; null for any other. */
  #numberOf(id: string): number | null {
    const [, run, digits] = /^([0-9a-f]{12})-(\d{1,15})$/.exec(id) ?? [];
    const number = Number(digits);
    if (run !== this.#run || number > this.#number) return null;
    return this.#number - number <= this.#remembered.length ? number : null;
  }

  #hint(hint: Hint): string {
    return `event: hint\n${this.#id()}data: ${JSON.stringify(hint)}\n\n`;
  }

  #id(): string {
    return `id: ${this.#run}-${this.#number}\n`;
  }
}
