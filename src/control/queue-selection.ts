import type { Loaded } from '../config/load.ts';
import { laneOf, relayOfLane } from '../domain/lane.ts';
import { addressTest } from '../domain/mailbox.ts';
import type { Relay } from '../domain/relay.ts';
import { MANUAL_RULE } from '../domain/route.ts';
import { OperationError } from '../operations/call.ts';
import type { QueueActView, SelectableStatus, Selection } from '../operations/queue.ts';
import type { RequestOf } from '../operations/table.ts';
import type { MessageDetail, RecipientRecord, WaitingDelivery, WaitingQuery } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';

/**
 * Acts on a selection in bounded parts. Waiting recipients are read in the store's order, lane by lane if one is named;
 * failed ones are listed by message. Retry and cancel act on whole messages: one is selected when any of its recipients
 * is. Mail of test keys can at most be cancelled, never rerouted.
 */

/** Waiting deliveries examined in one call. */
const WAITING_PAGE = 500;
/** Failed messages examined in one call. */
const FAILED_PAGE = 100;
/** The beginning of a cursor after all waiting mail was seen. */
const FAILED_PHASE = 'failed ';

/** The usual states for each act. */
const USUAL: Readonly<Record<RequestOf<'actOnQueue'>['act'], readonly SelectableStatus[]>> = {
  retry: ['retrying'],
  cancel: ['queued', 'retrying'],
  reroute: ['queued', 'retrying'],
};

/** All states that allow each act. */
const POSSIBLE: Readonly<Record<RequestOf<'actOnQueue'>['act'], readonly SelectableStatus[]>> = {
  ...USUAL,
  retry: ['retrying', 'failed'],
};

/** What acting on a selection needs. */
interface ActDeps extends Pick<LocalDeps, 'views' | 'acts' | 'clock'> {
  readonly resolution: () => Pick<Loaded, 'config'>;
}

/** See `QueueOperations.actOnQueue`. */
export async function actOnQueue(request: RequestOf<'actOnQueue'>, deps: ActDeps): Promise<QueueActView> {
  const job = readJob(request, deps);
  const { cursor } = request;
  const wantsFailed = job.statuses.has('failed');
  const wantsWaiting = job.statuses.size > (wantsFailed ? 1 : 0);
  if (cursor?.startsWith(FAILED_PHASE) || !wantsWaiting)
    return await failedPart(cursor === null ? null : cursor.slice(FAILED_PHASE.length) || null, job, deps);
  const part = await waitingPart(cursor, job, deps);
  return part.next === null && wantsFailed ? { ...part, next: FAILED_PHASE } : part;
}

/** A validated request. */
interface Job extends Pick<RequestOf<'actOnQueue'>, 'act' | 'dryRun'> {
  readonly selection: Selection;
  readonly statuses: ReadonlySet<SelectableStatus>;
  /** The relay to reroute to; null to follow the routing table. */
  readonly target: Relay | null;
  readonly now: number;
  readonly isRecipient: (address: string) => boolean;
  readonly isSender: (address: string) => boolean;
}

function readJob({ act, selection, toRelay, dryRun }: RequestOf<'actOnQueue'>, deps: ActDeps): Job {
  const { all, statuses, ...conditions } = selection;
  const some = statuses.length > 0 || Object.values(conditions).some((value) => value !== null);
  if (some === all)
    throw new OperationError(
      'invalid',
      all
        ? 'Give either --all or other conditions, not both.'
        : 'Say which mail: by lane, relay, status, tag, to, from or age; or all of it.',
    );
  const wrong = statuses.find((status) => !POSSIBLE[act].includes(status));
  if (wrong !== undefined)
    throw new OperationError(
      'invalid',
      `${act} acts on mail that is ${POSSIBLE[act].join(' or ')}, not ${wrong}.`,
    );
  return {
    act,
    selection,
    dryRun,
    statuses: new Set(statuses.length > 0 ? statuses : USUAL[act]),
    target: toRelay === null ? null : readRelay(toRelay, deps),
    now: deps.clock.wall(),
    isRecipient: addressCondition('to', selection.to),
    isSender: addressCondition('from', selection.from),
  };
}

function readRelay(name: string, deps: ActDeps): Relay {
  const relay = deps.resolution().config.relays.find((candidate) => candidate.name === name);
  if (relay === undefined)
    throw new OperationError('not_found', `There is no relay ${name}. See: waybill relays list`);
  if (relay.disabled)
    throw new OperationError('refused', `The relay ${name} is disabled; mail would only wait for it.`);
  return relay;
}

function addressCondition(field: string, wanted: string | null): (address: string) => boolean {
  if (wanted === null) return () => true;
  if (wanted.includes('@')) return addressTest(wanted);
  throw new OperationError(
    'invalid',
    `${field}: must be an address such as ann@example.com, or @example.com for a whole domain, not ${JSON.stringify(wanted)}.`,
  );
}

async function waitingPart(after: string | null, job: Job, deps: ActDeps): Promise<QueueActView> {
  const lane = laneToWalk(job.selection, deps);
  const page = await deps.views.waiting({ lane, after, limit: WAITING_PAGE });
  const meant = page.deliveries.filter((delivery) => isMeant(delivery, job));
  const inState = await withStatus(meant, job, deps);
  const done =
    job.act === 'reroute'
      ? await reroute(inState, job, deps)
      : await actOnMessages(idsOf(inState), job, deps);
  return { ...done, next: page.next };
}

/** The narrowest walk that covers the selection. */
function laneToWalk({ lane, relay }: Selection, deps: ActDeps): WaitingQuery['lane'] {
  if (lane !== null) return { name: lane };
  const found = deps.resolution().config.relays.find(({ name }) => name === relay);
  return found === undefined || found.type === 'mx' ? 'all' : { name: found.name };
}

function isMeant(delivery: WaitingDelivery, job: Job): boolean {
  const { selection, act, now } = job;
  if (!isWanted(delivery, selection, now)) return false;
  if (!job.isRecipient(delivery.recipient) || !job.isSender(delivery.reversePath)) return false;
  if (act === 'cancel') return true;
  // A test key's mail stays where it is, and due mail cannot come sooner.
  return !delivery.test && (act === 'reroute' || delivery.dueAt > now);
}

function isWanted(
  { relay, tags, createdAt }: Pick<WaitingDelivery, 'relay' | 'tags' | 'createdAt'>,
  selection: Selection,
  now: number,
): boolean {
  if (selection.relay !== null && relay !== selection.relay) return false;
  if (selection.tag !== null && !tags.includes(selection.tag)) return false;
  const { olderThanSeconds } = selection;
  return olderThanSeconds === null || createdAt <= now - olderThanSeconds * 1000;
}

/** Those in a wanted state. Only the message tells which of the waiting states a delivery is in. */
async function withStatus(
  deliveries: readonly WaitingDelivery[],
  { statuses }: Job,
  deps: ActDeps,
): Promise<readonly WaitingDelivery[]> {
  if (statuses.has('queued') && statuses.has('retrying')) return deliveries;
  const details = await Promise.all(idsOf(deliveries).map((id) => deps.views.message(id)));
  const found = new Map(details.map((detail) => [detail?.message.id, detail]));
  const wanted: ReadonlySet<string> = statuses;
  return deliveries.filter(({ messageId, index }) => {
    const state = found.get(messageId)?.recipients.find((recipient) => recipient.index === index)?.state;
    return state !== undefined && wanted.has(state);
  });
}

function idsOf(deliveries: readonly WaitingDelivery[]): string[] {
  return [...new Set(deliveries.map(({ messageId }) => messageId))];
}

type Done = Omit<QueueActView, 'next'>;

async function actOnMessages(ids: readonly string[], job: Job, deps: ActDeps): Promise<Done> {
  if (job.dryRun) return { matched: ids.length, acted: 0 };
  // In parallel: the store writes concurrent acts in one transaction.
  const answers = await Promise.all(
    ids.map((id) => (job.act === 'retry' ? deps.acts.retry(id) : deps.acts.cancel(id))),
  );
  const acted = answers.filter((answer) => answer === 'requeued' || answer === 'cancelled').length;
  return { matched: ids.length, acted };
}

async function reroute(deliveries: readonly WaitingDelivery[], job: Job, deps: ActDeps): Promise<Done> {
  const { target, dryRun } = job;
  if (target === null) {
    const matched = deliveries.length;
    return { matched, acted: dryRun || matched === 0 ? 0 : await deps.acts.redecide(deliveries) };
  }
  const moves = deliveries.flatMap(({ messageId, index, lane, rule, recipient }) => {
    const to = { relay: target.name, lane: laneOf(target.name, target.type, recipient) };
    if (lane === to.lane && rule === MANUAL_RULE) return [];
    return [{ messageId, index, fromLane: lane, to, rule: MANUAL_RULE, group: [target.name] }];
  });
  const matched = moves.length;
  return { matched, acted: dryRun || matched === 0 ? 0 : await deps.acts.reroute(moves) };
}

/** Messages with failed recipients and none waiting; failed recipients beside waiting ones are retried with those. */
async function failedPart(before: string | null, job: Job, deps: ActDeps): Promise<QueueActView> {
  const { tag, to, from, olderThanSeconds } = job.selection;
  const until = olderThanSeconds === null ? null : job.now - olderThanSeconds * 1000 + 1;
  const filter = { tag, to, from, subject: null, since: null, until };
  const page = await deps.views.list({
    owner: 'all',
    statuses: ['failed'],
    filter,
    before,
    limit: FAILED_PAGE,
  });
  const live = page.messages.filter(({ test }) => !test).map(({ id }) => id);
  const details = needsRecipients(job.selection)
    ? await Promise.all(live.map((id) => deps.views.message(id)))
    : null;
  const ids =
    details === null
      ? live
      : details.flatMap((detail) => (hasFailedWhere(detail, job, deps) ? [detail.message.id] : []));
  const done = await actOnMessages(ids, job, deps);
  return { ...done, next: page.next === null ? null : FAILED_PHASE + page.next };
}

function needsRecipients({ lane, relay }: Selection): boolean {
  return lane !== null || relay !== null;
}

function hasFailedWhere(
  detail: MessageDetail | null,
  { selection }: Job,
  deps: ActDeps,
): detail is MessageDetail {
  const { lane, relay } = selection;
  const wentThere = (recipient: RecipientRecord) =>
    (relay === null || recipient.relay === relay) &&
    (lane === null || laneOfRecipient(recipient, deps) === lane);
  return (
    detail?.recipients.some((recipient) => recipient.state === 'failed' && wentThere(recipient)) ?? false
  );
}

/** The lane in which it failed; of a removed relay, its former name. */
function laneOfRecipient({ relay, address }: RecipientRecord, deps: ActDeps): string | null {
  if (relay === null) return null;
  const found = deps.resolution().config.relays.find(({ name }) => name === relay);
  return found === undefined ? relayOfLane(relay) : laneOf(relay, found.type, address);
}
