import type { ClientBase, QueryResult } from 'pg';

/** The settings of statements, in every session. */
export interface SessionSettings {
  /** The only schema to look up names in; null: the server's own search path. */
  readonly schema: string | null;
  /** How long the server works on a statement, in ms. */
  readonly statementMs: number;
  /** How long it waits for a lock, in ms. */
  readonly lockMs: number;
  /** How long it keeps an idle transaction, in ms. */
  readonly idleMs: number;
  /** See `DatabaseOptions.byIndex`. */
  readonly byIndex: boolean;
}

/** The server gives up this much earlier than we do, in ms, so that we know that nothing happened. */
const MARGIN_MS = 10_000;

/** The settings for statements with this time limit, in ms. */
export function settingsOf(
  statementMs: number,
  { schema, byIndex }: Pick<SessionSettings, 'schema' | 'byIndex'>,
): SessionSettings {
  const lockMs = Math.ceil(statementMs / 2);
  return { schema, byIndex, statementMs, lockMs, idleMs: statementMs + MARGIN_MS };
}

/** What a connection leads to. */
export interface Session {
  /**
   * Whether it has a server process to itself. Behind a pooler every transaction may have another one, so the
   * connection must use nothing that outlasts a transaction.
   */
  readonly isOwn: boolean;
  /**
   * Changes with every crash of the server; null if it does not say. It is when the archiver's statistics began, which
   * survive an orderly restart, are discarded in a crash, and are never the same on two servers.
   */
  readonly run: string | null;
  /** Whether {@link FLUSH} is allowed. */
  readonly mayFlush: boolean;
}

/** Assumed of an unknown connection. */
export const UNKNOWN_SESSION: Session = { isOwn: false, run: null, mayFlush: false };

/**
 * Brings all earlier commits of any session onto stable storage, as the session's `synchronous_commit` has it: a
 * server's log is flushed from its front, and this writes into it.
 */
export const FLUSH = "SELECT pg_logical_emit_message(true, 'waybill', '')";

/**
 * Finds out what a new connection leads to, and sets the session's settings if it has the session to itself. One round
 * trip.
 */
export async function openSession(client: ClientBase, settings: SessionSettings): Promise<Session> {
  // A pooler invents the process id that it announces for cancelling.
  const own = `pg_backend_pid() = ${processOf(client)}`;
  const { rows } = await client.query<Session>(`SELECT ${own} AS "isOwn", ${RUN} AS run,
    ${MAY_FLUSH} AS "mayFlush",
    CASE WHEN ${own} THEN ARRAY[${settingsSql(settings, false).join(', ')}] END`);
  const [row] = rows;
  return row ?? UNKNOWN_SESSION;
}

/**
 * Whether a commit may be flushed later. A commit of an own session is known to be flushed when {@link FLUSH} was
 * answered in it, or in another of the same run: no crash came between.
 */
export function mayFlushLater({ isOwn, run, mayFlush }: Session): boolean {
  return isOwn && run !== null && mayFlush;
}

/** How a transaction begins. */
export interface Beginning {
  /** As in `BEGIN ISOLATION LEVEL …`. */
  readonly isolation: string;
  /** Whether its number is needed. */
  readonly numbered: boolean;
  /** Settings for the transaction alone, instead of the session's. */
  readonly settings: SessionSettings | null;
  /** Its commit does not wait for its flush; see {@link FLUSH}. */
  readonly flushesLater: boolean;
}

/**
 * Begins a transaction with its settings, in one round trip; `settings` are the session's. Returns its number, which
 * can be asked about later; null if it has none.
 */
export async function beginTransaction(
  client: ClientBase,
  { isOwn }: Session,
  { isolation, numbered, settings: special, flushesLater }: Beginning,
  settings: SessionSettings,
): Promise<string | null> {
  const wanted = special !== null || !isOwn ? settingsSql(special ?? settings, true) : [];
  const columns = [
    ...wanted,
    ...(flushesLater ? ["set_config('synchronous_commit', 'off', true)"] : []),
    ...(numbered ? ['pg_current_xact_id() AS xid'] : []),
  ];
  const begin = `BEGIN ISOLATION LEVEL ${isolation}`;
  const text = columns.length === 0 ? begin : `${begin}; SELECT ${columns.join(', ')}`;
  const results: QueryResult<{ xid?: string }>[] = [await client.query<{ xid?: string }>(text)].flat();
  return results.at(-1)?.rows[0]?.xid ?? null;
}

/** An expression: see {@link Session.run}. */
export const RUN = '(SELECT stats_reset::text FROM pg_stat_archiver)';

/** Whether the statement is allowed; its parameters depend on the version. */
const MAY_FLUSH = `(SELECT coalesce(bool_and(has_function_privilege(oid, 'EXECUTE')), false) FROM pg_proc
  WHERE proname = 'pg_logical_emit_message' AND pronamespace = 'pg_catalog'::regnamespace)`;

/**
 * An expression that makes commits wait for the server's stable storage, for the transaction or the session, even if
 * its configuration says otherwise.
 */
export function setDurable(isLocal: boolean): string {
  return `CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', ${isLocal}) END`;
}

/** Expressions for the settings, for the transaction or the session. */
function settingsSql(
  { schema, statementMs, lockMs, idleMs, byIndex }: SessionSettings,
  isLocal: boolean,
): string[] {
  const set = (name: string, value: string) => `set_config('${name}', '${value}', ${isLocal})`;
  return [
    // Temporary tables last: otherwise they would be found before ours.
    ...(schema === null ? [] : [set('search_path', `${quotedName(schema)}, pg_temp`.replaceAll("'", "''"))]),
    set('statement_timeout', String(statementMs)),
    set('lock_timeout', String(lockMs)),
    set('idle_in_transaction_session_timeout', String(idleMs)),
    setDurable(isLocal),
    ...(byIndex ? BY_INDEX.map(([name, value]) => set(name, value)) : []),
    // Where no plan outlasts its transaction, a plan for the actual values costs no more, and reads less.
    ...(byIndex && !isLocal ? [set('plan_cache_mode', 'force_generic_plan')] : []),
  ];
}

/**
 * A plan is made once per session, often while the tables are new and empty: reading them whole looks cheap then, and
 * the plan stays in use when they are full. So costs are ignored.
 */
const BY_INDEX = [
  ['enable_seqscan', 'off'],
  ['enable_hashjoin', 'off'],
  ['enable_mergejoin', 'off'],
  ['jit', 'off'],
] as const;

/** The server process that answers, as announced when the connection was made. */
function processOf(client: ClientBase): number {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : -1;
}

/** An identifier as quoted in a statement. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
