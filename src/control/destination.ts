import { parseDomain } from '../domain/domain-name.ts';
import { laneOf, relayOfLane } from '../domain/lane.ts';
import { mailboxProviderOf } from '../domain/mailbox-provider.ts';
import { replyGroupOf } from '../domain/reply-group.ts';
import type { LaneFigures } from '../engine/contract.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import type { Destination, DestinationOperations, DestinationPlace } from '../operations/destination.ts';
import { type ListPage, type MessageDetail, type RecipientRecord, UNFILTERED } from '../store/views.ts';
import { AnswerShare } from './answer-share.ts';
import type { LocalDeps } from './deps.ts';
import { wayOf } from './outlook.ts';
import { laneState, NONE_UNTRIED, restOf } from './queue.ts';

/** Why mail to one domain is late. */

/** All who ask for a domain within so long cost as much as one: much may have to be looked at. */
const SHARED_MS = 1_000;
/** Messages that are looked at. */
const MAX_MESSAGES = 100;
/** Pages of a list, each of which looks at no more than `MAX_EXAMINED` records. */
const MAX_PAGES = 5;
/** Different replies, and obstacles, that are shown of a place. */
const MAX_REPLIES = 10;

/** What it needs. */
export type DestinationDeps = Pick<LocalDeps, 'views' | 'queue' | 'resolution' | 'running' | 'clock'>;

/** See {@link DestinationOperations}. */
export function destinationOperations(deps: DestinationDeps): DestinationOperations {
  const shared = new AnswerShare<Destination>(deps.clock, SHARED_MS);
  return {
    destination: async ({ domain: text }) => {
      const domain = readDomain(text);
      return await shared.ask(domain, () => destination(domain, deps));
    },
  };
}

function readDomain(text: string): string {
  const domain = parseDomain(text.trim().slice(text.trim().lastIndexOf('@') + 1));
  if (domain !== null) return domain;
  throw new OperationError('invalid', `domain: must be a domain such as example.org, not ${text}.`);
}

async function destination(domain: string, deps: DestinationDeps): Promise<Destination> {
  const { views, clock } = deps;
  const { ids, more } = await waitingMessages(domain, views);
  const details = await Promise.all(ids.map((id) => views.message(id)));
  const waiting = details.flatMap((detail) => (detail === null ? [] : waitingIn(detail, domain)));
  const byLane = Map.groupBy(waiting, ({ recipient }) => recipient.lane);
  const idle = idleLanes(domain, deps).filter((lane) => !byLane.has(lane));
  const places = [
    ...[...byLane].map(([lane, there]) => placeOf(lane, there, deps)),
    ...idle.map((lane) => placeOf(lane, [], deps)),
  ];
  return {
    domain,
    provider: mailboxProviderOf(domain, null)?.name ?? null,
    time: formatTimestamp(clock.wall()),
    places: places.sort((a, b) => b.waiting + b.processing - (a.waiting + a.processing)),
    messages: ids.length,
    more,
  };
}

/** The newest messages to it that wait. A page may have few of them, or none, though there are more. */
async function waitingMessages(
  domain: string,
  views: Pick<LocalDeps['views'], 'list'>,
): Promise<{ readonly ids: readonly string[]; readonly more: boolean }> {
  const ids: string[] = [];
  let before: string | null = null;
  for (let page = 0; page < MAX_PAGES && ids.length < MAX_MESSAGES; page++) {
    const found: ListPage = await views.list({
      owner: 'all',
      statuses: ['queued', 'processing', 'retrying'],
      filter: { ...UNFILTERED, to: `@${domain}` },
      before,
      limit: MAX_MESSAGES - ids.length,
    });
    ids.push(...found.messages.map(({ id }) => id));
    before = found.next;
    if (before === null) return { ids, more: false };
  }
  return { ids, more: true };
}

/** A recipient whose mail is not over. */
interface Waiting {
  readonly message: MessageDetail['message'];
  readonly recipient: RecipientRecord;
}

function waitingIn({ message, recipients }: MessageDetail, domain: string): Waiting[] {
  const isThere = ({ address, state }: RecipientRecord) =>
    state !== 'delivered' && state !== 'failed' && address.toLowerCase().endsWith(`@${domain}`);
  return recipients.filter(isThere).map((recipient) => ({ message, recipient }));
}

/** Its own lanes, of which something is known though no mail to it waits there. */
function idleLanes(domain: string, { queue, resolution }: DestinationDeps): string[] {
  return resolution().config.relays.flatMap(({ name, type }) => {
    const lane = laneOf(name, type, `@${domain}`);
    return type === 'mx' && queue.lane(lane) !== null ? [lane] : [];
  });
}

function placeOf(lane: string | null, there: readonly Waiting[], deps: DestinationDeps): DestinationPlace {
  const figures = lane === null ? null : deps.queue.lane(lane);
  const due = there.flatMap(({ recipient: { dueAt } }) => dueAt ?? []);
  const accepted = there.map(({ message }) => message.createdAt);
  return {
    ...stateOf(lane, figures, deps),
    waits: obstaclesOf(there, deps),
    waiting: there.filter(({ recipient }) => recipient.state !== 'processing').length,
    processing: there.filter(({ recipient }) => recipient.state === 'processing').length,
    since: first(accepted),
    nextAt: first(due),
    inFlight: figures?.inFlight ?? 0,
    concurrency: figures?.concurrency ?? null,
    perMinute: figures?.perMinute ?? 0,
    maxPerSecond: rateOf(lane, deps),
    replies: repliesOf(there),
  };
}

function stateOf(
  lane: string | null,
  figures: LaneFigures | null,
  { resolution }: DestinationDeps,
): Pick<DestinationPlace, 'lane' | 'relay' | 'state' | 'rest'> {
  if (lane === null) return { lane, relay: null, state: null, rest: null };
  const { config, holds } = resolution();
  const name = relayOfLane(lane);
  const relay = config.relays.find((one) => one.name === name);
  const state = laneState(lane, figures ?? undefined, { relay, holds, untried: NONE_UNTRIED });
  return { lane, relay: name, state, rest: restOf(name, state, figures === null ? [] : [figures]) };
}

function rateOf(lane: string | null, { resolution }: DestinationDeps): number | null {
  const name = lane === null ? null : relayOfLane(lane);
  return resolution().config.relays.find((relay) => relay.name === name)?.limits.maxRatePerSecond || null;
}

/** Each once, however many recipients it keeps. */
function obstaclesOf(there: readonly Waiting[], deps: DestinationDeps): DestinationPlace['waits'] {
  const all = there.flatMap(({ recipient }) => wayOf(recipient, deps).waits);
  return [...new Map(all.map((one) => [one.what, one])).values()].slice(0, MAX_REPLIES);
}

function first(times: readonly number[]): string | null {
  return times.length === 0 ? null : formatTimestamp(times.reduce((a, b) => Math.min(a, b)));
}

/** The newest message's reply stands for those alike. */
function repliesOf(there: readonly Waiting[]): DestinationPlace['replies'] {
  const byGroup = new Map<string, DestinationPlace['replies'][number]>();
  for (const { message, recipient } of there) {
    const { lastReply: text, lastCode: code, lastEnhanced: enhanced } = recipient;
    if (text === null) continue;
    const { group } = replyGroupOf({ code, enhanced, cause: '', text });
    const known = byGroup.get(group);
    const recipients = (known?.recipients ?? 0) + 1;
    byGroup.set(group, {
      ...(known ?? { reply: text, code, enhancedCode: enhanced, messageId: message.id }),
      recipients,
    });
  }
  return [...byGroup.values()].sort((a, b) => b.recipients - a.recipients).slice(0, MAX_REPLIES);
}
