import { EVENT_TYPES, type EventFacts, eventTypeOf } from '../../domain/event.ts';
import type { WebhookDelivery, WebhookEndpoint, WebhookHealth, WebhookTry } from '../../domain/webhook.ts';
import { fromJson } from '../columns.ts';
import { MAX_TRIES_KEPT, type NewDelivery, type StoredEndpoint, type Webhooks } from '../webhooks.ts';
import { among, Columns, onPostgres, sql } from './sql.ts';
import { alone, rows, run, type Subject, send, type Work } from './work.ts';

/** Endpoints of webhooks and their deliveries, as rows. */

interface EndpointRow {
  readonly id: string;
  readonly keyId: string | null;
  /** JSON: what is not a column. */
  readonly definition: string;
  readonly secrets: string;
  readonly health: string;
}

/** When the key of an endpoint ends. */
interface KeyEnds {
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

const ENDPOINT = new Columns<EndpointRow>({
  id: sql`id`,
  keyId: sql`key_id`,
  definition: sql`definition`,
  secrets: sql`secrets`,
  health: sql`health`,
});

interface DeliveryRow {
  readonly endpoint: string;
  readonly sequence: number;
  readonly type: number;
  readonly state: WebhookDelivery['state'];
  readonly tries: string;
  readonly attempts: number;
  readonly nextTryAt: number | null;
}

const DELIVERY = new Columns<DeliveryRow>({
  endpoint: sql`endpoint`,
  sequence: sql`seq`,
  type: sql`type`,
  state: sql`state`,
  tries: sql`tries`,
  attempts: sql`attempts`,
  nextTryAt: sql`next_try_at`,
});

function storedOf({
  id,
  keyId,
  definition,
  secrets,
  health,
  ...ends
}: EndpointRow & KeyEnds): StoredEndpoint {
  const rest = fromJson<Omit<WebhookEndpoint, 'id' | 'keyId'>>(definition);
  const endpoint = { id, keyId, ...rest };
  const keyEndsAt = ends.revokedAt ?? ends.expiresAt;
  return { endpoint, secrets, health: fromJson<WebhookHealth>(health), keyEndsAt };
}

function deliveryOf({ type, tries, ...row }: DeliveryRow): WebhookDelivery[] {
  const known = eventTypeOf(type);
  // A newer program wrote it.
  return known === null ? [] : [{ ...row, type: known, tries: fromJson<WebhookTry[]>(tries) }];
}

/** See {@link Webhooks}. */
export const WEBHOOKS: Subject<Webhooks> = {
  reads: {
    webhookEndpoints: 'statement',
    webhookCursor: 'statement',
    dueDeliveries: 'statement',
    oldestDelivery: 'statement',
    pendingDeliveries: 'statement',
    deliveries: 'statement',
  },
  verbs: {
    *webhookEndpoints() {
      const found = yield* rows<EndpointRow & KeyEnds>`
        SELECT endpoints.id, key_id AS "keyId", definition, secrets, health,
          expires_at AS "expiresAt", revoked_at AS "revokedAt"
        FROM webhook_endpoints AS endpoints LEFT JOIN keys ON keys.id = key_id ORDER BY endpoints.id`;
      return found.map(storedOf);
    },
    *addWebhookEndpoint({ endpoint, secrets, health }, { ofKey, all }) {
      yield* alone(sql`webhook_endpoints`);
      const others = yield* rows<{ keyId: string | null }>`SELECT key_id AS "keyId" FROM webhook_endpoints`;
      const own = others.filter(({ keyId }) => keyId !== null && keyId === endpoint.keyId);
      if (others.length >= all || own.length >= ofKey) return 'too_many';
      // Nobody was told of what has been until now.
      if (others.length === 0) {
        yield* send`DELETE FROM webhook_cursor`;
        yield* send`INSERT INTO webhook_cursor (seq) SELECT coalesce(max(seq), 0) FROM events`;
      }
      const { id, keyId, ...definition } = endpoint;
      const row = {
        id,
        keyId,
        definition: JSON.stringify(definition),
        secrets,
        health: JSON.stringify(health),
      };
      yield* send`INSERT INTO webhook_endpoints (${ENDPOINT.names}) VALUES (${ENDPOINT.values(row)})`;
      return 'added';
    },
    *changeWebhookEndpoint({ id, keyId: _, ...definition }, secrets) {
      const others = secrets === null ? sql`` : sql`, secrets = ${secrets}`;
      const changed = yield* run`UPDATE webhook_endpoints
        SET definition = ${JSON.stringify(definition)} ${others} WHERE id = ${id}`;
      return changed > 0;
    },
    *setWebhookHealth(id, health, now) {
      const [former] = yield* rows<Pick<EndpointRow, 'keyId' | 'health'>>`SELECT key_id AS "keyId", health
        FROM webhook_endpoints WHERE id = ${id} ${onPostgres(sql`FOR UPDATE`)}`;
      if (former === undefined) return false;
      const wasDisabled = fromJson<WebhookHealth>(former.health).state === 'disabled';
      // What was read before it was disabled must not undo that.
      if (wasDisabled && health.state === 'failing') return true;
      yield* send`UPDATE webhook_endpoints SET health = ${JSON.stringify(health)} WHERE id = ${id}`;
      if (health.state !== 'disabled' || wasDisabled) return true;
      yield* send`DELETE FROM webhook_deliveries WHERE endpoint = ${id} AND next_try_at IS NOT NULL`;
      const facts: EventFacts = { webhook: { id, keyId: former.keyId }, text: health.reason ?? '' };
      yield* send`INSERT INTO events (at, type, facts)
        VALUES (${now}, ${EVENT_TYPES['webhook.disabled'].code}, ${JSON.stringify(facts)})`;
      return true;
    },
    *removeWebhookEndpoint(id) {
      yield* send`DELETE FROM webhook_deliveries WHERE endpoint = ${id}`;
      return (yield* run`DELETE FROM webhook_endpoints WHERE id = ${id}`) > 0;
    },
    *webhookCursor() {
      const [row] = yield* rows<{ seq: number }>`SELECT seq FROM webhook_cursor`;
      return row?.seq ?? 0;
    },
    *fanOut(from, to, deliveries, now) {
      const moved = yield* run`UPDATE webhook_cursor SET seq = ${to} WHERE seq = ${from}`;
      if (moved === 0) return false;
      yield* add(deliveries, now);
      return true;
    },
    *dueDeliveries(endpoint, now, limit) {
      const due = yield* rows<DeliveryRow>`SELECT ${DELIVERY.selected} FROM webhook_deliveries
        WHERE endpoint = ${endpoint} AND next_try_at <= ${now} ORDER BY next_try_at, seq LIMIT ${limit}`;
      return due.flatMap(deliveryOf);
    },
    *oldestDelivery(endpoint) {
      const [row] = yield* rows<DeliveryRow>`SELECT ${DELIVERY.selected} FROM webhook_deliveries
        WHERE endpoint = ${endpoint} AND next_try_at IS NOT NULL ORDER BY seq LIMIT 1`;
      return row === undefined ? null : (deliveryOf(row)[0] ?? null);
    },
    *pendingDeliveries() {
      const counts = yield* rows<{ endpoint: string; pending: number }>`SELECT endpoint, count(*) AS pending
        FROM webhook_deliveries WHERE next_try_at IS NOT NULL GROUP BY endpoint`;
      return new Map(counts.map(({ endpoint, pending }) => [endpoint, pending]));
    },
    *settleDelivery({ endpoint, sequence, attempts, one, state, nextTryAt }) {
      const [row] = yield* rows<{ tries: string; attempts: number; nextTryAt: number }>`
        SELECT tries, attempts, next_try_at AS "nextTryAt" FROM webhook_deliveries
        WHERE endpoint = ${endpoint} AND seq = ${sequence} AND next_try_at IS NOT NULL
        ${onPostgres(sql`FOR UPDATE`)}`;
      if (row === undefined) return false;
      const tries = [...fromJson<WebhookTry[]>(row.tries), one];
      if (tries.length > MAX_TRIES_KEPT) tries.splice(1, tries.length - MAX_TRIES_KEPT);
      // Two nodes may try the same for a moment: the end of the older try does not hurry the schedule of the newer.
      const isOlder = state !== 'delivered' && row.attempts !== attempts;
      yield* send`UPDATE webhook_deliveries SET tries = ${JSON.stringify(tries)}, attempts = attempts + 1,
        state = ${isOlder ? 'pending' : state}, next_try_at = ${isOlder ? row.nextTryAt : nextTryAt}
        WHERE endpoint = ${endpoint} AND seq = ${sequence}`;
      return true;
    },
    *deliveries({ endpoint, state, before, from, limit }) {
      const ofState = state === null ? sql`` : sql`AND state = ${state}`;
      const found = yield* rows<DeliveryRow>`SELECT ${DELIVERY.selected} FROM webhook_deliveries
        WHERE endpoint = ${endpoint} AND seq >= ${from} AND seq < ${before ?? Number.MAX_SAFE_INTEGER} ${ofState}
        ORDER BY seq DESC LIMIT ${limit + 1}`;
      const page = found.slice(0, limit);
      return {
        deliveries: page.flatMap(deliveryOf),
        next: found.length > limit ? (page.at(-1)?.sequence ?? null) : null,
      };
    },
    *replayDeliveries(endpoint, deliveries, now) {
      const sequences = deliveries.map(({ sequence }) => sequence);
      yield* send`UPDATE webhook_deliveries SET state = 'pending', attempts = 0, next_try_at = ${now}
        WHERE endpoint = ${endpoint} AND seq ${among(sequences)}`;
      yield* add(deliveries, now);
      return deliveries.length;
    },
    *forgetDeliveries(before, limit) {
      return yield* run`DELETE FROM webhook_deliveries WHERE (endpoint, seq) IN (
        SELECT endpoint, seq FROM webhook_deliveries WHERE seq < ${before} LIMIT ${limit})`;
    },
  },
};

/** Adds those that are not there. */
function* add(deliveries: readonly NewDelivery[], now: number): Work<void> {
  for (const { endpoint, sequence, type } of deliveries)
    yield* send`INSERT INTO webhook_deliveries (endpoint, seq, type, state, tries, attempts, next_try_at)
      VALUES (${endpoint}, ${sequence}, ${EVENT_TYPES[type].code}, 'pending', '[]', 0, ${now})
      ON CONFLICT (endpoint, seq) DO NOTHING`;
}
