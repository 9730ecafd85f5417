import type { DeliveryState } from '../../src/domain/delivery.ts';
import type { EventType } from '../../src/domain/event.ts';
import type { OutcomeName } from '../../src/domain/outcome.ts';
import type { Transition } from '../../src/domain/settle.ts';
import type { AcceptRecord } from '../../src/store/accepting.ts';
import type { UnitRef } from '../../src/store/leased.ts';
import { EARLY_MS } from '../../src/store/telling.ts';
import type { Views } from '../../src/store/views.ts';
import type { Story } from './events.ts';
import type { Change, Onlooker } from './invariants.ts';
import { type Coming, domainOf, globally, Listed, type Mail } from './listed.ts';
import { FULL_TEXT, GONE_TEXT } from './mailboxes.ts';
import { InvariantBroken } from './statuses.ts';

/** What somebody tells of a recipient. */
export type Tidings = 'hard' | 'soft' | 'block' | 'provider' | 'confirmation' | 'complaint' | 'unsubscribe';

/** So much clocks differ, and nodes need until they hear of the end of an attempt, in ms. */
const SLACK_MS = 20_000;
/** What came too early is told again within so long by whichever node is left, in ms. */
const TOLD_AGAIN_MS = 70_000;

/** One thing that the world tells, until it gets an answer and after. */
export interface TellingKnown {
  readonly tidings: Tidings;
  /** It names the message by the id that the hop gave it: nobody knows that before the attempt is recorded. */
  readonly byProviderId: boolean;
  readonly begunAt: number;
  /** The recipient was delivered when it began, so that it cannot be too early. */
  readonly isInTime: boolean;
  /** How often the recipient had been retried by hand. */
  readonly retries: number;
  readonly coming: Coming | null;
  wasTried: boolean;
  /** It was early, and the attempt was recorded before that was too late. */
  wasSoonEnough: boolean;
  answeredAt: number | null;
}

/** A recipient as the world knows it: the mail that it should get, and what its sender can see of it. */
interface Place {
  /** `token address` */
  readonly name: string;
  readonly id: string;
  readonly index: number;
  readonly address: string;
  readonly mail: Mail;
  readonly isOwedReport: boolean;
  state: DeliveryState;
  outcome: OutcomeName | null;
  /** How often it bounced, and was retried by hand. */
  bounced: number;
  retried: number;
  /** What the hop said in its last attempt since it was accepted, or retried by hand; '' if nothing is known. */
  lastSaid: string;
  readonly told: TellingKnown[];
}

/**
 * Knows from what the world did, never from the store, which recipients must be bounced, confirmed, complained,
 * unsubscribed and suppressed. What the store is asked for is only what a sender sees.
 */
export class Aftermaths implements Onlooker {
  readonly listed = new Listed();
  /** What was found first; an engine that met it as an error would only try again. */
  broken: InvariantBroken | null = null;
  /** How many recipients bounced, and how many were stopped. */
  bounced = 0;
  stopped = 0;
  readonly #story: Story;
  /** `token address` → how often the world took it. */
  readonly #taken: ReadonlyMap<string, number>;
  readonly #now: () => number;
  readonly #places = new Map<string, Place>();
  /** `id` → its recipients, in envelope order. */
  readonly #messages = new Map<string, Place[]>();
  /** When clocks were last set. */
  #clocksSetAt = Number.NEGATIVE_INFINITY;
  /** When somebody was last delivered to of whom something had been told before. */
  #foretoldAt = Number.NEGATIVE_INFINITY;

  constructor(story: Story, taken: ReadonlyMap<string, number>, now: () => number) {
    this.#story = story;
    this.#taken = taken;
    this.#now = now;
  }

  /** Whether nothing that came too early can be about to be told again. */
  get isQuiet(): boolean {
    return this.#now() - this.#foretoldAt > TOLD_AGAIN_MS;
  }

  // What the world does.

  /** A recipient, by `token address`; null: of no message of ours. */
  find(name: string): { readonly id: string; readonly index: number } | null {
    return this.#places.get(name) ?? null;
  }

  /** The world begins to tell of a recipient. */
  begins(name: string, tidings: Tidings, byProviderId: boolean): TellingKnown {
    const place = this.#place(name);
    const isInTime = place.state === 'delivered' && (!byProviderId || this.#isOnlyCopy(name));
    const entry = entryOf(tidings, place);
    const coming = entry === null ? null : this.listed.comes(entry, tidings === 'soft');
    const telling = {
      tidings,
      byProviderId,
      begunAt: this.#now(),
      isInTime,
      retries: place.retried,
      coming,
      wasTried: false,
      wasSoonEnough: false,
      answeredAt: null,
    };
    place.told.push(telling);
    return telling;
  }

  /** It tries to tell: each time it may be heard, and be early. Returns the entry that this try may make. */
  tries(name: string, telling: TellingKnown): Coming | null {
    const place = this.#place(name);
    const { tidings, byProviderId, coming } = telling;
    const isClear = telling.isInTime && place.retried === telling.retries;
    if (isBounce(tidings) && !isClear) this.#story.may(`${place.id}/${place.index}`, 'message.bounced');
    const isFirst = !telling.wasTried;
    telling.wasTried = true;
    // Who asks again after the entry was removed is asking anew; a hook that is repeated is not.
    if (tidings !== 'unsubscribe' || byProviderId || isFirst || coming === null) return coming;
    return this.listed.comes(coming.entry, false);
  }

  /** It was told that it was heard. */
  answered(name: string, telling: TellingKnown, coming: Coming | null): void {
    if (telling.answeredAt !== null) {
      if (coming !== null && coming !== telling.coming) this.listed.came(coming);
      return;
    }
    telling.answeredAt = this.#now();
    const place = this.#place(name);
    const { tidings, isInTime } = telling;
    if (isBounce(tidings)) {
      if (isInTime && place.retried === telling.retries && place.bounced === 0)
        this.#broke(`${name} is ${place.state} although it bounced (${tidings}), and that was heard`);
      return;
    }
    const event: EventType = EVENT_OF[tidings];
    const where = `${place.id}/${place.index}`;
    if (telling.byProviderId && !isInTime) this.#story.may(where, event);
    else {
      this.#story.must(where, event);
      if (coming !== null) this.listed.came(coming);
    }
  }

  /** All clocks are set, and some notice only later. */
  clocksSet(): void {
    this.#clocksSetAt = this.#now();
  }

  // What senders see.

  stored({ id, header, source, deliveries, stream, reportable }: AcceptRecord): void {
    const token = source === 'report' ? id : header.subject;
    const mail = { fromDomain: domainOf(header.from.replace('>', '')), stream };
    const places = deliveries.map(({ recipient: { address } }, index): Place => {
      const place: Place = {
        name: `${token} ${address}`,
        id,
        index,
        address: address.toLowerCase(),
        mail,
        isOwedReport: reportable,
        state: 'queued',
        outcome: null,
        bounced: 0,
        retried: 0,
        lastSaid: '',
        told: [],
      };
      this.#places.set(place.name, place);
      return place;
    });
    this.#messages.set(id, places);
  }

  accepted(id: string): void {
    for (const { index, address, mail, isOwedReport, state } of this.#messages.get(id) ?? [])
      if (!isOwedReport && state !== 'failed' && this.listed.mustStop(mail, address))
        this.#broke(`${id}/${index} was taken although ${address} is suppressed`);
  }

  began(units: readonly UnitRef[]): void {
    for (const { messageId, indexes } of units)
      for (const index of indexes) {
        const place = this.#messages.get(messageId)?.[index];
        if (place !== undefined && this.listed.mustStop(place.mail, place.address))
          this.#broke(`${messageId}/${index} is tried although ${place.address} is suppressed`);
      }
  }

  settled({ messageId, indexes }: UnitRef, transitions: readonly Transition[]): void {
    for (const [number, index] of indexes.entries()) {
      const place = this.#messages.get(messageId)?.[index];
      if (place !== undefined) place.lastSaid = transitions[number]?.reply.text ?? '';
    }
  }

  changed({ id, index, to, outcome, verb }: Change): void {
    const place = this.#messages.get(id)?.[index];
    if (place === undefined) return;
    place.state = to;
    place.outcome = outcome;
    if (verb === 'requeue') place.retried++;
    if (verb !== 'settle' && verb !== 'claim' && verb !== 'release' && verb !== 'expire') place.lastSaid = '';
    if (to === 'delivered') {
      this.listed.delivered(place.address);
      if (place.told.length > 0) this.#foretoldAt = this.#now();
      for (const telling of place.told) telling.wasSoonEnough ||= this.#isSoonEnough(place, telling);
    }
    if (to === 'failed') this.#failed(place, verb);
  }

  requeued(id: string): void {
    for (const place of this.#messages.get(id) ?? [])
      if (place.state === 'queued' || place.state === 'retrying') place.lastSaid = '';
  }

  #failed(place: Place, verb: string): void {
    const { id, index, address, mail, outcome, lastSaid } = place;
    if (outcome === 'bounced') this.#bounced(place);
    else if (outcome === 'suppressed') {
      this.stopped++;
      if (!this.listed.mayStop(mail, address))
        this.#broke(`${id}/${index} was stopped, and nobody suppressed ${address}`);
    } else if (outcome === 'rejected' && verb === 'settle') {
      if (lastSaid === GONE_TEXT) this.listed.is(globally(address));
      if (lastSaid === FULL_TEXT) this.listed.softBounced(address);
    } else if (outcome === 'expired' && (verb === 'settle' || verb === 'expire')) {
      // A refusal of which its sender could not be told waits until it expires.
      if (lastSaid === GONE_TEXT) this.listed.is(globally(address));
      else this.listed.softBounced(address);
    } else if (outcome === 'expired') this.listed.mayHaveSoftBounced(address);
  }

  #bounced(place: Place): void {
    place.bounced++;
    this.bounced++;
    const telling = place.told.find(({ tidings }) => isBounce(tidings));
    if (telling === undefined) {
      this.#broke(`${place.id}/${place.index} bounced, and nobody told of it`);
      return;
    }
    // A hook that is told again is known, also of mail that was retried by hand meanwhile.
    const isNews = place.retried > 0 && !telling.byProviderId;
    if (place.bounced > 1 && !isNews) this.#broke(`${place.id}/${place.index} bounced twice`);
    if (telling.coming === null) return;
    // What was told is written by now, and in the same transaction.
    telling.coming.isCrossed = false;
    this.listed.came(telling.coming);
    if (place.bounced > 1 && !telling.coming.isSoft) this.listed.is(telling.coming.entry);
  }

  /** At the end everything that was heard has happened, and nothing else. */
  async check(views: Views): Promise<void> {
    for (const [id, places] of this.#messages) {
      const detail = await views.message(id);
      if (detail === null) throw new InvariantBroken(`${id} is gone`);
      for (const place of places) {
        this.#checkBounce(place);
        const known = detail.aftermath.find((one) => one.index === place.index);
        const has = (tidings: Tidings) => place.told.some((one) => one.tidings === tidings);
        const facts: readonly [string, unknown, boolean][] = [
          ['confirmed', known?.confirmedAt, has('confirmation')],
          ['complained', known?.complainedAt, has('complaint')],
          ['unsubscribed', known?.unsubscribedAt, has('unsubscribe')],
        ];
        for (const [name, at, isTold] of facts)
          if ((at ?? null) !== null && !isTold)
            throw new InvariantBroken(`${id}/${place.index} is ${name}, and nobody told of it`);
        for (const { tidings, byProviderId, isInTime } of place.told) {
          const found = facts.find(([name]) => `message.${name}` === eventOf(tidings));
          if (found !== undefined && (!byProviderId || isInTime) && (found[1] ?? null) === null)
            throw new InvariantBroken(`${id}/${place.index} is not ${found[0]}, though that was heard`);
        }
        const isBounced = place.outcome === 'bounced';
        if (isBounced && known?.bounce?.type !== typeOf(place))
          throw new InvariantBroken(`${id}/${place.index} bounced as ${known?.bounce?.type}`);
      }
    }
  }

  #checkBounce({ id, index, told, bounced, retried, state, outcome }: Place): void {
    const telling = told.find(({ tidings }) => isBounce(tidings));
    if (telling === undefined || telling.retries !== retried) return;
    if ((telling.isInTime || telling.wasSoonEnough) && bounced !== 1)
      throw new InvariantBroken(`${id}/${index} is ${state}/${outcome}, and it bounced`);
  }

  /** The recipient is delivered now: whether what was told before still waits. */
  #isSoonEnough({ name }: Place, { begunAt, byProviderId }: TellingKnown): boolean {
    const wereClocksRight = begunAt - this.#clocksSetAt > SLACK_MS;
    const isSoon = this.#now() - begunAt < EARLY_MS - SLACK_MS;
    return wereClocksRight && isSoon && (!byProviderId || this.#isOnlyCopy(name));
  }

  #isOnlyCopy(name: string): boolean {
    return this.#taken.get(name) === 1;
  }

  #broke(message: string): void {
    this.broken ??= new InvariantBroken(message);
  }

  #place(name: string): Place {
    const place = this.#places.get(name);
    if (place === undefined) throw new InvariantBroken(`${name} is told of, and nobody stored it`);
    return place;
  }
}

const EVENT_OF = {
  confirmation: 'message.confirmed',
  complaint: 'message.complained',
  unsubscribe: 'message.unsubscribed',
} as const;

function eventOf(tidings: Tidings): EventType {
  return isBounce(tidings) ? 'message.bounced' : EVENT_OF[tidings];
}

/** Whether it is about a failure. */
export function isBounce(tidings: Tidings): tidings is 'hard' | 'soft' | 'block' | 'provider' {
  return tidings === 'hard' || tidings === 'soft' || tidings === 'block' || tidings === 'provider';
}

function typeOf({ told }: Place): string | undefined {
  const tidings = told.find((one) => isBounce(one.tidings))?.tidings;
  return tidings === 'provider' ? 'provider_suppressed' : tidings;
}

function entryOf(tidings: Tidings, { address, mail }: Place) {
  switch (tidings) {
    case 'hard':
    case 'soft':
    case 'provider':
      return globally(address);
    case 'complaint':
      return { address, scope: `domain:${mail.fromDomain}`, stream: null } as const;
    case 'unsubscribe':
      return { address, scope: `domain:${mail.fromDomain}`, stream: mail.stream } as const;
    default:
      return null;
  }
}
