import { type MessageStatus, whenCancelled, whenRescheduled, whenRetried } from '../../domain/delivery.ts';
import type { LaneLease } from '../../domain/lane.ts';
import type {
  CancelAnswer,
  InboxMark,
  Reassignment,
  RequeueAnswer,
  RequeueRequest,
  RescheduleAnswer,
  RescheduleRequest,
} from '../acting.ts';
import type { Applying } from '../applying.ts';
import { fromGroup } from '../columns.ts';
import { BYTES_GAUGE } from '../counting.ts';
import type { Synchronous } from '../forwarding.ts';
import type { Stamp, Store } from '../store.ts';
import type { ContentPlace, Relocation, SegmentUse, Tally } from '../upkeep.ts';
import { acceptVerb, foreseeVerb } from './accept.ts';
import type { Books } from './books.ts';
import { claimVerb } from './claim.ts';
import { rebuild } from './connection.ts';
import { Deliveries } from './deliveries.ts';
import { asFlag, type Driver } from './driver.ts';
import { applyVerbs } from './finished.ts';
import { type PlainVerbs, plainVerbs } from './plain.ts';
import { purgeVerb } from './purge.ts';
import { decideRestoredVerb } from './restored.ts';
import { AttemptLog, beginVerb, releaseVerb, settleVerb, suppressVerb } from './settle.ts';
import { expireVerb, expiringVerb, reclaimVerb } from './sweep.ts';
import { MailTelling, tellVerbs } from './telling.ts';
import { indexVerb } from './word-index.ts';

/** Everything that runs on the writing connection. Each verb runs inside its caller's transaction. */
export type Verbs = Synchronous<Omit<Store, 'close'> & Applying> &
  PlainVerbs & {
    readonly holdPseudonymKey: (key: Uint8Array) => void;
    /** The writer runs it between transactions. */
    readonly rebuild: () => ReturnType<typeof rebuild>;
  };

/** Builds every verb over one connection. */
export function createVerbs(books: Books): Verbs {
  const deliveries = new Deliveries(books);
  const attempts = new AttemptLog(books);
  const telling = new MailTelling(books, deliveries);
  return {
    accept: acceptVerb(books),
    foresee: foreseeVerb(books),
    claim: claimVerb(books, deliveries),
    begin: beginVerb(books, deliveries),
    settle: settleVerb(books, deliveries, attempts, telling),
    release: releaseVerb(books, deliveries),
    reclaim: reclaimVerb(books, deliveries, attempts),
    expiring: expiringVerb(books),
    expire: expireVerb(books, deliveries, telling),
    suppress: suppressVerb(books, deliveries),
    ...tellVerbs(books, telling),
    cancel: cancelVerb(books, deliveries),
    requeue: requeueVerb(books, deliveries),
    reschedule: rescheduleVerb(books, deliveries),
    reassign: reassignVerb(books),
    purge: purgeVerb(books),
    discard: discardVerb(books),
    mark: markVerb(books),
    index: indexVerb(books.db),
    ...applyVerbs(books, deliveries, attempts),
    ...laneVerbs(books),
    ...segmentVerbs(books),
    ...relocateVerbs(books),
    decideRestored: decideRestoredVerb(books, deliveries),
    tally: (counts: readonly Tally[], at: Stamp): void => {
      for (const { event, count } of counts) books.tallies.count(event, at, count);
    },
    ...plainVerbs(books.db, books.pseudonyms),
    rebuild: () => rebuild(books.db),
    holdPseudonymKey: (key: Uint8Array): void => books.pseudonyms.hold(key),
  };
}

function laneVerbs(books: Books) {
  const { leases } = books;
  return {
    acquireLanes: (
      wanted: readonly string[],
      limit: number,
      leaseUntil: number,
      at: Stamp,
      except: readonly string[] = [],
    ): LaneLease[] => {
      // Must also find what was accepted in the same transaction.
      books.closeOff();
      const lanes = new Set([...wanted, ...leases.due(limit, at.now, new Set(except))]);
      return [...lanes].flatMap((lane) => leases.grant(lane, leaseUntil, at) ?? []);
    },
    renewLanes: (held: readonly LaneLease[], leaseUntil: number, at: Stamp): string[] =>
      held.filter((lease) => !leases.extend(lease, leaseUntil, at)).map(({ lane }) => lane),
    releaseLanes: (held: readonly LaneLease[], at: Stamp): void => {
      for (const lease of held) leases.end(lease, at);
    },
  };
}

type KeptRow = [seq: number, status: MessageStatus, segment: number | null, length: number | null];

/** Builds the verb `discard`. */
function discardVerb({ db, tallies }: Books) {
  const find = db.prepare<[id: string], KeptRow>(
    `SELECT seq, status, segment, length FROM messages WHERE id = ? AND kept = 'captured'`,
  );
  const drop = db.prepare<[seq: number]>(
    `UPDATE messages SET kept = 'gone', segment = NULL, offset = NULL, length = NULL, copies = NULL WHERE seq = ?`,
  );
  return (ids: readonly string[]): boolean[] =>
    ids.map((id) => {
      const [seq, status, segment, length] = find.get(id) ?? [];
      if (seq === undefined) return false;
      drop.run(seq);
      if (segment != null && length != null) {
        tallies.segment(segment, -1, -length);
        tallies.gauge(BYTES_GAUGE.captured, -length);
        if (status === 'failed') tallies.gauge('failed_kept', -1);
      }
      return true;
    });
}

/** Builds the verb `mark`. */
function markVerb({ db }: Books) {
  const change = db.prepare<[read: number | null, tags: string | null, id: string]>(
    `UPDATE messages SET inbox_read = coalesce(?, inbox_read), inbox_tags = coalesce(?, inbox_tags)
     WHERE id = ? AND kept = 'captured'`,
  );
  return (marks: readonly InboxMark[], _at: Stamp): boolean[] =>
    marks.map(({ id, read, tags }) => {
      const flag = read === undefined ? null : asFlag(read);
      return change.run(flag, tags === undefined ? null : JSON.stringify(tags), id) > 0;
    });
}

/** Builds the verbs on segments' live counts. */
function segmentVerbs(books: Books) {
  const live = books.db.prepare<[segment: number], [live: number]>(
    'SELECT live FROM segments WHERE segment = ?',
  );
  const use = books.db.prepare<[segment: number], [live: number, bytes: number]>(
    'SELECT live, bytes FROM segments WHERE segment = ?',
  );
  const forget = books.db.prepare<[segment: number]>('DELETE FROM segments WHERE segment = ? AND live = 0');
  return {
    liveSegments: (segments: readonly number[]): Map<number, number> => {
      books.tallies.flush();
      return new Map(segments.map((segment) => [segment, live.get(segment)?.[0] ?? 0]));
    },
    segmentUse: (segments: readonly number[]): Map<number, SegmentUse> => {
      books.tallies.flush();
      return new Map(
        segments.map((segment) => {
          const [live, bytes] = use.get(segment) ?? [0, 0];
          return [segment, { live, bytes }];
        }),
      );
    },
    forgetSegments: (segments: readonly number[]): void => {
      books.tallies.flush();
      for (const segment of segments) forget.run(segment);
    },
  };
}

/** Builds the verb `reassign`. Another route changes no state, so no message changes. */
function reassignVerb(books: Books) {
  // The plus sign keeps the search to the primary key.
  const move = books.db.prepare<
    [
      lane: string | null,
      relay: string | null,
      rule: string | null,
      group: string | null,
      byRelay: string | null,
      id: string,
      index: number,
      fromLane: string | null,
    ],
    [dueAt: number]
  >(
    // An id is the relay's that gave it.
    `UPDATE deliveries SET lane = ?, relay = ?, route_rule = ?, route_group = ?,
       provider_message_id = CASE WHEN relay IS ? THEN provider_message_id END
     WHERE message = (SELECT seq FROM messages WHERE id = ?) AND idx = ?
       AND due_at IS NOT NULL AND +lane IS ? RETURNING due_at`,
  );
  return (moves: readonly Reassignment[], _at: Stamp): boolean[] => moves.map(reassign);

  function reassign({ messageId, index, fromLane, to, rule, group }: Reassignment): boolean {
    const lane = to?.lane ?? null;
    const relay = to?.relay ?? null;
    const moved = move.get(lane, relay, rule, fromGroup(group), relay, messageId, index, fromLane);
    if (moved === undefined) return false;
    books.depths.leave(fromLane);
    books.depths.enter(lane, moved[0]);
    return true;
  }
}

/** Builds the verbs on the places of contents. */
function relocateVerbs(books: Books) {
  const sql = prepareRelocate(books.db);
  return {
    relocatable: (places: readonly ContentPlace[]): boolean[] =>
      places.map(({ messageId, content: { segment, offset, length } }) =>
        Boolean(sql.find.get(messageId, segment, offset, length)),
      ),
    relocate: (batch: readonly Relocation[], _at: Stamp): boolean[] =>
      batch.map(({ messageId, content, to }) => {
        const { segment, offset, length } = content;
        if (sql.move.run(to.segment, to.offset, messageId, segment, offset, length) === 0) return false;
        books.tallies.segment(segment, -1, -length);
        books.tallies.segment(to.segment, 1, length);
        return true;
      }),
  };
}

/** An attempt under way may read at the place it was leased with. */
const IS_THERE = 'id = ? AND segment = ? AND offset = ? AND length = ? AND processing = 0';

function prepareRelocate(db: Driver) {
  return {
    find: db.prepare<[id: string, segment: number, offset: number, length: number], [1]>(
      `SELECT 1 FROM messages WHERE ${IS_THERE}`,
    ),
    move: db.prepare<
      [toSegment: number, toOffset: number, id: string, segment: number, offset: number, length: number]
    >(`UPDATE messages SET segment = ?, offset = ? WHERE ${IS_THERE}`),
  };
}

/** Builds the verb `cancel`. */
function cancelVerb(books: Books, deliveries: Deliveries) {
  return (ids: readonly string[], at: Stamp): CancelAnswer[] => {
    const answers = ids.map((id) => cancelMessage(id, at));
    books.ledger.flush(at);
    return answers;
  };

  function cancelMessage(id: string, at: Stamp): CancelAnswer {
    const message = books.ledger.open(id);
    if (message === null) return 'not_found';
    let cancelled = false;
    for (const delivery of deliveries.all(message)) {
      const verdict = whenCancelled(delivery.state);
      if (verdict === 'fails') deliveries.cancel(delivery, at);
      if (verdict === 'is_marked') deliveries.requestCancel(delivery);
      cancelled ||= verdict !== 'stays';
    }
    return cancelled ? 'cancelled' : 'final';
  }
}

/** Builds the verb `requeue`. */
function requeueVerb(books: Books, deliveries: Deliveries) {
  return (requests: readonly RequeueRequest[], at: Stamp): RequeueAnswer[] => {
    const answers = requests.map((request) => requeueMessage(request, at));
    books.ledger.flush(at);
    return answers;
  };

  function requeueMessage({ id, expiresAt }: RequeueRequest, at: Stamp): RequeueAnswer {
    const message = books.ledger.open(id);
    if (message === null) return { kind: 'not_found' };
    const { failed, retrying } = message.counts;
    if (failed + retrying > 0 && message.length === null) return { kind: 'content_expired' };
    // A delivery cancelled before its send time keeps that time, and its full lifetime from then on.
    const dueAt = Math.max(at.now, message.notBefore ?? 0);
    const endsAt = expiresAt + dueAt - at.now;
    const lanes = new Set<string>();
    let changed = false;
    for (const delivery of deliveries.all(message)) {
      const verdict = whenRetried(delivery);
      changed ||= verdict !== 'stays';
      if (verdict === 'goes_on') deliveries.forgetCancel(delivery);
      if (verdict !== 'queued' && verdict !== 'retrying') continue;
      deliveries.requeue(delivery, verdict, dueAt, endsAt);
      if (delivery.lane !== null) lanes.add(delivery.lane);
      message.expiresAt = Math.max(message.expiresAt, endsAt);
    }
    return changed ? { kind: 'requeued', lanes: [...lanes] } : { kind: 'nothing_to_retry' };
  }
}

/** Builds the verb `reschedule`. */
function rescheduleVerb(books: Books, deliveries: Deliveries) {
  return (requests: readonly RescheduleRequest[], at: Stamp): RescheduleAnswer[] => {
    const answers = requests.map((request) => rescheduleMessage(request, at));
    books.ledger.flush(at);
    return answers;
  };

  function rescheduleMessage({ id, sendAt, expiresAt }: RescheduleRequest, { now }: Stamp): RescheduleAnswer {
    const message = books.ledger.open(id);
    if (message === null) return { kind: 'not_found' };
    const verdict = whenRescheduled(message, now);
    if (verdict !== 'moves') return { kind: verdict };
    const dueAt = Math.max(now, sendAt);
    const endsAt = expiresAt + dueAt - now;
    const waiting = deliveries.all(message).filter(({ state }) => state === 'queued');
    for (const delivery of waiting) deliveries.reschedule(delivery, dueAt, endsAt);
    deliveries.setSendAt(message, sendAt);
    message.expiresAt = endsAt;
    return { kind: 'rescheduled', lanes: [...new Set(waiting.flatMap(({ lane }) => lane ?? []))], dueAt };
  }
}
