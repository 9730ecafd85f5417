import { type Clock, systemClock } from '../../lib/clock.ts';
import type { Database } from '../../postgres/database.ts';
import { Listening } from '../../postgres/listening.ts';
import {
  type Cluster,
  type ClusterNode,
  FORGOTTEN_MS,
  MISSING_MS,
  type NodeBeat,
  type RateUnits,
} from '../cluster.ts';
import { fromJson } from '../columns.ts';
import { FIRST_DUE } from './lanes.ts';

/** A node as read from its row. */
interface NodeRow extends Omit<ClusterNode, 'roles' | 'sharesWith'> {
  readonly roles: string;
  readonly sharesWith: string | null;
}

/** How long rates are kept after the first second that is asked for, in seconds: as long as a key's window. */
const RATES_SECONDS = 60;
/** Most rates of others returned at a time, the newest first, and most old ones removed. */
const MAX_RATES = 50_000;
const MAX_REMOVED_RATES = 10_000;

/** What nodes over a database tell each other. */
export function clusterOver(database: Database): Cluster {
  const nodes = async (now: number) =>
    (await database.rows<NodeRow>(NODES, [now - FORGOTTEN_MS])).map(nodeOf);
  return {
    time: async () => {
      const [row] = await database.rows<{ time: number }>(TIME);
      return row?.time ?? 0;
    },
    beat: async (node, now) => {
      await database.transact(async (db) => {
        await db.run(BEAT, beatParameters(node, now));
        await db.run(FORGET, [now - FORGOTTEN_MS]);
        await db.run(HEARD_NOW, [now, now + MISSING_MS]);
      });
      return nodes(now);
    },
    leave: async (id) =>
      void (await database.transact((db) => db.run('DELETE FROM nodes WHERE id = $1', [id]))),
    nodes,
    dueLanes: async (lanes, now) =>
      (await database.rows<{ lane: string }>(DUE_LANES, [lanes, now])).map(({ lane }) => lane),
    ...newsOver(database),
    exchangeRates: async (node, mine, sinceSecond) =>
      database.transact(async (db) => {
        const columns = [
          mine.map(({ second }) => second),
          mine.map(({ keyId }) => keyId),
          mine.map(({ window }) => window),
          mine.map(({ units }) => units),
        ];
        if (mine.length > 0) await db.run(ADD_RATES, [node, ...columns]);
        await db.run(REMOVE_RATES, [sinceSecond - RATES_SECONDS, MAX_REMOVED_RATES]);
        return db.rows<RateUnits>(OTHERS_RATES, [node, sinceSecond, MAX_RATES]);
      }),
  };
}

function nodeOf({ roles, sharesWith, ...row }: NodeRow): ClusterNode {
  return {
    ...row,
    roles: fromJson<string[]>(roles),
    sharesWith: sharesWith === null ? null : fromJson<number[]>(sharesWith),
  };
}

function beatParameters(beat: NodeBeat, now: number) {
  const { id, name, roles, version, startedAt, sharesWith, lanes, report } = beat;
  const shares = sharesWith === null ? null : JSON.stringify(sharesWith);
  return [id, name, JSON.stringify(roles), version, startedAt, now, shares, lanes, report];
}

const TIME = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time`;

const BEAT = `INSERT INTO nodes (id, name, roles, version, started_at, last_seen_at, shares_with, lanes, report)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, roles = excluded.roles, version = excluded.version,
    last_seen_at = excluded.last_seen_at, shares_with = excluded.shares_with, lanes = excluded.lanes,
    report = excluded.report`;

// Skips a node that is just reporting again, instead of waiting for it: it may be about to remove us.
const FORGET = `DELETE FROM nodes WHERE id IN (
  SELECT id FROM nodes WHERE last_seen_at < $1 FOR UPDATE SKIP LOCKED)`;

const HEARD_NOW = `UPDATE nodes SET last_seen_at = $1 WHERE id IN (
  SELECT id FROM nodes WHERE last_seen_at > $2 FOR UPDATE SKIP LOCKED)`;

const NODES = `SELECT id, number, name, roles, version, started_at AS "startedAt", last_seen_at AS "lastSeenAt",
    shares_with AS "sharesWith", lanes, report
  FROM nodes WHERE last_seen_at >= $1 ORDER BY number`;

const DUE_LANES = `SELECT lane FROM depths WHERE lane = ANY($1::text[]) AND waiting > 0 AND ${FIRST_DUE} <= $2`;

const ADD_RATES = `INSERT INTO key_rates (node, second, key_id, rate_window, units)
  SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::integer[])
  ON CONFLICT (second, node, key_id, rate_window) DO UPDATE SET units = key_rates.units + excluded.units`;

// Any node removes old rows, also a dead node's.
const REMOVE_RATES = `DELETE FROM key_rates WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM key_rates WHERE second < $1 ORDER BY second LIMIT $2 FOR UPDATE SKIP LOCKED))`;

const OTHERS_RATES = `SELECT key_id AS "keyId", rate_window AS "window", second, sum(units)::bigint AS units
  FROM key_rates WHERE node <> $1 AND second >= $2
  GROUP BY second, key_id, rate_window ORDER BY second DESC LIMIT $3`;

/** Most bytes of a notification (postgresql.org, NOTIFY: less than 8000 in the default configuration). */
const MAX_PAYLOAD_BYTES = 7_999;

/** The notification of news on lanes. */
interface Notice {
  /** The server process of the sender's listening connection; 0 if it has none. */
  readonly from: number;
  /** Null: too many to name. */
  readonly lanes: readonly string[] | null;
}

/**
 * Tells nodes over a database of lanes with work, by notifications on a channel of the schema. One notification per
 * call, however many lanes: the server queues them under a lock that all its databases share.
 */
function newsOver(
  database: Database,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Pick<Cluster, 'tell' | 'listen'> {
  const own = new Set<Listening>();
  const processes = () => [...own].flatMap(({ process }) => process ?? []);
  const channel = async () => (await database.rows<{ channel: string }>(CHANNEL))[0]?.channel ?? '';
  return {
    tell: async (lanes) => {
      if (lanes.length === 0) return;
      const from = processes()[0] ?? 0;
      const named = JSON.stringify({ from, lanes } satisfies Notice);
      const fits = Buffer.byteLength(named) <= MAX_PAYLOAD_BYTES;
      await database.rows(NOTIFY, [fits ? named : JSON.stringify({ from, lanes: null } satisfies Notice)]);
    },
    listen: (told) => {
      const heard = (payload: string) => {
        const { from, lanes } = noticeIn(payload);
        if (from === 0 || !processes().includes(from)) told(lanes);
      };
      const listening = new Listening({ database, clock, channel, heard, missed: () => told(null) });
      own.add(listening);
      return () => {
        own.delete(listening);
        listening.end();
      };
    },
  };
}

/** Reads a notification. Anyone who can connect can notify anything: an unreadable one means to look everywhere. */
function noticeIn(payload: string): Notice {
  const unreadable = { from: 0, lanes: null };
  try {
    const value: unknown = JSON.parse(payload);
    if (typeof value !== 'object' || value === null || !('from' in value) || !('lanes' in value))
      return unreadable;
    const { from, lanes } = value;
    if (typeof from !== 'number' || (lanes !== null && !isTexts(lanes))) return unreadable;
    return { from, lanes };
  } catch {
    return unreadable;
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** Hashed, so that its length does not depend on the schema's name: a channel name may have 63 bytes. */
const CHANNEL_NAME = `'waybill_' || md5(current_schema())`;

const CHANNEL = `SELECT ${CHANNEL_NAME} AS channel`;

/** A hint need not be on stable storage: no call waits for the disk while it holds the notification lock. */
const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL_NAME}, $1)`;
