import type { Event, EventType } from '../../../src/domain/event.ts';
import {
  type BounceType,
  type Feedback,
  NO_FACTS,
  NO_MESSAGE,
  type ToldBounce,
} from '../../../src/domain/feedback.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { Suppression } from '../../../src/domain/suppression.ts';
import { createIdSource } from '../../../src/lib/id.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import { EVERY_EVENT } from '../../../src/store/events.ts';
import type { Stamp } from '../../../src/store/store.ts';
import type { OwnBounce, Telling, TellRules, ToldResult } from '../../../src/store/telling.ts';
import { TELL_RULES } from '../../support/telling.ts';
import {
  at,
  beginAll,
  DELIVERED,
  message,
  recipient,
  refTo,
  type Subject,
  settlement,
  T0,
  takeLane,
} from './fixtures.ts';

const random = seededRandom(11);
let wall = T0;
const nextEntryId = createIdSource({ wall: () => wall }, random, 'sup_');
const nextTellingId = createIdSource({ wall: () => T0 }, random, 'fbk_');

/** What is told of one recipient of a message: with its number where no address is given. */
export function told(id: string, kind: Feedback['kind'], change: Partial<Feedback> = {}): Feedback {
  const token = { id, recipient: change.recipient === undefined ? 0 : null };
  const message = { ...NO_MESSAGE, token };
  return { kind, source: 'dsn', message, recipient: null, bounce: NO_FACTS, at: null, ...change };
}

/** A bounce with these facts; a hard one for want of others. */
export function bounceOf(id: string, bounce: Partial<ToldBounce> = {}, change: Partial<Feedback> = {}) {
  const facts = { type: null, code: 550, enhancedCode: '5.1.1', text: 'No such user', ...bounce };
  return told(id, 'bounce', { bounce: facts, ...change });
}

/** How much and how early what is told may be. */
export interface Ways {
  readonly onceId?: string | null;
  readonly mayBeEarly?: boolean;
  readonly notBefore?: number;
  readonly evidence?: Telling['evidence'];
  readonly rules?: Partial<TellRules>;
}

/** What came in, telling all of this. */
function tellingOf(items: readonly Feedback[], ways: Ways = {}): Telling {
  const { onceId = null, mayBeEarly = false, evidence = null, notBefore } = ways;
  return {
    id: nextTellingId(),
    source: items[0]?.source ?? 'dsn',
    items: items.map((feedback) => ({ feedback, onceId, entryId: nextEntryId() })),
    evidence,
    mayBeEarly,
    ...(notBefore !== undefined && { notBefore }),
  };
}

/** A failure of ours that may suppress `address`, at the first place of the envelope. */
export function ownBounce(address: string, type: BounceType = 'hard', index = 0): OwnBounce {
  const facts = { code: 550, enhancedCode: '5.1.1', text: 'No such user' };
  return { index, address, type, ...facts, entryId: nextEntryId() };
}

const ON_ITS_WAY: readonly EventType[] = [
  'message.queued',
  'message.deferred',
  'message.delivered',
  'message.captured',
];

/** What is told. */
type Told = Pick<Subject, 'store' | 'views' | 'suppressions'>;

/** A store with mail in it, that is told of it. */
export class Teller {
  readonly subject: () => Told;
  #begun = 0;

  /** `subject` may be opened anew in between. */
  constructor(subject: () => Told) {
    this.subject = subject;
  }

  /** A message the short way, under way. */
  async begun(change: Partial<AcceptRecord> = {}, stamp = at()) {
    const { store } = this.subject();
    // Each on a lane of its own, which nobody holds.
    const lease = await takeLane(store, `out ${++this.#begun}`, stamp);
    const { deliveries = [recipient()], ...rest } = change;
    const fenced = deliveries.map((one) => ({ ...one, ...lease, dueAt: stamp.now }));
    const record = message({ ...rest, deliveries: fenced, createdAt: stamp.now });
    await store.accept([record], stamp);
    const unit = refTo(record.id, lease, [...fenced.keys()]);
    const [answer] = await beginAll(store, [unit], stamp);
    if (answer !== 'begun') throw new Error(`it did not begin: ${JSON.stringify(answer)}`);
    return { id: record.id, unit, addresses: fenced.map((one) => one.recipient.address) };
  }

  /** A message whose only attempt has ended so, for each recipient. */
  async sent(
    change: Partial<AcceptRecord> = {},
    outcomes: readonly Outcome[] = [],
    stamp: Stamp = at(),
  ): Promise<{ id: string; addresses: string[]; address: string }> {
    const { id, unit, addresses } = await this.begun(change, stamp);
    const ends = addresses.map((_, place) => outcomes[place] ?? DELIVERED);
    await this.subject().store.settle([settlement(unit, ends, stamp)], stamp);
    return { id, addresses, address: addresses[0] ?? '' };
  }

  /** A message to `address` that was delivered. */
  async sentTo(address: string, change: Partial<AcceptRecord> = {}, stamp = at()) {
    return await this.sent({ ...change, deliveries: [recipientAt(address)] }, [], stamp);
  }

  /** Tells this; what came of each. */
  async tell(items: readonly Feedback[], ways: Ways = {}, stamp = at()): Promise<readonly ToldResult[]> {
    wall = stamp.now;
    const telling = tellingOf(items, ways);
    const [answer] = await this.subject().store.tell([telling], { ...TELL_RULES, ...ways.rules }, stamp);
    if (answer === undefined) throw new Error('there is no answer');
    return answer.results;
  }

  /** What came of one thing told. */
  async tellOne(item: Feedback, ways: Ways = {}, stamp = at()): Promise<ToldResult> {
    const [result] = await this.tell([item], ways, stamp);
    if (result === undefined) throw new Error('there is no result');
    return result;
  }

  /** The entries under the normal form of an address, even ended ones. */
  async entries(address: string): Promise<readonly Suppression[]> {
    return await this.subject().suppressions.suppressionsUnder([address]);
  }

  /** Takes an entry off the list, as a person does. */
  async forget(id: string): Promise<void> {
    await this.subject().suppressions.removeSuppressions([id], true, T0);
  }

  /** Why an address is suppressed; null: it is not. */
  async reason(address: string): Promise<string | null> {
    return (await this.entries(address))[0]?.reason ?? null;
  }

  /** Events of a message, but those of its way until it was delivered. */
  async events(id: string): Promise<readonly Event[]> {
    const query = { ...EVERY_EVENT, message: id, from: { after: 0 }, limit: 200 };
    const { events } = await this.subject().views.events(query);
    return events.filter(({ type }) => !ON_ITS_WAY.includes(type));
  }

  /** `type address` of these. */
  async story(id: string): Promise<string[]> {
    return (await this.events(id)).map(({ type, recipient: to }) => `${type} ${to?.address ?? 'nobody'}`);
  }

  /** What each recipient has become. */
  async ends(id: string): Promise<string[]> {
    const detail = await this.subject().views.message(id);
    return detail?.recipients.map(({ state, outcome }) => `${state}/${outcome}`) ?? [];
  }
}

/** A recipient with this address. */
export function recipientAt(address: string) {
  return recipient({ recipient: { address, kind: 'to', notify: null, orcpt: null } });
}
