import { namesIn, renamedIn, withoutTexts } from '../../domain/erasing.ts';
import { formsOf, isAddressOf, isMailboxOf, names, type Person } from '../../domain/naming.ts';
import { domainOfSuppressed } from '../../domain/suppressed-address.ts';
import {
  advancedBy,
  changedBy,
  ERASING_STEPS,
  type EraseAnswer,
  type ErasedSlice,
  type EraseRequest,
  type ErasureProgress,
  type OpenMessage,
} from '../erasing.ts';
import { PERSONAL_DATA, SQLITE_COLUMNS, type TableData } from '../personal-data.ts';
import { progressOf } from './erasures.ts';
import type { MailWork } from './mail.ts';
import { endStoryLinksOf } from './sharing.ts';
import { among, joined, onPostgres, onSqlite, type Sql, sql, type Value } from './sql.ts';
import { rows, run, send, type Work } from './work.ts';

/**
 * Erases a person from the tables (`personal-data.ts`), a slice of one table in each transaction, which also writes how
 * far it has come. A slice is a number of rows in the order of the key, whether or not they name anybody, so that none
 * takes long. Written once for both databases, except for what contents and words are.
 */

/** The verb `erase`. */
export function* erase({ id, person, limit, holds }: EraseRequest, now: number): MailWork<EraseAnswer> {
  const before = yield* progressOf(id);
  if (before === null || !ERASING_STEPS.includes(before.step)) return { progress: null, waiting: [] };
  const slice = yield* eraseSlice(before, person, limit);
  const waiting = holds ? slice.open.filter(({ alone }) => alone).map((open) => open.id) : [];
  const progress = waiting.length > 0 ? changedBy(before, slice) : advancedBy(before, slice, now);
  yield* send`UPDATE erasures SET progress = ${JSON.stringify(progress)} WHERE id = ${id}`;
  return { progress, waiting };
}

function* eraseSlice({ step, after }: ErasureProgress, person: Person, limit: number): MailWork<ErasedSlice> {
  if (step === 'nodes') return yield* eraseReports(person);
  const data = PERSONAL_DATA[step];
  if (data === undefined) throw new RangeError(`no table ${step} is known`);
  const walk = { table: step, data, person };
  const from = after === null ? null : (JSON.parse(after) as Value[]);
  const keys = step === 'messages' ? [MESSAGE_KEY] : columnNames(data.key).map(column);
  const to = yield* endOfSlice(step, keys, from, limit);
  const slice = inSlice(keys, from, to);
  const done =
    step === 'messages'
      ? yield* eraseMessages(walk, slice, inSlice([sql`message`], from, to))
      : { ...(yield* eraseRows(walk, slice)), ...NO_MAIL };
  return { ...done, after: to === null ? null : JSON.stringify(to) };
}

/** What nodes report of themselves, also those that are gone. They are few, and only PostgreSQL has them. */
function* eraseReports(person: Person): Work<ErasedSlice> {
  const found = (yield {
    ask: 'rows',
    sql: onPostgres(sql`SELECT id, report FROM nodes ORDER BY id FOR UPDATE`),
    // SQLite answers nothing.
  }) as { readonly id: string; readonly report: string }[] | undefined;
  const named = (found ?? []).filter(({ report }) => namesIn(report, person));
  for (const { id, report } of named)
    yield* send`UPDATE nodes SET report = ${renamedIn(report, person)} WHERE id = ${id}`;
  return { changed: named.length, ...NO_MAIL, after: null };
}

interface Walk {
  readonly table: string;
  readonly data: TableData;
  readonly person: Person;
}

const NO_MAIL = { open: [], segments: [] } as const;

/** Messages are numbered in SQLite; other tables there refer to them by that number. */
const MESSAGE_KEY = sql`${onSqlite(sql`seq`)}${onPostgres(sql`id`)}`;

function columnNames(columns: string | undefined): string[] {
  return columns?.split(' ') ?? [];
}

/** A column of any table, by its name in PostgreSQL. */
function column(name: string): Sql {
  return sql`${onSqlite(plainly(SQLITE_COLUMNS[name] ?? name))}${onPostgres(plainly(name))}`;
}

/** A name of ours. */
function plainly(name: string): Sql {
  return (query) => {
    query.text += `"${name}"`;
  };
}

// Slices.

/** The key of the last row of a slice; null: it goes to the end. */
function* endOfSlice(
  table: string,
  keys: readonly Sql[],
  after: readonly Value[] | null,
  limit: number,
): Work<Value[] | null> {
  const beyond = after === null ? sql`` : sql`WHERE ${compared(keys, '>', after)}`;
  const [row] = yield* rows<Record<string, Value>>`SELECT ${keyColumns(keys)} FROM ${plainly(table)} ${beyond}
    ORDER BY ${joined(keys)} LIMIT 1 OFFSET ${limit - 1}`;
  return row === undefined ? null : keyOf(row, keys.length);
}

function inSlice(keys: readonly Sql[], after: readonly Value[] | null, to: readonly Value[] | null): Sql {
  const low = after === null ? sql`1 = 1` : compared(keys, '>', after);
  return to === null ? low : sql`${low} AND ${compared(keys, '<=', to)}`;
}

function compared(keys: readonly Sql[], operator: '>' | '<=' | '=', values: readonly Value[]): Sql {
  const sign: Sql = (query) => {
    query.text += ` ${operator} `;
  };
  const bound = values.map(
    (value): Sql =>
      (query) =>
        query.bind(value),
  );
  return sql`(${joined(keys)})${sign}(${joined(bound)})`;
}

function keyColumns(keys: readonly Sql[]): Sql {
  return joined(keys.map((key, place) => sql`${key} AS ${plainly(`key${place}`)}`));
}

function keyOf(row: Readonly<Record<string, Value>>, count: number): Value[] {
  return Array.from({ length: count }, (_, place) => row[`key${place}`] ?? null);
}

// What names the person.

/** A condition that holds for every row with a form of the address in one of these columns, and for some others. */
function mayName(columns: readonly string[], person: Person): Sql {
  const all = columns
    .map((name) => sql`coalesce(${column(name)}, '')`)
    .reduce((one, other) => sql`${one} || ' ' || ${other}`);
  // Letters beyond ASCII are compared as they are.
  const text = sql`${onSqlite(sql`lower(${all})`)}${onPostgres(sql`lower((${all}) COLLATE "C")`)}`;
  const conditions = formsOf(person).map(
    (form) => sql`${onSqlite(sql`instr(${text}, ${form})`)}${onPostgres(sql`strpos(${text}, ${form})`)} > 0`,
  );
  return sql`(${conditions.reduce((one, other) => sql`${one} OR ${other}`)})`;
}

function namesPerson(value: Value | undefined, person: Person): boolean {
  return typeof value === 'string' && namesIn(value, person);
}

/** The columns of a row that name the person, with what is left in them. */
function renamedColumns(row: Texts, { data, person }: Walk): Record<string, Value> {
  const left: Record<string, Value> = {};
  for (const name of columnNames(data.address)) {
    const value = row[name];
    if (typeof value === 'string' && isAddressOf(value, person)) left[name] = person.pseudonym;
  }
  for (const name of columnNames(data.text)) {
    const value = row[name];
    if (typeof value !== 'string') continue;
    const renamed = renamedIn(value, person);
    if (renamed !== value) left[name] = renamed;
  }
  return left;
}

// Messages.

interface MessageRef {
  readonly ref: string | number;
}

/** The texts of a message, by column. */
type Texts = Readonly<Record<string, Value>>;

function* eraseMessages(walk: Walk, slice: Sql, ofDeliveries: Sql): MailWork<Omit<ErasedSlice, 'after'>> {
  const { data, person } = walk;
  const texts = [...columnNames(data.address), ...columnNames(data.text)];
  const own = yield* rows<MessageRef>`SELECT ${MESSAGE_KEY} AS ref FROM messages
    WHERE ${slice} AND ${mayName(texts, person)}`;
  const named = yield* rows<MessageRef>`SELECT DISTINCT message AS ref FROM deliveries
    WHERE ${ofDeliveries} AND ${mayName(['address', ...TOLD], person)}`;
  const refs = [...new Set([...own, ...named].map(({ ref }) => ref))];
  if (refs.length === 0) return { changed: 0, ...NO_MAIL };
  const found = yield* rows<Texts & { ref: string | number; id: string; kept: string | null }>`
    SELECT ${MESSAGE_KEY} AS ref, id, kept, ${joined(texts.map(column))} FROM messages
    WHERE ${MESSAGE_KEY} ${among(refs)} ${onPostgres(sql`ORDER BY id FOR UPDATE`)}`;
  const open: OpenMessage[] = [];
  const segments = new Set<number>();
  const erased: string[] = [];
  let changed = 0;
  for (const { ref, id, kept, ...row } of found) {
    const recipients =
      yield* rows<Recipient>`SELECT ${column('index')} AS place, address, ${joined(TOLD.map(readAs))}
      FROM deliveries WHERE message = ${ref}`;
    const own = recipients.filter(({ address }) => isAddressOf(address, person));
    const isAuthor = isFrom(row, person);
    const left = renamedColumns(row, walk);
    const isTold = recipients.some((recipient) => TOLD.some((name) => namesPerson(recipient[name], person)));
    if (own.length === 0 && !isAuthor && !isTold && Object.keys(left).length === 0) continue;
    if (kept === null) {
      open.push({ id, alone: own.length > 0 && own.length === recipients.length });
      continue;
    }
    if (own.length > 0 || isAuthor) {
      // The answer is what the step's type says.
      const segment = (yield { mail: 'forget', id }) as number | null;
      if (segment !== null) segments.add(segment);
      yield* eraseMessage({ ref, id, row, left, isAuthor, places: own.map(({ place }) => place) }, person);
      erased.push(id);
    } else if (Object.keys(left).length > 0) {
      // Mail between others: what names her in its record is rewritten, and it stays as it was otherwise.
      yield* update('messages', left, sql`id = ${id}`);
    } else continue;
    yield { mail: 'reindex', id };
    changed++;
  }
  // What was replied may name the person without the address; all of these tables' rows are looked at once a slice.
  if (erased.length > 0) yield* run`DELETE FROM traffic_replies WHERE message ${among(erased)}`;
  return { changed, open, segments: [...segments] };
}

/** Texts of a delivery. Those of a message that is not final are looked for with the message. */
const TOLD = ['orcpt', 'last_reply', 'provider_message_id'] as const;

type Recipient = { readonly place: number; readonly address: string } & Readonly<
  Record<(typeof TOLD)[number], string | null>
>;

/** Whether a message is from the person. */
function isFrom({ reverse_path: path, header_from: from }: Texts, person: Person): boolean {
  return (
    (typeof path === 'string' && isAddressOf(path, person)) ||
    (typeof from === 'string' && isMailboxOf(from, person))
  );
}

interface OwnMessage extends MessageRef {
  readonly id: string;
  readonly row: Texts;
  /** The columns that name the person. */
  readonly left: Texts;
  readonly isAuthor: boolean;
  /** The person's places among the recipients. */
  readonly places: readonly number[];
}

/** What is left of a message to or of the person: who else got it, when, and by which relay. */
function* eraseMessage({ ref, id, row, left, isAuthor, places }: OwnMessage, person: Person): Work<void> {
  const lastError = left['last_error'] ?? row['last_error'];
  const path = row['reverse_path'];
  const after: Record<string, Value> = {
    ...left,
    subject: '',
    metadata: '{}',
    last_error: typeof lastError === 'string' ? withoutTexts(lastError) : null,
    // Some senders write the recipient into it.
    ...(typeof path === 'string' && names(path, person) && { reverse_path: renamedIn(path, person) }),
    // With a name before it.
    ...(isAuthor && { header_from: person.pseudonym, source_address: null }),
  };
  yield* update('messages', after, sql`id = ${id}`);
  const ofMessage = sql`message = ${ref}`;
  yield* send`UPDATE deliveries SET last_reply = '' WHERE ${ofMessage} AND last_reply IS NOT NULL`;
  for (const place of places)
    yield* send`UPDATE deliveries SET address = ${person.pseudonym}, orcpt = NULL
      WHERE ${ofMessage} AND ${column('index')} = ${place}`;
  const attempts = yield* rows<{ number: number; evidence: string; results: string }>`
    SELECT number, evidence, results FROM attempts WHERE ${ofMessage}`;
  for (const { number, evidence, results } of attempts)
    yield* send`UPDATE attempts SET evidence = ${withoutTexts(renamedIn(evidence, person))},
      results = ${withoutTexts(renamedIn(results, person))} WHERE ${ofMessage} AND number = ${number}`;
  const events = yield* rows<{ seq: number; facts: string }>`
    SELECT seq, facts FROM events WHERE ${ofMessage} AND facts IS NOT NULL`;
  for (const { seq, facts } of events)
    yield* send`UPDATE events SET facts = ${withoutTexts(renamedIn(facts, person))} WHERE seq = ${seq}`;
  const bounces = yield* rows<{ idx: number; bounce: string }>`
    SELECT idx, bounce FROM aftermath WHERE message = ${id} AND bounce IS NOT NULL`;
  for (const { idx, bounce } of bounces)
    yield* send`UPDATE aftermath SET bounce = ${withoutTexts(renamedIn(bounce, person))}
      WHERE message = ${id} AND idx = ${idx}`;
  yield* send`UPDATE feedback SET evidence = '' WHERE message = ${id}`;
  yield* endStoryLinksOf(id);
}

// Other tables.

function* eraseRows(walk: Walk, slice: Sql): Work<{ changed: number }> {
  const { table, data, person } = walk;
  const keys = columnNames(data.key);
  const texts = [...columnNames(data.address), ...columnNames(data.text)];
  const encoded = columnNames(data.base64);
  // What is encoded cannot be searched by the database.
  const may = encoded.length > 0 ? sql`1 = 1` : mayName(texts, person);
  const found = yield* rows<Record<string, Value>>`
    SELECT ${keyColumns(keys.map(column))}, ${joined([...texts, ...encoded].map(readAs))}
    FROM ${plainly(table)} WHERE ${slice} AND ${may} ${table === 'deliveries' ? OF_FINAL_MESSAGE : sql``}`;
  let changed = 0;
  for (const row of found) {
    const left = renamedColumns(row, walk);
    const isAbout = 'address' in left;
    // Its message was not final when it was looked at: it is found again by this, and erased with its contents.
    if (isAbout && table === 'deliveries') continue;
    for (const name of encoded)
      if (row[name] !== '' && (isAbout || names(decoded(row[name] ?? null), person))) left[name] = '';
    if (Object.keys(left).length === 0) continue;
    changed++;
    const isRow = compared(keys.map(column), '=', keyOf(row, keys.length));
    // What is found by an address is found no more: it goes.
    if (keys.some((key) => key in left)) yield* run`DELETE FROM ${plainly(table)} WHERE ${isRow}`;
    else if (table === 'suppressions') yield* eraseEntry(row, left, isRow, person);
    else yield* update(table, withoutTheRest(table, left, person), isRow);
  }
  return { changed };
}

/** Deliveries of messages that are not final are erased with those. */
const OF_FINAL_MESSAGE = sql`AND EXISTS (SELECT 1 FROM messages
  WHERE messages.${MESSAGE_KEY} = deliveries.message AND messages.kept IS NOT NULL)`;

function readAs(name: string): Sql {
  return sql`${column(name)} AS ${plainly(name)}`;
}

/** Bytes from outside, as text of one character a byte. */
function decoded(base64: Value): string {
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64').toString('latin1') : '';
}

/** What else such a row tells of the person goes, too: a name before the address, and what somebody noted. */
function withoutTheRest(
  table: string,
  left: Record<string, Value>,
  { pseudonym }: Person,
): Record<string, Value> {
  if (table === 'journal' && 'subject' in left) return { ...left, before: null, after: null };
  return 'header_from' in left ? { ...left, header_from: pseudonym } : left;
}

/** An entry of the suppression list goes on stopping mail to the person: it is found by the pseudonym. */
function* eraseEntry(row: Texts, left: Record<string, Value>, isRow: Sql, person: Person): Work<void> {
  if (!('address' in left)) {
    yield* update('suppressions', left, isRow);
    return;
  }
  const { pseudonym } = person;
  const evidence = row['evidence'] ?? null;
  // Of somebody who was erased before, and suppressed again since.
  const former =
    yield* run`DELETE FROM suppressions WHERE address = ${pseudonym} AND stream = ${row['stream'] ?? ''}
    AND scope = (SELECT scope FROM suppressions WHERE ${isRow})`;
  if (former > 0) yield* send`INSERT INTO suppression_counts (change) VALUES (${-former})`;
  const entry = {
    ...left,
    address: pseudonym,
    domain: domainOfSuppressed(pseudonym),
    note: '',
    evidence: typeof evidence === 'string' ? withoutTexts(renamedIn(evidence, person)) : null,
  };
  yield* update('suppressions', entry, isRow);
}

function update(table: string, values: Readonly<Record<string, Value>>, isRow: Sql): Work<void> {
  const changes = Object.entries(values).map(
    ([name, value]): Sql =>
      (query) =>
        sql`${column(name)} = ${value}`(query),
  );
  return send`UPDATE ${plainly(table)} SET ${joined(changes)} WHERE ${isRow}`;
}
