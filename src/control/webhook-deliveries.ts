import type { Event } from '../domain/event.ts';
import { isTold, isToldOf, type WebhookDelivery } from '../domain/webhook.ts';
import { Problem } from '../http/problem.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { eventId, sequenceOfEvent } from '../lib/id.ts';
import type { OperationError } from '../operations/call.ts';
import type { RequestOf } from '../operations/table.ts';
import type { WebhookDeliveriesView, WebhookDeliveryView } from '../operations/webhooks.ts';
import { EVERY_EVENT } from '../store/events.ts';
import type { NewDelivery, StoredEndpoint, Webhooks } from '../store/webhooks.ts';
import { asRefusal, faulty, timeIn } from './suppression-view.ts';
import { sightOf, timeOrNull, tryView, typesIn, type WebhookDeps } from './webhook-view.ts';

/** What endpoints were told, and how they are told again. */

const MAX_REPLAYED = 100_000;
const PAGE = 1_000;

/** A page of what an endpoint was told. */
export async function webhookDeliveries(
  request: RequestOf<'webhookDeliveries'>,
  deps: WebhookDeps,
): Promise<WebhookDeliveriesView> {
  const { which, status = null, limit = 50, cursor = null, as = null } = request;
  await (await sightOf(as, deps)).endpoint(which);
  const before = cursor === null ? null : Number(cursor);
  if (before !== null && !Number.isSafeInteger(before))
    throw faulty('/cursor', 'bad_cursor', 'Must be the nextCursor of a page of this list.');
  const [since, until] = [timeIn(request.since ?? null, '/since'), timeIn(request.until ?? null, '/until')];
  const end = until === null ? null : await firstSince(until, deps);
  const { deliveries, next } = await deps.webhooks.deliveries({
    endpoint: which,
    state: status,
    before: end !== null && (before === null || before > end) ? end : before,
    from: since === null ? 0 : ((await firstSince(since, deps)) ?? Number.MAX_SAFE_INTEGER),
    limit,
  });
  const shown = await Promise.all(
    deliveries.map(async (one) => deliveryView(one, await eventOf(one.sequence, deps))),
  );
  return next === null
    ? { deliveries: shown, hasMore: false }
    : { deliveries: shown, hasMore: true, nextCursor: String(next) };
}

/** The sequence of the first event at a time or later (events lie nearly in the order of their times); null: none. */
async function firstSince(since: number, { views }: Pick<WebhookDeps, 'views'>): Promise<number | null> {
  let after = 0;
  for (;;) {
    const page = await views.events({ ...EVERY_EVENT, since, from: { after }, limit: 1 });
    const [event] = page.events;
    if (event !== undefined || !page.more) return event?.sequence ?? null;
    after = page.next ?? after;
  }
}

/** The event of a sequence; null: it is no longer kept. */
async function eventOf(sequence: number, { views }: Pick<WebhookDeps, 'views'>): Promise<Event | null> {
  const { events } = await views.events({ ...EVERY_EVENT, from: { after: sequence - 1 }, limit: 1 });
  return events.find((event) => event.sequence === sequence) ?? null;
}

/** The id of an event has its time in it; of one that is gone only its sequence is known. */
function deliveryView(
  { sequence, type, state, tries, nextTryAt }: Omit<WebhookDelivery, 'endpoint' | 'attempts'>,
  event: Event | null,
): WebhookDeliveryView {
  return {
    eventId: eventId(event?.at ?? 0, sequence),
    sequence,
    type,
    status: state,
    tries: tries.map(tryView),
    nextTryAt: timeOrNull(nextTryAt),
  };
}

/** Tells an endpoint of an event again. */
export async function retryWebhookDelivery(
  { which, eventId: id, as = null }: RequestOf<'retryWebhookDelivery'>,
  deps: WebhookDeps,
): Promise<WebhookDeliveryView> {
  const stored = await (await sightOf(as, deps)).endpoint(which);
  refuseUntold(stored, deps.clock.wall());
  const sequence = sequenceOfEvent(id);
  const event = sequence === null ? null : await eventOf(sequence, deps);
  if (sequence === null || event === null || !isToldOf(stored.endpoint, event)) {
    const detail = `The webhook ${which} is told of no event ${id}, or it is no longer kept.`;
    throw asRefusal('not_found', new Problem(404, 'event_not_found', detail));
  }
  const now = deps.clock.wall();
  await deps.webhooks.replayDeliveries(which, [{ endpoint: which, sequence, type: event.type }], now);
  await hurryOldest(stored, now, deps);
  const page = { endpoint: which, state: null, before: sequence + 1, from: sequence, limit: 1 };
  const { deliveries } = await deps.webhooks.deliveries(page);
  const [delivery] = deliveries;
  const fresh = { sequence, type: event.type, state: 'pending', tries: [], nextTryAt: now } as const;
  return deliveryView(delivery ?? fresh, event);
}

/** A failing endpoint is tried with its oldest event first, whose next try may be hours away. */
async function hurryOldest(
  { endpoint: { id }, health }: StoredEndpoint,
  now: number,
  { webhooks }: Pick<WebhookDeps, 'webhooks'>,
): Promise<void> {
  const oldest = health.state === 'failing' ? await webhooks.oldestDelivery(id) : null;
  if (oldest !== null) await webhooks.replayDeliveries(id, [oldest], now);
}

/** What nobody would post must not wait. */
function refuseUntold(stored: StoredEndpoint, now: number): void {
  if (isTold(stored, now)) return;
  const detail = `The webhook ${stored.endpoint.id} is told of nothing now; enable it first.`;
  throw asRefusal('refused', new Problem(409, 'webhook_disabled', detail));
}

/** Tells an endpoint of the events of a time again. */
export async function replayWebhook(
  { which, since, until = null, types = [], only = 'failed', as = null }: RequestOf<'replayWebhook'>,
  deps: WebhookDeps,
): Promise<{ replayed: number }> {
  const stored = await (await sightOf(as, deps)).endpoint(which);
  refuseUntold(stored, deps.clock.wall());
  const { endpoint } = stored;
  const [from, to] = [timeIn(since, '/since'), timeIn(until, '/until')];
  const asked = types.length === 0 ? endpoint : { ...endpoint, types: typesIn(types) };
  const most = deps.maxReplayed ?? MAX_REPLAYED;
  const told = new Set<number>();
  let after = 0;
  const found: NewDelivery[] = [];
  for (let more = true; more; ) {
    const page = await deps.views.events({
      ...EVERY_EVENT,
      since: from,
      until: to,
      from: { after },
      limit: PAGE,
    });
    const events = page.events.filter((event) => isToldOf(endpoint, event) && isToldOf(asked, event));
    if (only === 'failed')
      await noteTold(
        which,
        events.map(({ sequence }) => sequence),
        told,
        deps,
      );
    for (const { sequence, type } of events)
      if (!told.has(sequence)) found.push({ endpoint: which, sequence, type });
    if (found.length > most) throw tooManyEvents(most, events[0]?.at ?? deps.clock.wall());
    after = page.next ?? after;
    more = page.more;
  }
  const now = deps.clock.wall();
  for (let place = 0; place < found.length; place += PAGE)
    await deps.webhooks.replayDeliveries(which, found.slice(place, place + PAGE), now);
  if (found.length > 0) await hurryOldest(stored, now, deps);
  return { replayed: found.length };
}

function tooManyEvents(most: number, until: number): OperationError {
  const detail = `These are more than ${most} events. Replay a shorter time first: until ${formatTimestamp(until)}.`;
  return asRefusal('refused', new Problem(409, 'too_many_events', detail));
}

/** Notes which of these events the endpoint was told, or is about to be; one that failed so far is tried at once. */
async function noteTold(
  endpoint: string,
  sequences: readonly number[],
  told: Set<number>,
  { webhooks }: Pick<WebhookDeps, 'webhooks'>,
): Promise<void> {
  const [first, last] = [sequences[0], sequences.at(-1)];
  if (first === undefined || last === undefined) return;
  let before: number | null = last + 1;
  while (before !== null) {
    const page: Awaited<ReturnType<Webhooks['deliveries']>> = await webhooks.deliveries({
      endpoint,
      state: null,
      before,
      from: first,
      limit: PAGE,
    });
    for (const { sequence, state, tries } of page.deliveries)
      if (state === 'delivered' || (state === 'pending' && tries.length === 0)) told.add(sequence);
    before = page.next;
  }
}
