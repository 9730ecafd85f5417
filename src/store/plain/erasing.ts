import { formsOf, names, type Person, renamed, withoutTexts } from '../../domain/erasing.ts';
import { domainOfSuppressed } from '../../domain/suppressed-address.ts';
import type { EraseAnswer, EraseRequest, OpenMessage } from '../erasing.ts';
import { PERSONAL_DATA, SQLITE_COLUMNS, type TableData } from '../personal-data.ts';
import type { MailWork } from './mail.ts';
import { among, joined, onPostgres, onSqlite, type Sql, sql, type Value } from './sql.ts';
import { rows, run, send, type Work } from './work.ts';

/**
 * Erases a person from the tables (`personal-data.ts`), a slice of one table in each transaction. A slice is a number
 * of rows in the order of the key, whether or not they name anybody, so that none takes long; doing one twice changes
 * nothing. Written once for both databases, except for what contents and words are.
 */

/** The verb `erase`. */
export function* erase({ person, step, after, limit }: EraseRequest): MailWork<EraseAnswer> {
  const data = PERSONAL_DATA[step];
  if (data === undefined) throw new RangeError(`no table ${step} is known`);
  const walk = { table: step, data, person };
  const from = after === null ? null : (JSON.parse(after) as Value[]);
  const keys = step === 'messages' ? [MESSAGE_KEY] : namesIn(data.key).map(column);
  const to = yield* endOfSlice(step, keys, from, limit);
  const slice = inSlice(keys, from, to);
  const done =
    step === 'messages'
      ? yield* eraseMessages(walk, slice, inSlice([sql`message`], from, to))
      : { ...(yield* eraseRows(walk, slice)), ...NO_MAIL };
  return { ...done, after: to === null ? null : JSON.stringify(to) };
}

interface Walk {
  readonly table: string;
  readonly data: TableData;
  readonly person: Person;
}

const NO_MAIL = { open: [], segments: [] } as const;

/** Messages are numbered in SQLite; other tables there refer to them by that number. */
const MESSAGE_KEY = sql`${onSqlite(sql`seq`)}${onPostgres(sql`id`)}`;

function namesIn(columns: string | undefined): string[] {
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
  const forms = formsOf(person);
  // Letters beyond ASCII are compared as they are.
  const lower = (name: string) =>
    sql`${onSqlite(sql`lower(${column(name)})`)}${onPostgres(sql`lower(${column(name)} COLLATE "C")`)}`;
  const conditions = columns.flatMap((name) =>
    forms.map(
      (form) =>
        sql`${onSqlite(sql`instr(${lower(name)}, ${form})`)}${onPostgres(sql`strpos(${lower(name)}, ${form})`)} > 0`,
    ),
  );
  return sql`(${conditions.reduce((all, one) => sql`${all} OR ${one}`, sql`1 = 0`)})`;
}

function renamedValue(value: Value, person: Person): Value {
  return typeof value === 'string' ? renamed(value, person) : value;
}

function namesPerson(value: Value, person: Person): boolean {
  return typeof value === 'string' && names(value, person);
}

// Messages.

interface MessageRef {
  readonly ref: string | number;
}

/** The texts of a message, by column. */
type Texts = Readonly<Record<string, Value>>;

function* eraseMessages(
  { data, person }: Walk,
  slice: Sql,
  ofDeliveries: Sql,
): MailWork<Omit<EraseAnswer, 'after'>> {
  const texts = namesIn(data.text);
  const own = yield* rows<MessageRef>`SELECT ${MESSAGE_KEY} AS ref FROM messages
    WHERE ${slice} AND ${mayName(texts, person)}`;
  const named = yield* rows<MessageRef>`SELECT DISTINCT message AS ref FROM deliveries
    WHERE ${ofDeliveries} AND ${mayName(['address', 'orcpt'], person)}`;
  const refs = [...new Set([...own, ...named].map(({ ref }) => ref))];
  if (refs.length === 0) return { changed: 0, ...NO_MAIL };
  const found = yield* rows<Texts & { ref: string | number; id: string; kept: string | null }>`
    SELECT ${MESSAGE_KEY} AS ref, id, kept, ${joined(texts.map(column))} FROM messages
    WHERE ${MESSAGE_KEY} ${among(refs)} ${onPostgres(sql`ORDER BY id FOR UPDATE`)}`;
  const open: OpenMessage[] = [];
  const segments = new Set<number>();
  let changed = 0;
  for (const { ref, id, kept, ...row } of found) {
    const recipients = yield* rows<{ place: number; address: string; orcpt: string | null }>`
      SELECT ${column('index')} AS place, address, orcpt FROM deliveries WHERE message = ${ref}`;
    const own = recipients.filter(
      ({ address, orcpt }) => namesPerson(address, person) || namesPerson(orcpt, person),
    );
    if (own.length === 0 && !texts.some((name) => namesPerson(row[name] ?? null, person))) continue;
    if (kept === null) {
      open.push({ id, alone: own.length === recipients.length });
      continue;
    }
    // The answer is what the step's type says.
    const segment = (yield { mail: 'forget', id }) as number | null;
    if (segment !== null) segments.add(segment);
    yield* eraseMessage(ref, id, row, new Set(own.map(({ place }) => place)), person);
    yield { mail: 'reindex', id };
    changed++;
  }
  return { changed, open, segments: [...segments] };
}

/** What is left of a message to or of the person: who else got it, when, and by which relay. */
function* eraseMessage(
  ref: string | number,
  id: string,
  texts: Texts,
  own: ReadonlySet<number>,
  person: Person,
): Work<void> {
  const isAuthor = namesPerson(texts['header_from'] ?? null, person);
  const lastError = renamedValue(texts['last_error'] ?? null, person);
  const left: Record<string, Value> = {
    ...Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, renamedValue(value, person)])),
    subject: '',
    metadata: '{}',
    last_error: typeof lastError === 'string' ? withoutTexts(lastError) : null,
    // With a name before it.
    ...(isAuthor && { header_from: person.pseudonym, source_address: null }),
  };
  yield* update('messages', left, sql`id = ${id}`);
  const ofMessage = sql`message = ${ref}`;
  for (const place of own)
    yield* send`UPDATE deliveries SET address = ${person.pseudonym}, orcpt = NULL,
      last_reply = CASE WHEN last_reply IS NULL THEN NULL ELSE '' END
      WHERE ${ofMessage} AND ${column('index')} = ${place}`;
  const attempts = yield* rows<{ number: number; evidence: string; results: string }>`
    SELECT number, evidence, results FROM attempts WHERE ${ofMessage}`;
  for (const { number, evidence, results } of attempts)
    yield* send`UPDATE attempts SET evidence = ${withoutTexts(evidence)},
      results = ${withoutTexts(renamed(results, person))} WHERE ${ofMessage} AND number = ${number}`;
  const events = yield* rows<{ seq: number; facts: string }>`
    SELECT seq, facts FROM events WHERE ${ofMessage} AND facts IS NOT NULL`;
  for (const { seq, facts } of events)
    yield* send`UPDATE events SET facts = ${withoutTexts(renamed(facts, person))} WHERE seq = ${seq}`;
  const bounces = yield* rows<{ idx: number; bounce: string }>`
    SELECT idx, bounce FROM aftermath WHERE message = ${id} AND bounce IS NOT NULL`;
  for (const { idx, bounce } of bounces)
    yield* send`UPDATE aftermath SET bounce = ${withoutTexts(renamed(bounce, person))}
      WHERE message = ${id} AND idx = ${idx}`;
  yield* send`UPDATE feedback SET evidence = '' WHERE message = ${id}`;
}

// Other tables.

function* eraseRows({ table, data, person }: Walk, slice: Sql): Work<{ changed: number }> {
  const keys = namesIn(data.key);
  const texts = namesIn(data.text);
  const encoded = namesIn(data.base64);
  // What is encoded cannot be searched by the database.
  const may = encoded.length > 0 ? sql`1 = 1` : mayName(texts, person);
  const found = yield* rows<Record<string, Value>>`
    SELECT ${keyColumns(keys.map(column))}, ${joined([...texts, ...encoded].map(readAs))}
    FROM ${plainly(table)} WHERE ${slice} AND ${may} ${table === 'deliveries' ? OF_FINAL_MESSAGE : sql``}`;
  let changed = 0;
  for (const row of found) {
    const left: Record<string, Value> = {};
    for (const name of texts)
      if (namesPerson(row[name] ?? null, person)) left[name] = renamedValue(row[name] ?? null, person);
    for (const name of encoded) if (namesPerson(decoded(row[name] ?? null), person)) left[name] = '';
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

/** A delivery of a message that is not final is found by its address, and erased with the message. */
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
  if (table === 'journal') return { ...left, before: null, after: null };
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
    evidence: typeof evidence === 'string' ? withoutTexts(renamed(evidence, person)) : null,
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
