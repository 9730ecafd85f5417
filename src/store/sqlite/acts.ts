import { whenCancelled, whenRetried } from '../../domain/acts.ts';
import type { CancelAnswer, RequeueAnswer, RequeueRequest } from '../acting.ts';
import type { Stamp } from '../store.ts';
import type { Books } from './books.ts';
import type { Deliveries } from './deliveries.ts';

/** Builds the verb `cancel`. */
export function cancelVerb(books: Books, deliveries: Deliveries) {
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
export function requeueVerb(books: Books, deliveries: Deliveries) {
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
    // What was cancelled before its time keeps its time, and as long a life from then on.
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
