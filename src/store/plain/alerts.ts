import type { Alert, AlertSilence } from '../../domain/alert.ts';
import type { AlertChannel } from '../../domain/alert-channel.ts';
import type { AlertRuleChange } from '../../domain/alert-rules.ts';
import type { Alerts, StoredChannel } from '../alerts.ts';
import { fromJson } from '../columns.ts';
import { among, Columns, sql } from './sql.ts';
import { alone, rows, run, type Subject, send, type Work } from './work.ts';

/** Alerts, and what operators decided about them, as rows. */

interface ChannelRow {
  readonly id: string;
  readonly name: string;
  /** JSON: what is not a column. */
  readonly definition: string;
  readonly secret: string | null;
}

const CHANNEL = new Columns<ChannelRow>({
  id: sql`id`,
  name: sql`name`,
  definition: sql`definition`,
  secret: sql`secret`,
});

interface AlertRow {
  readonly id: string;
  readonly fired: number;
  readonly isOpen: number;
  readonly endedAt: number | null;
  /** JSON: all of it but its id. */
  readonly body: string;
}

const ALERT = new Columns<AlertRow>({
  id: sql`id`,
  fired: sql`fired`,
  isOpen: sql`is_open`,
  endedAt: sql`ended_at`,
  body: sql`body`,
});

/** See {@link Alerts}. */
export const ALERTS: Subject<Alerts> = {
  reads: { alertSettings: 'snapshot', openAlerts: 'statement', alertHistory: 'statement' },
  verbs: {
    *alertSettings() {
      const rules = yield* rows<{ name: string; change: string }>`SELECT name, change FROM alert_rules`;
      const channels = yield* rows<ChannelRow>`SELECT ${CHANNEL.selected} FROM alert_channels ORDER BY id`;
      const silences = yield* rows<{
        definition: string;
      }>`SELECT definition FROM alert_silences ORDER BY ends_at, id`;
      return {
        rules: new Map(rules.map(({ name, change }) => [name, fromJson<AlertRuleChange>(change)])),
        channels: channels.map(storedOf),
        silences: silences.map(({ definition }) => fromJson<AlertSilence>(definition)),
      };
    },
    *setAlertRule(name, change) {
      if (Object.keys(change).length === 0) yield* send`DELETE FROM alert_rules WHERE name = ${name}`;
      else
        yield* send`INSERT INTO alert_rules (name, change) VALUES (${name}, ${JSON.stringify(change)})
          ON CONFLICT (name) DO UPDATE SET change = excluded.change`;
    },
    *addAlertChannel({ channel, secret }, max) {
      yield* alone(sql`alert_channels`);
      const [count] = yield* rows<{ all: number }>`SELECT count(*) AS "all" FROM alert_channels`;
      if ((count?.all ?? 0) >= max) return 'too_many';
      if (yield* isTaken(channel)) return 'name_taken';
      const row = { ...rowOf(channel), secret };
      yield* send`INSERT INTO alert_channels (${CHANNEL.names}) VALUES (${CHANNEL.values(row)})`;
      return 'added';
    },
    *changeAlertChannel(channel, secret) {
      yield* alone(sql`alert_channels`);
      if (yield* isTaken(channel)) return 'name_taken';
      const { id, name, definition } = rowOf(channel);
      const kept = secret === null ? sql`secret` : sql`${secret}`;
      const changed = yield* run`UPDATE alert_channels
        SET name = ${name}, definition = ${definition}, secret = ${kept} WHERE id = ${id}`;
      return changed > 0 ? 'changed' : 'no_channel';
    },
    *removeAlertChannel(id) {
      return (yield* run`DELETE FROM alert_channels WHERE id = ${id}`) > 0;
    },
    *addAlertSilence(silence, max, now) {
      yield* alone(sql`alert_silences`);
      yield* send`DELETE FROM alert_silences WHERE ends_at <= ${now}`;
      const [count] = yield* rows<{ all: number }>`SELECT count(*) AS "all" FROM alert_silences`;
      if ((count?.all ?? 0) >= max) return false;
      yield* send`INSERT INTO alert_silences (id, definition, ends_at)
        VALUES (${silence.id}, ${JSON.stringify(silence)}, ${silence.until})`;
      return true;
    },
    *removeAlertSilence(id) {
      return (yield* run`DELETE FROM alert_silences WHERE id = ${id}`) > 0;
    },
    *openAlerts(endedAfter) {
      const found = yield* rows<AlertRow>`SELECT ${ALERT.selected} FROM alerts
        WHERE is_open = 1 OR ended_at > ${endedAfter} ORDER BY id`;
      return found.map(alertOf);
    },
    *writeAlerts(alerts, removed) {
      if (removed.length > 0) yield* send`DELETE FROM alerts WHERE id ${among(removed)}`;
      for (const alert of alerts) {
        const row = rowOfAlert(alert);
        yield* send`INSERT INTO alerts (${ALERT.names}) VALUES (${ALERT.values(row)})
          ON CONFLICT (id) DO UPDATE SET fired = excluded.fired, is_open = excluded.is_open,
            ended_at = excluded.ended_at, body = excluded.body`;
      }
    },
    *alertHistory({ which, before, limit }) {
      const shown = which === 'open' ? sql`ended_at IS NULL` : sql`fired = 1`;
      const older = before === null ? sql`` : sql`AND id < ${before}`;
      const found = yield* rows<AlertRow>`SELECT ${ALERT.selected} FROM alerts
        WHERE ${shown} ${older} ORDER BY id DESC LIMIT ${limit + 1}`;
      const alerts = found.slice(0, limit).map(alertOf);
      return { alerts, next: found.length > limit ? (alerts.at(-1)?.id ?? null) : null };
    },
    *forgetAlerts(before, keep, limit) {
      const old = yield* run`DELETE FROM alerts WHERE id IN (
        SELECT id FROM alerts WHERE ended_at < ${before} LIMIT ${limit})`;
      if (old === limit) return old;
      const many = yield* run`DELETE FROM alerts WHERE id IN (
        SELECT id FROM alerts WHERE ended_at IS NOT NULL ORDER BY id DESC LIMIT ${limit - old} OFFSET ${keep})`;
      return old + many;
    },
  },
};

function* isTaken({ id, name }: AlertChannel): Work<boolean> {
  const [row] = yield* rows<{
    id: string;
  }>`SELECT id FROM alert_channels WHERE name = ${name} AND id <> ${id}`;
  return row !== undefined;
}

function rowOf({ id, name, ...definition }: AlertChannel): Omit<ChannelRow, 'secret'> {
  return { id, name, definition: JSON.stringify(definition) };
}

function storedOf({ id, name, definition, secret }: ChannelRow): StoredChannel {
  return { channel: { id, name, ...fromJson<Omit<AlertChannel, 'id' | 'name'>>(definition) }, secret };
}

function rowOfAlert({ id, ...rest }: Alert): AlertRow {
  const isTold = rest.notices.every(({ state }) => state !== 'pending');
  return {
    id,
    fired: rest.firedAt === null ? 0 : 1,
    isOpen: rest.resolvedAt === null || !isTold ? 1 : 0,
    endedAt: rest.resolvedAt,
    body: JSON.stringify(rest),
  };
}

function alertOf({ id, body }: AlertRow): Alert {
  // Earlier versions had no `unseenSince`.
  return { id, unseenSince: null, ...fromJson<Omit<Alert, 'id' | 'unseenSince'>>(body) };
}
