import { NOTE_PREFIX } from '../store/registry.ts';

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

/** The note of an installation that was moved, or is being moved: where to. See `derived.ts`. */
export const MOVED_TO = `${NOTE_PREFIX}moved_to`;
/** The note of an installation that came from elsewhere, or is about to: where from, and the progress. */
export const MOVED_FROM = `${NOTE_PREFIX}moved_from`;

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

const ATTEMPTS: TableShape = {
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
const EVENTS: TableShape = {
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

const SMALL: readonly TableShape[] = [
  {
    name: 'idempotency',
    keys: 2,
    columns: { key_id: 'text', idem_key: 'text', hash: 'text', id: 'text', created_at: 'bigint' },
  },
  {
    name: 'counters',
    keys: 5,
    columns: {
      period: 'text',
      start: 'integer',
      node: 'text',
      event: 'text',
      relay: 'text',
      count: 'bigint',
    },
  },
  { name: 'quotas', keys: 2, columns: { day: 'integer', relay: 'text', used: 'bigint' } },
  {
    name: 'keys',
    keys: 1,
    columns: {
      id: 'text',
      name: 'text',
      mode: 'text',
      prefix: 'text',
      scopes: 'text',
      created_at: 'bigint',
      last_used_at: 'bigint',
      expires_at: 'bigint',
      revoked_at: 'bigint',
      rate_limit: 'integer',
      cidrs: 'text',
      sender_domains: 'text',
      content_days: 'integer',
    },
  },
  { name: 'key_secrets', keys: 1, columns: { hash: 'text', key_id: 'text', until: 'bigint' } },
  {
    name: 'signing_secrets',
    keys: 1,
    columns: { id: 'text', key_id: 'text', sealed: 'text', until: 'bigint' },
  },
  {
    name: 'relays',
    keys: 1,
    columns: { name: 'text', definition: 'text', secret: 'text', disabled: 'boolean' },
  },
  {
    name: 'settings',
    keys: 1,
    columns: { name: 'text', value: 'text' },
    only: `name NOT IN ('${MOVED_TO}', '${MOVED_FROM}')`,
  },
  { name: 'holds', keys: 1, columns: { target: 'text', kind: 'text', since: 'bigint' } },
  {
    name: 'route_tables',
    keys: 1,
    columns: { version: 'integer', published_at: 'bigint', origin: 'text', definition: 'text' },
  },
  { name: 'domains', keys: 1, columns: { name: 'text', definition: 'text', secrets: 'text' } },
  {
    name: 'journal',
    keys: 1,
    columns: {
      number: 'bigint',
      at: 'bigint',
      actor_kind: 'text',
      actor: 'text',
      source_address: 'text',
      action: 'text',
      subject: 'text',
      before: 'text',
      after: 'text',
    },
  },
  {
    name: 'aftermath',
    keys: 2,
    columns: {
      message: 'text',
      idx: 'integer',
      confirmed_at: 'bigint',
      complained_at: 'bigint',
      unsubscribed_at: 'bigint',
      bounce: 'text',
      suppression: 'text',
    },
    // PostgreSQL removes it a while after the record.
    only: 'EXISTS (SELECT 1 FROM messages WHERE id = aftermath.message)',
  },
  {
    name: 'soft_bounces',
    keys: 1,
    columns: { address: 'text', times: 'text', last_at: 'bigint', delivered_by: 'text' },
  },
  {
    name: 'feedback',
    keys: 1,
    columns: {
      id: 'text',
      at: 'bigint',
      source: 'text',
      kind: 'text',
      message: 'text',
      address: 'text',
      content_type: 'text',
      evidence: 'text',
    },
  },
  { name: 'told_once', keys: 2, columns: { source: 'text', once: 'text', at: 'bigint' } },
  { name: 'early_feedback', keys: 1, columns: { id: 'text', at: 'bigint', body: 'text' } },
  {
    name: 'suppressions',
    keys: 1,
    columns: {
      id: 'text',
      address: 'text',
      domain: 'text',
      scope: 'text',
      stream: 'text',
      reason: 'text',
      source: 'text',
      evidence: 'text',
      note: 'text',
      created_at: 'bigint',
      updated_at: 'bigint',
      expires_at: 'bigint',
    },
  },
  {
    name: 'unsubscribe_links',
    keys: 1,
    columns: {
      seq: 'bigint',
      message: 'text',
      idx: 'integer',
      address: 'text',
      key_id: 'text',
      header_from: 'text',
      stream: 'text',
    },
  },
  {
    name: 'users',
    keys: 1,
    columns: {
      name: 'text',
      role: 'text',
      disabled: 'boolean',
      created_at: 'bigint',
      password: 'text',
      last_sign_in_at: 'bigint',
      second_factor: 'text',
      last_step: 'bigint',
    },
  },
  {
    name: 'recovery_codes',
    keys: 2,
    columns: { user_name: 'text', hash: 'text' },
    sqlite: { columns: { user_name: 'user' } },
  },
  {
    name: 'sessions',
    keys: 1,
    columns: {
      hash: 'text',
      id: 'text',
      user_name: 'text',
      stage: 'text',
      created_at: 'bigint',
      last_seen_at: 'bigint',
      expires_at: 'bigint',
      source_address: 'text',
      agent: 'text',
      offered: 'text',
      tries: 'integer',
    },
    sqlite: { columns: { user_name: 'user' } },
  },
  {
    name: 'setup_links',
    keys: 1,
    columns: { hash: 'text', user_name: 'text', expires_at: 'bigint' },
    sqlite: { columns: { user_name: 'user' } },
  },
];

/** What is copied, in this order: referenced rows come first. */
export const COPIED: readonly TableShape[] = [MESSAGES, DELIVERIES, ATTEMPTS, EVENTS, ...SMALL];

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
