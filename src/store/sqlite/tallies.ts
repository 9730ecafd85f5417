import {
  type CountedEvent,
  dayOfMinute,
  type GaugeName,
  hourOfMinute,
  KEEP_DAYS,
  KEEP_HOURS,
  KEEP_MINUTES,
  KEEP_RELAY_MINUTES,
  minuteOf,
} from '../counting.ts';
import type { Stamp } from '../store.ts';
import type { Driver } from './driver.ts';

interface Bucket {
  readonly node: string;
  readonly minute: number;
  /** By event and relay, joined by a space; relay names contain none. */
  readonly counts: Map<string, number>;
}

/**
 * Sums what a transaction adds to counters, gauges, queues and segments, so that each row is written once per
 * transaction however many messages change it. Written by `flush`, dropped by `discard`.
 */
export class Tallies {
  #bucket: Bucket | null = null;
  #prunedMinute = -1;
  readonly #gauges = new Map<GaugeName, number>();
  readonly #keys = new Map<string, number>();
  readonly #segments = new Map<number, { live: number; bytes: number }>();
  /** Values of gauges and queues as read in this transaction, so that a batch pays one lookup for each. */
  readonly #gaugesRead = new Map<GaugeName, number>();
  readonly #keysRead = new Map<string, number>();
  readonly #read;
  readonly #write;

  constructor(db: Driver) {
    this.#read = prepareReads(db);
    this.#write = prepareWrites(db);
  }

  /** Counts an event at the stamp's day and minute. */
  count(event: CountedEvent, at: Stamp, count = 1, relay = ''): void {
    const minute = minuteOf(at.now);
    if (this.#bucket?.minute !== minute || this.#bucket.node !== at.node) {
      this.#flushCounts();
      this.#bucket = { node: at.node, minute, counts: new Map() };
    }
    const name = `${event} ${relay}`;
    this.#bucket.counts.set(name, (this.#bucket.counts.get(name) ?? 0) + count);
  }

  /** Changes a gauge. */
  gauge(name: GaugeName, difference: number): void {
    this.#gauges.set(name, (this.#gauges.get(name) ?? 0) + difference);
  }

  /** A gauge's value, including what this transaction has added. */
  gaugeNow(name: GaugeName): number {
    const known = this.#gaugesRead.get(name);
    const before = known ?? this.#read.gauge.get(name)?.[0] ?? 0;
    if (known === undefined) this.#gaugesRead.set(name, before);
    return before + (this.#gauges.get(name) ?? 0);
  }

  /** A message of `bytes` starts (1) or stops (-1) being one that is not final; null for no key. */
  queue(keyId: string | null, messages: 1 | -1, bytes: number): void {
    this.gauge('queued_bytes', messages * bytes);
    if (keyId !== null) this.#keys.set(keyId, (this.#keys.get(keyId) ?? 0) + messages);
  }

  /** How many messages of a key are not final, including what this transaction has added. */
  queuedNow(keyId: string): number {
    const known = this.#keysRead.get(keyId);
    const before = known ?? this.#read.key.get(keyId)?.[0] ?? 0;
    if (known === undefined) this.#keysRead.set(keyId, before);
    return before + (this.#keys.get(keyId) ?? 0);
  }

  /** Adds references to a segment, or removes them (negative). */
  segment(segment: number, live: number, bytes: number): void {
    const use = this.#segments.get(segment);
    if (use === undefined) {
      this.#segments.set(segment, { live, bytes });
    } else {
      use.live += live;
      use.bytes += bytes;
    }
  }

  /** Writes the sums. Reads of the same transaction that need them flush first. */
  flush(): void {
    this.#flushCounts();
    for (const [name, value] of this.#gauges) if (value !== 0) this.#write.gauge.run(name, value);
    this.#gauges.clear();
    for (const [keyId, messages] of this.#keys) if (messages !== 0) this.#write.key.run(keyId, messages);
    this.#keys.clear();
    for (const [segment, { live, bytes }] of this.#segments)
      if (live !== 0 || bytes !== 0) this.#write.segment.run(segment, live, bytes);
    this.#segments.clear();
    this.#forgetReads();
  }

  /** Drops the sums of a transaction that was rolled back. */
  discard(): void {
    this.#bucket = null;
    this.#prunedMinute = -1;
    this.#gauges.clear();
    this.#keys.clear();
    this.#segments.clear();
    this.#forgetReads();
  }

  #forgetReads(): void {
    this.#gaugesRead.clear();
    this.#keysRead.clear();
  }

  #flushCounts(): void {
    const bucket = this.#bucket;
    if (bucket === null) return;
    this.#bucket = null;
    const day = dayOfMinute(bucket.minute);
    for (const [name, count] of bucket.counts) {
      const space = name.indexOf(' ');
      const event = name.slice(0, space);
      const relay = name.slice(space + 1);
      this.#write.count.run('day', day, bucket.node, event, relay, count);
      this.#write.count.run('minute', bucket.minute, bucket.node, event, relay, count);
    }
    this.#upkeep(bucket.minute);
  }

  /** Removes the oldest counts once a minute; sums minutes into hours once an hour. */
  #upkeep(minute: number): void {
    if (minute <= this.#prunedMinute) return;
    const before = this.#prunedMinute;
    this.#prunedMinute = minute;
    this.#write.prune.run('minute', minute - KEEP_MINUTES);
    const hour = hourOfMinute(minute);
    if (hourOfMinute(before) === hour) return;
    // The last summed hour may have been summed before it was over, if the clock was set back.
    this.#write.sumHours.run((this.#read.lastHour.get()?.[0] ?? 0) * 60, hour * 60);
    this.#write.pruneRelays.run(before - KEEP_RELAY_MINUTES, minute - KEEP_RELAY_MINUTES);
    this.#write.prune.run('hour', hour - KEEP_HOURS);
    this.#write.prune.run('day', dayOfMinute(minute) - KEEP_DAYS);
  }
}

function prepareReads(db: Driver) {
  return {
    gauge: db.prepare<[name: string], [value: number]>('SELECT value FROM gauges WHERE name = ?'),
    lastHour: db.prepare<[], [hour: number | null]>(`SELECT max(start) FROM counters WHERE period = 'hour'`),
    key: db.prepare<[keyId: string], [messages: number]>('SELECT messages FROM key_queues WHERE key_id = ?'),
  };
}

function prepareWrites(db: Driver) {
  return {
    count: db.prepare<
      [period: string, start: number, node: string, event: string, relay: string, count: number]
    >(
      `INSERT INTO counters VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET count = count + excluded.count`,
    ),
    prune: db.prepare<[period: string, before: number]>(
      'DELETE FROM counters WHERE period = ? AND start < ?',
    ),
    pruneRelays: db.prepare<[from: number, before: number]>(
      `DELETE FROM counters WHERE period = 'minute' AND start >= ? AND start < ? AND relay <> ''`,
    ),
    sumHours: db.prepare<[from: number, until: number]>(
      `INSERT INTO counters SELECT 'hour', start / 60, node, event, relay, sum(count) FROM counters
       WHERE period = 'minute' AND start >= ? AND start < ? GROUP BY start / 60, node, event, relay
       ON CONFLICT DO UPDATE SET count = max(count, excluded.count)`,
    ),
    gauge: db.prepare<[name: string, difference: number]>(
      'INSERT INTO gauges VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value',
    ),
    key: db.prepare<[keyId: string, difference: number]>(
      'INSERT INTO key_queues VALUES (?, ?) ON CONFLICT DO UPDATE SET messages = messages + excluded.messages',
    ),
    segment: db.prepare<[segment: number, live: number, bytes: number]>(
      `INSERT INTO segments VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET live = live + excluded.live, bytes = bytes + excluded.bytes`,
    ),
  };
}
