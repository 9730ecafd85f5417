import { type Clock, systemClock } from '../../lib/clock.ts';
import type { Database } from '../../postgres/database.ts';
import { Listening } from '../../postgres/listening.ts';
import type { Cluster } from '../cluster.ts';

/** Most bytes of a notification (postgresql.org, NOTIFY: less than 8000 in the default configuration). */
const MAX_PAYLOAD_BYTES = 7_999;

/** News on lanes as it is notified. */
interface Notice {
  /** The process of the server that serves the listening connection of whoever tells; 0 when it has none. */
  readonly from: number;
  /** Null: too many to be named. */
  readonly lanes: readonly string[] | null;
}

/**
 * Tells nodes over a database of lanes that have work, by notifications on a channel that each schema has of its own. One
 * notification a call, however many lanes: the server hands them out under a lock that all its databases share.
 */
export function newsOver(
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

/** What was notified. Anyone who may connect can notify anything: what cannot be read says to look everywhere. */
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

/** As long whatever the schema's name: a channel's may have 63 bytes. */
const CHANNEL_NAME = `'waybill_' || md5(current_schema())`;

const CHANNEL = `SELECT ${CHANNEL_NAME} AS channel`;

/** A hint need not be on stable storage: nobody waits for the disk while the notification's lock is held. */
const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL_NAME}, $1)`;
