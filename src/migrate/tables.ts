import { TIME_BUCKETS } from '../domain/delivery-times.ts';
import { TRAFFIC_MEASURES } from '../domain/traffic.ts';

/** What is moved: tables by their PostgreSQL names, and how SQLite's differ from them. */

/** A value between two databases: a boolean is 0 or 1. */
export type Value = string | number | null;

/** The values of a row, in the order of its table's columns. */
export type Row = readonly Value[];

type ColumnType = 'text' | 'integer' | 'bigint' | 'boolean';

/** A table, or a part of one, as both databases have it. */
export interface TableShape {
  readonly name: string;
  /** Each with its type in PostgreSQL. */
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** The number of leading columns that are its key, by which it is sorted. */
  readonly keys: number;
  /** A condition in SQL that all its rows meet. */
  readonly only?: string;
  /** Its first column is a message: its id; in SQLite its number, which differs between databases. */
  readonly ofMessages?: true;
  readonly sqlite?: {
    readonly table?: string;
    /** The condition there. */
    readonly only?: string;
    /** A column that is a message: its id; there its number. */
    readonly message?: string;
    /** Columns with other names there. */
    readonly columns?: Readonly<Record<string, string>>;
  };
}

const KIND_OF_TRAFFIC = {
  period: 'text',
  start: 'integer',
  relay: 'text',
  domain: 'text',
  provider: 'text',
  key_id: 'text',
  tags: 'text',
} as const;

const SUMS_OF_TRAFFIC = [
  ...TRAFFIC_MEASURES,
  ...Array.from({ length: TIME_BUCKETS }, (_, place) => `t${place}`),
];

export const TRAFFIC: readonly TableShape[] = [
  {
    name: 'traffic',
    keys: 7,
    columns: {
      ...KIND_OF_TRAFFIC,
      ...Object.fromEntries(SUMS_OF_TRAFFIC.map((name) => [name, 'integer'] as const)),
    },
  },
  {
    name: 'traffic_replies',
    keys: 8,
    columns: {
      ...KIND_OF_TRAFFIC,
      reply_group: 'text',
      deferred: 'integer',
      failed: 'integer',
      bounced: 'integer',
      example: 'text',
      message: 'text',
    },
  },
];

/** The size of the suppression list is derived. It may be done twice. */
export const COUNT_SUPPRESSIONS = [
  'DELETE FROM suppression_counts',
  'INSERT INTO suppression_counts (change) SELECT count(*) FROM suppressions',
];

/** The place of contents differs on both sides: each message gets a new one. */
export const PLACE = ['segment', 'offset'];

export const MESSAGES: TableShape = {
  name: 'messages',
  keys: 1,
  columns: {
    id: 'text',
    key_id: 'text',
    status: 'text',
    queued: 'integer',
    processing: 'integer',
    retrying: 'integer',
    delivered: 'integer',
    failed: 'integer',
    attempts: 'integer',
    kept: 'text',
    possible_duplicate: 'boolean',
    last_error: 'text',
    created_at: 'bigint',
    updated_at: 'bigint',
    status_at: 'bigint',
    delivered_at: 'bigint',
    final_at: 'bigint',
    not_before: 'bigint',
    expires_at: 'bigint',
    priority: 'integer',
    test: 'boolean',
    reportable: 'boolean',
    stream: 'text',
    ignores_suppression: 'boolean',
    copies: 'text',
    source: 'text',
    door: 'text',
    box: 'text',
    tls: 'text',
    source_address: 'text',
    reverse_path: 'text',
    ret: 'text',
    envid: 'text',
    header_from: 'text',
    subject: 'text',
    message_id: 'text',
    tags: 'text',
    metadata: 'text',
    size_bytes: 'bigint',
    eight_bit: 'boolean',
    utf8: 'boolean',
    dot_stuffing: 'boolean',
    segment: 'bigint',
    offset: 'bigint',
    length: 'bigint',
    route_table: 'integer',
    inbox_read: 'boolean',
    inbox_tags: 'text',
  },
};

export const DELIVERIES: TableShape = {
  name: 'deliveries',
  keys: 2,
  columns: {
    message: 'text',
    index: 'integer',
    state: 'text',
    lane: 'text',
    relay: 'text',
    priority: 'integer',
    due_at: 'bigint',
    expires_at: 'bigint',
    fence: 'bigint',
    begun_at: 'bigint',
    cancel_requested: 'boolean',
    attempts: 'integer',
    attempts_before: 'integer',
    delay_reported: 'boolean',
    outcome: 'text',
    address: 'text',
    kind: 'text',
    notify: 'text',
    orcpt: 'text',
    route_rule: 'text',
    route_group: 'text',
    provider_message_id: 'text',
    last_code: 'integer',
    last_enhanced: 'text',
    last_reply: 'text',
  },
  ofMessages: true,
  sqlite: { columns: { index: 'idx' } },
};

export const ATTEMPTS: TableShape = {
  name: 'attempts',
  keys: 2,
  columns: {
    message: 'text',
    number: 'integer',
    started_at: 'bigint',
    relay: 'text',
    evidence: 'text',
    results: 'text',
  },
  ofMessages: true,
};

/** Sequences stay as they are: readers go on where they were. */
export const EVENTS: TableShape = {
  name: 'events',
  keys: 1,
  columns: {
    seq: 'bigint',
    at: 'bigint',
    type: 'integer',
    message: 'text',
    index: 'integer',
    attempt: 'integer',
    facts: 'text',
  },
  only: '(message IS NULL OR EXISTS (SELECT 1 FROM messages WHERE id = events.message))',
  // Without those that only hold their place.
  sqlite: { columns: { index: 'idx' }, message: 'message', only: 'type > 0' },
};

/** Derived from messages and deliveries, and written with them. */
export const GAUGES: TableShape = {
  name: 'gauges',
  keys: 1,
  columns: { name: 'text', value: 'bigint' },
};
export const KEY_QUEUES: TableShape = {
  name: 'key_queues',
  keys: 1,
  columns: { key_id: 'text', messages: 'bigint' },
};
export const SEGMENTS: TableShape = {
  name: 'segments',
  keys: 1,
  columns: { segment: 'bigint', live: 'bigint', bytes: 'bigint' },
};
export const DEPTHS: TableShape = {
  name: 'depths',
  keys: 1,
  columns: { lane: 'text', waiting: 'integer' },
  sqlite: { table: 'lanes' },
};
export const MESSAGE_TAGS: TableShape = {
  name: 'message_tags',
  keys: 3,
  columns: { key_id: 'text', tag: 'text', id: 'text' },
};

/** Reads a column of a table's rows; the table's schema guarantees the type. */
export function reader<T extends Value>(shape: TableShape, column: string): (row: Row) => T {
  const place = Object.keys(shape.columns).indexOf(column);
  return (row) => row[place] as T;
}

/** The leading columns of a row, which identify it. */
export function keyOf(shape: TableShape, row: Row): Row {
  return row.slice(0, shape.keys);
}
