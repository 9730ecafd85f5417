import type { Event } from '../domain/event.ts';
import { eventBody } from '../domain/event-body.ts';
import {
  hasSucceeded,
  healthAfter,
  isTold,
  isToldOf,
  nextTryAt,
  type PostWebhook,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookHealth,
  type WebhookTry,
} from '../domain/webhook.ts';
import { type Clock, WakeUp } from '../lib/clock.ts';
import { eventId } from '../lib/id.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import { EVERY_EVENT } from '../store/events.ts';
import type { Views } from '../store/views.ts';
import type { NewDelivery, StoredEndpoint, Webhooks } from '../store/webhooks.ts';
import type { Membership } from './membership.ts';

/**
 * WEBHOOKS: from the log of events to the endpoints that are told of them (contract-2 §B3). Accepting and settling mail
 * writes events and nothing else; all of this comes after, on one node, and nothing waits for it.
 */

/** What it needs. */
export interface WebhookRoomDeps {
  readonly webhooks: Webhooks;
  readonly views: Pick<Views, 'events'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  readonly post: PostWebhook;
  /** Takes over endpoints that stand in the configuration file; absent: there are none. */
  readonly takeOver?: () => Promise<void>;
  readonly membership: Pick<Membership, 'isFirst'>;
  readonly fault: (code: string, error: unknown) => void;
  /** How often to look for events, and for tries that are due; absent: every second. */
  readonly lookMs?: number;
  /** Most pending deliveries of one endpoint; absent: a million. Beyond it, events are left to a replay. */
  readonly maxPending?: number;
}

const LOOK_MS = 1_000;
/** Events that are looked at in one transaction. */
const PAGE = 200;
/** Deliveries that are added in one transaction. */
const MAX_ROWS = 2_000;
/** Requests at once to one endpoint. */
const MAX_AT_ONCE = 4;
/** How often pending deliveries are counted. */
const COUNT_MS = 60_000;
/** Deliveries that are forgotten in one transaction. */
const FORGOTTEN_AT_ONCE = 10_000;
const MAX_PENDING = 1_000_000;

/** An event that nobody keeps any more. */
const GONE: Pick<WebhookTry, 'status' | 'error' | 'answer' | 'retryAfterMs' | 'durationMs'> = {
  status: null,
  error: 'The event is no longer kept.',
  answer: '',
  retryAfterMs: null,
  durationMs: 0,
};

/** Tells endpoints of events, at least once. */
export class WebhookRoom {
  readonly #deps: WebhookRoomDeps;
  readonly #wakeUp = new WakeUp();
  /** The sequences that are being posted, by endpoint. */
  readonly #underWay = new Map<string, Set<number>>();
  readonly #ended = new Set<Promise<void>>();
  #pending: ReadonlyMap<string, number> = new Map();
  #countedAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;
  /** How endpoints fare by what was noted since they were last read. */
  readonly #noted = new Map<string, WebhookHealth>();
  /** How they fare by what was read or noted last. */
  #known = new Map<string, WebhookHealth>();
  /** Ends when what has come of tries until now is noted. */
  #noting: Promise<unknown> = Promise.resolve();

  constructor(deps: WebhookRoomDeps) {
    this.#deps = deps;
  }

  /** Ends a wait: there is something to tell, or to stop. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Tells of events until `stopping` aborts and `wake` is called. Resolves when nothing is being posted any more. */
  async run(stopping: AbortSignal): Promise<void> {
    const { clock, membership, fault } = this.#deps;
    while (!stopping.aborted) {
      try {
        // Two nodes at once, while the duty passes from one to the other, only repeat what may be repeated.
        if (membership.isFirst) await this.round(stopping);
        else this.#setPending(new Map());
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) fault('webhooks_failed', error);
        this.#isFailing = true;
      }
      if (!stopping.aborted) await this.#wakeUp.wait(clock, this.#deps.lookMs ?? LOOK_MS);
    }
    await Promise.all(this.#ended);
  }

  /** Fans out what has happened, and begins the tries that are due. */
  async round(stopping: AbortSignal): Promise<void> {
    this.#noted.clear();
    await this.#deps.takeOver?.();
    const read = await this.#deps.webhooks.webhookEndpoints();
    const stored = read.map((one) => this.#newest(one));
    this.#known = new Map(stored.map(({ endpoint: { id }, health }) => [id, health]));
    if (stored.length === 0) return this.#setPending(new Map());
    const now = this.#deps.clock.wall();
    const on = stored.filter((one) => isTold(one, now));
    await this.#fanOut(on, stopping);
    for (const one of on) if (!stopping.aborted) await this.#begin(this.#newest(one), stopping);
  }

  /** An endpoint as it fares now: a try may have ended since it was read. */
  #newest(stored: StoredEndpoint): StoredEndpoint {
    return { ...stored, health: this.#noted.get(stored.endpoint.id) ?? stored.health };
  }

  /** Whether no try that ended since has changed how an endpoint fares: who fails gets one at a time, who is gone gets none. */
  #isAsRead({ endpoint: { id }, health }: StoredEndpoint): boolean {
    return this.#known.get(id)?.state === health.state;
  }

  async #fanOut(stored: readonly StoredEndpoint[], stopping: AbortSignal): Promise<void> {
    const { webhooks, views, clock } = this.#deps;
    const told = await this.#withRoom(stored, stopping);
    for (let more = true; more && !stopping.aborted; ) {
      const cursor = await webhooks.webhookCursor();
      const limit = Math.max(1, Math.min(PAGE, Math.floor(MAX_ROWS / Math.max(1, told.length))));
      const page = await views.events({ ...EVERY_EVENT, from: { after: cursor }, limit });
      const next = page.next ?? cursor;
      if (next <= cursor) return;
      const deliveries = page.events.flatMap((event) => deliveriesOf(event, told));
      more = (await webhooks.fanOut(cursor, next, deliveries, clock.wall())) && page.more;
    }
  }

  /** What came of events that are no longer kept is forgotten with them. */
  async #forget(stopping: AbortSignal): Promise<void> {
    const { webhooks, views } = this.#deps;
    const { events } = await views.events({ ...EVERY_EVENT, from: { after: 0 }, limit: 1 });
    const [oldest] = events;
    // Over PostgreSQL a log may seem empty for a while, as long as transactions are under way.
    if (oldest === undefined) return;
    let gone = FORGOTTEN_AT_ONCE;
    while (gone === FORGOTTEN_AT_ONCE && !stopping.aborted)
      gone = await webhooks.forgetDeliveries(oldest.sequence, FORGOTTEN_AT_ONCE);
  }

  /** Endpoints whose pending deliveries are not too many. */
  async #withRoom(stored: readonly StoredEndpoint[], stopping: AbortSignal): Promise<StoredEndpoint[]> {
    const { webhooks, clock } = this.#deps;
    const now = clock.mono();
    if (now - this.#countedAt >= COUNT_MS) {
      this.#countedAt = now;
      this.#setPending(await webhooks.pendingDeliveries());
      await this.#forget(stopping);
    }
    const max = this.#deps.maxPending ?? MAX_PENDING;
    const hasRoom = ({ endpoint: { id } }: StoredEndpoint) => (this.#pending.get(id) ?? 0) < max;
    for (const { endpoint, health } of stored.filter((one) => !hasRoom(one)))
      if (health.state === 'healthy')
        await webhooks.setWebhookHealth(
          endpoint.id,
          {
            ...health,
            state: 'failing',
            failingSince: health.failingSince ?? clock.wall(),
            reason: `Overflow: ${max} events are pending; those that come now are left to a replay.`,
          },
          clock.wall(),
        );
    return stored.filter(hasRoom);
  }

  #setPending(pending: ReadonlyMap<string, number>): void {
    if (pending.size === 0 && this.#pending.size === 0) return;
    this.#pending = pending;
    const count = [...pending.values()].reduce((sum, one) => sum + one, 0);
    this.#deps.events.emit({ type: 'webhooks_pending', count });
  }

  /** Begins tries of an endpoint that are due; while it fails, one at a time, at the schedule of the oldest event. */
  async #begin(stored: StoredEndpoint, stopping: AbortSignal): Promise<void> {
    const { webhooks, clock } = this.#deps;
    if (stored.health.state === 'disabled') return;
    const { id } = stored.endpoint;
    const underWay = this.#underWay.get(id) ?? new Set<number>();
    this.#underWay.set(id, underWay);
    const now = clock.wall();
    if (stored.health.state === 'failing') {
      if (underWay.size > 0) return;
      const oldest = await webhooks.oldestDelivery(id);
      if (oldest !== null && (oldest.nextTryAt ?? 0) <= now && this.#isAsRead(stored))
        this.#try(stored, oldest, underWay, stopping);
      return;
    }
    const room = MAX_AT_ONCE - underWay.size;
    if (room <= 0) return;
    const due = await webhooks.dueDeliveries(id, now, MAX_AT_ONCE + underWay.size);
    if (!this.#isAsRead(stored)) return;
    for (const delivery of due.filter(({ sequence }) => !underWay.has(sequence)).slice(0, room))
      this.#try(stored, delivery, underWay, stopping);
  }

  #try(
    stored: StoredEndpoint,
    delivery: WebhookDelivery,
    underWay: Set<number>,
    stopping: AbortSignal,
  ): void {
    const { sequence } = delivery;
    underWay.add(sequence);
    const ended = this.#tell(stored, delivery, stopping)
      // Otherwise the next look is soon enough: what cannot be seen or written must not be tried on and on.
      .then(
        (wasTried) => {
          if (wasTried) this.#wakeUp.wake();
        },
        (error) => this.#deps.fault('webhook_failed', error),
      )
      .finally(() => {
        underWay.delete(sequence);
        this.#ended.delete(ended);
      });
    this.#ended.add(ended);
  }

  /** False: it could not be tried now. */
  async #tell(stored: StoredEndpoint, delivery: WebhookDelivery, stopping: AbortSignal): Promise<boolean> {
    const { endpoint, secrets } = stored;
    const { webhooks, clock, post, random, events } = this.#deps;
    const { sequence, attempts } = delivery;
    const event = await this.#eventOf(sequence);
    if (event === undefined) return false;
    if (!this.#isAsRead(stored)) return false;
    const startedAt = clock.wall();
    const one =
      event === null
        ? { ...GONE, at: startedAt }
        : await post(
            { endpoint, id: eventId(event.at, sequence), body: bodyOf(event, endpoint), secrets },
            stopping,
          );
    // What was cut off by our own end says nothing: the next process tries it again.
    if (stopping.aborted && !hasSucceeded(one)) return true;
    const now = clock.wall();
    const isDone = hasSucceeded(one);
    const next = isDone || event === null ? null : nextTryAt(attempts + 1, one, now, random.next());
    const state = isDone ? 'delivered' : next === null ? 'failed' : 'pending';
    await webhooks.settleDelivery({ endpoint: endpoint.id, sequence, attempts, one, state, nextTryAt: next });
    try {
      if (event !== null) await this.#note(endpoint.id, one);
    } finally {
      // Pages ask how the endpoint fares as soon as they hear of it.
      events.emit({ type: 'webhook_tried', endpoint: endpoint.id, result: isDone ? 'delivered' : 'failed' });
    }
    return true;
  }

  /** One after the other, as each begins where the one before has ended. */
  async #note(id: string, one: WebhookTry): Promise<void> {
    const noted = this.#noting.then(() => this.#noteHealth(id, one));
    this.#noting = noted.catch(() => {});
    await noted;
  }

  async #noteHealth(id: string, one: WebhookTry): Promise<void> {
    const { webhooks, clock } = this.#deps;
    const stored = (await webhooks.webhookEndpoints()).find(({ endpoint }) => endpoint.id === id);
    if (stored === undefined) return;
    const { health } = stored;
    if (hasSucceeded(one) && health.failures === 0 && health.state === 'healthy') return;
    const after = healthAfter(health, one);
    if (after === health) return;
    this.#noted.set(id, after);
    this.#known.set(id, after);
    await webhooks.setWebhookHealth(id, after, clock.wall());
  }

  /** Null: it is no longer kept; undefined: it cannot be seen yet, as a transaction before it is still under way. */
  async #eventOf(sequence: number): Promise<Event | null | undefined> {
    const { views } = this.#deps;
    const { events } = await views.events({ ...EVERY_EVENT, from: { after: sequence - 1 }, limit: 1 });
    const [event] = events;
    return event === undefined || event.sequence === sequence ? event : null;
  }
}

function deliveriesOf(event: Event, stored: readonly StoredEndpoint[]): NewDelivery[] {
  return stored.flatMap(({ endpoint }) =>
    isToldOf(endpoint, event) ? [{ endpoint: endpoint.id, sequence: event.sequence, type: event.type }] : [],
  );
}

/** The same bytes on every try. */
function bodyOf(event: Event, { includesSubject }: WebhookEndpoint): Buffer {
  const body = eventBody(event, eventId(event.at, event.sequence));
  const { message } = event;
  if (!includesSubject || message === null) return Buffer.from(JSON.stringify(body));
  const data = { ...body.data, message: { ...body.data.message, subject: message.subject } };
  return Buffer.from(JSON.stringify({ ...body, data }));
}
