import type { DeliveryState, MessageStatus } from '../../domain/delivery.ts';
import type { ProviderName } from '../../domain/drop-in.ts';
import type { RecipientKind, Source, TlsDemand } from '../../domain/message.ts';
import type { OutcomeName } from '../../domain/outcome.ts';
import type { Queries, SqlValue } from '../../postgres/database.ts';
import type { Kept } from '../counting.ts';

/** The types of columns. */
type SqlType = 'text' | 'integer' | 'bigint' | 'boolean';

/** The column type of each field. */
type Columns<Row> = { readonly [Field in keyof Row]: SqlType };

/**
 * A table whose rows are read as objects, and written by one statement however many there are: each parameter is a
 * column's array. The column of the field `dueAt` is `due_at`.
 */
export class Table<Row extends Readonly<Record<keyof Row & string, SqlValue>>> {
  /** The columns of a SELECT that returns `Row`s. */
  readonly columns: string;
  readonly #name: string;
  readonly #types: Columns<Row>;
  readonly #fields: readonly (keyof Row & string)[];
  readonly #insertion: string;

  constructor(name: string, columns: Columns<Row>) {
    this.#name = name;
    this.#types = columns;
    // The type says that these are its only fields.
    this.#fields = Object.keys(columns) as (keyof Row & string)[];
    this.columns = this.columnsOf(this.#fields);
    const list = this.#fields.map(columnOf).join(', ');
    this.#insertion = `INSERT INTO ${name} (${list}) SELECT * FROM ${this.#unnest(this.#fields)}`;
  }

  /** The columns of a SELECT that returns these fields of `Row`s. */
  columnsOf(fields: readonly (keyof Row & string)[]): string {
    return fields.map((field) => `${this.#name}.${columnOf(field)} AS "${field}"`).join(', ');
  }

  /** Adds rows, in order, as {@link Queries.send} does. */
  send(db: Queries, rows: readonly Row[]): void {
    if (rows.length > 0) db.send(this.#insertion, arraysOf(rows, this.#fields));
  }

  /**
   * Makes a sending writer of some fields of rows, which are found by other fields and by `where`. The rows must be
   * locked.
   */
  updater<Field extends keyof Row & string>(
    keys: readonly Field[],
    changed: readonly Field[],
    where = 'true',
  ) {
    const fields = [...keys, ...changed];
    const set = changed.map((field) => `${columnOf(field)} = new.${columnOf(field)}`).join(', ');
    const same = keys
      .map((field) => `${this.#name}.${columnOf(field)} = new.${columnOf(field)}`)
      .join(' AND ');
    const sql = `UPDATE ${this.#name} SET ${set}
      FROM ${this.#unnest(fields)} AS new (${fields.map(columnOf).join(', ')}) WHERE ${same} AND ${where}`;
    return (db: Queries, rows: readonly Pick<Row, Field>[]): void => {
      if (rows.length > 0) db.send(sql, arraysOf(rows, fields));
    };
  }

  #unnest(fields: readonly (keyof Row & string)[]): string {
    return `unnest(${fields.map((field, place) => `$${place + 1}::${this.#types[field]}[]`).join(', ')})`;
  }
}

function arraysOf<Row extends Readonly<Record<Field, SqlValue>>, Field extends string>(
  rows: readonly Row[],
  fields: readonly Field[],
): SqlValue[][] {
  return fields.map((field) => rows.map((row) => row[field]));
}

function columnOf(field: string): string {
  return `"${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;
}

// The tables that verbs read and write as rows; the migrations document their columns.

/** A message. */
export interface MessageRow {
  readonly id: string;
  readonly keyId: string | null;
  readonly status: MessageStatus;
  readonly queued: number;
  readonly processing: number;
  readonly retrying: number;
  readonly delivered: number;
  readonly failed: number;
  readonly attempts: number;
  readonly kept: Kept | null;
  readonly possibleDuplicate: boolean;
  readonly lastError: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly statusAt: number;
  readonly deliveredAt: number | null;
  readonly finalAt: number | null;
  readonly notBefore: number | null;
  readonly expiresAt: number;
  readonly priority: number;
  readonly test: boolean;
  readonly reportable: boolean;
  readonly stream: string | null;
  readonly ignoresSuppression: boolean;
  readonly copies: string | null;
  readonly source: Source;
  readonly door: ProviderName | null;
  readonly box: string | null;
  readonly tls: TlsDemand | null;
  readonly sourceAddress: string | null;
  readonly reversePath: string;
  readonly ret: 'FULL' | 'HDRS' | null;
  readonly envid: string | null;
  readonly headerFrom: string;
  readonly subject: string;
  readonly messageId: string;
  readonly tags: string;
  readonly metadata: string;
  readonly sizeBytes: number;
  readonly eightBit: boolean;
  readonly utf8: boolean;
  readonly dotStuffing: boolean;
  readonly segment: number | null;
  readonly offset: number | null;
  readonly length: number | null;
  readonly routeTable: number;
}

export const MESSAGES = new Table<MessageRow>('messages', {
  id: 'text',
  keyId: 'text',
  status: 'text',
  queued: 'integer',
  processing: 'integer',
  retrying: 'integer',
  delivered: 'integer',
  failed: 'integer',
  attempts: 'integer',
  kept: 'text',
  possibleDuplicate: 'boolean',
  lastError: 'text',
  createdAt: 'bigint',
  updatedAt: 'bigint',
  statusAt: 'bigint',
  deliveredAt: 'bigint',
  finalAt: 'bigint',
  notBefore: 'bigint',
  expiresAt: 'bigint',
  priority: 'integer',
  test: 'boolean',
  reportable: 'boolean',
  stream: 'text',
  ignoresSuppression: 'boolean',
  copies: 'text',
  source: 'text',
  door: 'text',
  box: 'text',
  tls: 'text',
  sourceAddress: 'text',
  reversePath: 'text',
  ret: 'text',
  envid: 'text',
  headerFrom: 'text',
  subject: 'text',
  messageId: 'text',
  tags: 'text',
  metadata: 'text',
  sizeBytes: 'bigint',
  eightBit: 'boolean',
  utf8: 'boolean',
  dotStuffing: 'boolean',
  segment: 'bigint',
  offset: 'bigint',
  length: 'bigint',
  routeTable: 'integer',
});

/** The fields needed to decide on a message: those that change, and those that follow from them. */
// biome-ignore format: a table
export const LEDGER_FIELDS = [
  'id', 'keyId', 'status', 'queued', 'processing', 'retrying', 'delivered', 'failed',
  'attempts', 'kept', 'possibleDuplicate', 'lastError', 'updatedAt', 'statusAt',
  'deliveredAt', 'finalAt', 'notBefore', 'expiresAt', 'length',
  'test', 'headerFrom', 'stream', 'ignoresSuppression',
] as const satisfies readonly (keyof MessageRow)[];

/** See {@link LEDGER_FIELDS}. */
export type LedgerRow = Pick<MessageRow, (typeof LEDGER_FIELDS)[number]>;

/** A delivery. Fields that verbs change are not `readonly`. */
export interface DeliveryRow {
  readonly message: string;
  readonly index: number;
  state: DeliveryState;
  lane: string | null;
  relay: string | null;
  readonly priority: number;
  dueAt: number | null;
  expiresAt: number;
  fence: number | null;
  begunAt: number | null;
  cancelRequested: boolean;
  attempts: number;
  attemptsBefore: number;
  delayReported: boolean;
  outcome: OutcomeName | null;
  readonly address: string;
  readonly kind: RecipientKind;
  readonly notify: string | null;
  readonly orcpt: string | null;
  routeRule: string | null;
  routeGroup: string | null;
  providerMessageId: string | null;
  lastCode: number | null;
  lastEnhanced: string | null;
  lastReply: string | null;
}

export const DELIVERIES = new Table<DeliveryRow>('deliveries', {
  message: 'text',
  index: 'integer',
  state: 'text',
  lane: 'text',
  relay: 'text',
  priority: 'integer',
  dueAt: 'bigint',
  expiresAt: 'bigint',
  fence: 'bigint',
  begunAt: 'bigint',
  cancelRequested: 'boolean',
  attempts: 'integer',
  attemptsBefore: 'integer',
  delayReported: 'boolean',
  outcome: 'text',
  address: 'text',
  kind: 'text',
  notify: 'text',
  orcpt: 'text',
  routeRule: 'text',
  routeGroup: 'text',
  providerMessageId: 'text',
  lastCode: 'integer',
  lastEnhanced: 'text',
  lastReply: 'text',
});

/**
 * The condition that a message, or a delivery, is not final, and therefore in the open part: statements with it never
 * read the past, however large it is. These deliveries have no index of their own: the other conditions find them.
 */
export const OPEN_MESSAGE = 'messages.kept IS NULL';
export const OPEN_DELIVERY = `deliveries.state IN ('queued', 'retrying', 'processing')`;

/** An attempt. */
export interface AttemptRow {
  readonly message: string;
  readonly number: number;
  readonly startedAt: number;
  readonly relay: string;
  readonly evidence: string;
  readonly results: string;
}

export const ATTEMPTS = new Table<AttemptRow>('attempts', {
  message: 'text',
  number: 'integer',
  startedAt: 'bigint',
  relay: 'text',
  evidence: 'text',
  results: 'text',
});

// How to look up messages that may be in the past. Its tables are partitioned by day, and plans are made before any id
// is known. When it runs the plan, the server derives the days from the lowest and the highest id, and leaves out all
// others. It cannot derive that from a list.

/** The condition that the column is one of the ids, for a statement whose first parameters are {@link spanned}. */
export function among(column: string): string {
  return `${column} = ANY($1::text[]) AND ${inSpan(column)}`;
}

/** The part of {@link among} that bounds the days, for a column that is compared with the ids in another way. */
export function inSpan(column: string): string {
  return `${column} >= $2 AND ${column} <= $3`;
}

/** The ids, and the lowest and the highest of them. */
export function spanned(ids: readonly string[]): [ids: readonly string[], first: string, last: string] {
  let [first = '', last = ''] = [ids[0], ids[0]];
  for (const id of ids) {
    if (id < first) first = id;
    if (id > last) last = id;
  }
  return [ids, first, last];
}
