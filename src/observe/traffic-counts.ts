import { timeBucketOf } from '../domain/delivery-times.ts';
import { mailboxProviderOf } from '../domain/mailbox-provider.ts';
import type { Reply } from '../domain/outcome.ts';
import { INBOX } from '../domain/relay.ts';
import { type ReplyGroup, replyGroupOf } from '../domain/reply-group.ts';
import { lowerAscii } from '../domain/suppressed-address.ts';
import {
  addTraffic,
  domainText,
  NOT_TOLD,
  noTraffic,
  OTHERS,
  type TrafficKind,
  tagsText,
} from '../domain/traffic.ts';
import type { Clock } from '../lib/clock.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { ReplyCount, Traffic, TrafficCount } from '../store/traffic.ts';
import { type Counting, type CountingOptions, countEvents } from './counting.ts';
import type { Event } from './events.ts';

/** Counts what becomes of mail in memory, and writes the sums every few seconds: no mail waits, and a crash loses seconds. */

/** So few sums are written at once, so that pages show them soon. */
const FEW = 100;
/** Many are written so often: a crash loses those of this time. */
const WRITE_MS = 10_000;
const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
/** Kinds of mail, and groups of replies to them, that wait to be written. */
const MAX_WAITING = { kinds: 5_000, replies: 1_000 };
/** The same that are told apart in an hour or a day. */
const MAX_KEPT = { kinds: 1_000, replies: 200 };
/** Sums written in one transaction. */
const BATCH = 500;
/** Domains whose mailbox providers are remembered, as their servers show them. */
const MAX_DOMAINS = 5_000;

type Sums = ReturnType<typeof noTraffic>;
type Gathered = Omit<TrafficCount, 'sums'> & { readonly sums: Sums };
type Replies = { -readonly [K in keyof ReplyCount]: ReplyCount[K] };
type EventOf<T extends Event['type']> = Extract<Event, { type: T }>;

/** What was sent, and whose it is. */
interface Sent {
  readonly relay: string | null;
  readonly keyId: string | null;
  readonly tags: readonly string[];
}

/** Mail that was counted, and is not written yet. */
class TrafficCounts {
  readonly #clock: Pick<Clock, 'wall'>;
  readonly #isDirect: (relay: string) => boolean;
  readonly #providers = new NewestMap<string, string>(MAX_DOMAINS);
  #kinds = new Map<string, Gathered>();
  #replies = new Map<string, Replies>();
  /** Many recipients get the same reply. */
  #last: { readonly reply: Reply; readonly group: ReplyGroup } | null = null;

  /** `isDirect`: whether a relay delivers to the servers of recipient domains. */
  constructor(clock: Pick<Clock, 'wall'>, isDirect: (relay: string) => boolean) {
    this.#clock = clock;
    this.#isDirect = isDirect;
  }

  /** Counts what an event tells of recipients. */
  readonly note = (event: Event): void => {
    if (event.type === 'accepted') this.#noteAccepted(event);
    else if (event.type === 'attempted') this.#noteAttempted(event);
    else if (event.type === 'expired') this.#noteExpired(event);
    else if (event.type === 'told') this.#noteTold(event);
  };

  /** How many sums wait. */
  get size(): number {
    return this.#kinds.size + this.#replies.size;
  }

  /** Takes what waits: the caller writes it, or takes it back. */
  take(): { readonly kinds: readonly TrafficCount[]; readonly replies: readonly ReplyCount[] } {
    const taken = { kinds: [...this.#kinds.values()], replies: [...this.#replies.values()] };
    this.#kinds = new Map();
    this.#replies = new Map();
    return taken;
  }

  /** Takes back what was not written. */
  takeBack(kinds: readonly TrafficCount[], replies: readonly ReplyCount[]): void {
    for (const { minute, sums, ...kind } of kinds) addTraffic(this.#sumsOf(kind, minute), sums);
    for (const one of replies) this.#addReply(one);
  }

  #noteAccepted({ deliveries, keyId, tags }: EventOf<'accepted'>): void {
    for (const { recipient, relay } of deliveries)
      this.#sumsOf(this.#kindOf(recipient.address, { relay, keyId, tags })).accepted++;
  }

  #noteAttempted(event: EventOf<'attempted'>): void {
    const { relay, host, messageId, acceptedAt } = event;
    const server = host !== null && this.#isDirect(relay) ? host : null;
    for (const { address, state, outcome, cancelled } of event.results) {
      // A cancellation says nothing of a receiver, nor does what is played for tests.
      if (cancelled || (relay === INBOX && outcome.kind !== 'delivered')) continue;
      // It was one recipient too many, and is offered again at once.
      if (outcome.kind === 'deferred' && outcome.nextInLine === true) continue;
      const kind = this.#kindOf(address, event, server);
      const sums = this.#sumsOf(kind);
      if (outcome.kind === 'delivered') {
        if (outcome.captured) sums.captured++;
        else {
          sums.delivered++;
          const place = timeBucketOf(this.#clock.wall() - acceptedAt);
          sums.times[place] = (sums.times[place] ?? 0) + 1;
        }
      } else {
        const effect = state === 'failed' ? 'failed' : 'deferred';
        sums[effect]++;
        this.#noteReply(kind, effect, outcome.reply, messageId);
      }
    }
  }

  #noteExpired({ recipients, keyId, tags }: EventOf<'expired'>): void {
    for (const { address, relay } of recipients)
      this.#sumsOf(this.#kindOf(address, { relay, keyId, tags })).failed++;
  }

  #noteTold({ counted, address, relay, messageId }: EventOf<'told'>): void {
    if (counted === null || address === null) return;
    const kind = this.#kindOf(address, { ...counted, relay });
    const sums = this.#sumsOf(kind);
    sums[counted.as]++;
    if (counted.as === 'bounced') sums.failed++;
    if (counted.reply !== null) this.#noteReply(kind, 'bounced', counted.reply, messageId ?? '');
  }

  /** `server`: the one of the domain that was spoken to; null: none. */
  #kindOf(address: string, { relay, keyId, tags }: Sent, server: string | null = null): TrafficKind {
    const domain = domainText(lowerAscii(address.slice(address.lastIndexOf('@') + 1)));
    return {
      relay: relay ?? '',
      domain,
      provider: this.#providerOf(domain, server),
      keyId: keyId ?? '',
      tags: tagsText(tags),
    };
  }

  #providerOf(domain: string, server: string | null): string {
    const known = this.#providers.get(domain);
    if (server === null) return known ?? mailboxProviderOf(domain, null)?.name ?? '';
    const provider = mailboxProviderOf(domain, server)?.name ?? '';
    if (provider !== known) this.#providers.set(domain, provider);
    return provider;
  }

  #sumsOf(kind: TrafficKind, minute = Math.floor(this.#clock.wall() / MINUTE_MS)): Sums {
    const key = keyOf(minute, kind);
    const known = this.#kinds.get(key)?.sums;
    if (known !== undefined) return known;
    if (this.#kinds.size >= MAX_WAITING.kinds && kind !== NOT_TOLD) return this.#sumsOf(NOT_TOLD, minute);
    const sums = noTraffic();
    this.#kinds.set(key, { minute, ...kind, sums });
    return sums;
  }

  #noteReply(
    kind: TrafficKind,
    effect: 'deferred' | 'failed' | 'bounced',
    reply: Reply,
    messageId: string,
  ): void {
    if (this.#last === null || !isSame(this.#last.reply, reply))
      this.#last = { reply, group: replyGroupOf(reply) };
    const hour = Math.floor(this.#clock.wall() / MINUTE_MS / HOUR_MINUTES);
    const count = { deferred: 0, failed: 0, bounced: 0, [effect]: 1 };
    this.#addReply({ hour, ...kind, ...this.#last.group, ...count, messageId });
  }

  #addReply(one: ReplyCount): void {
    const key = `${keyOf(one.hour, one)} ${one.group}`;
    const known = this.#replies.get(key);
    if (known !== undefined) {
      known.deferred += one.deferred;
      known.failed += one.failed;
      known.bounced += one.bounced;
    } else if (this.#replies.size < MAX_WAITING.replies || one.group === OTHERS)
      this.#replies.set(key, { ...one });
    else this.#addReply({ ...one, ...NOT_TOLD, group: OTHERS, example: '', messageId: '' });
  }
}

function isSame(one: Reply, other: Reply): boolean {
  const { text, code, enhanced, cause } = other;
  return one.text === text && one.code === code && one.enhanced === enhanced && one.cause === cause;
}

/** None of these has a blank in it, except for tags, which begin with a line break. */
function keyOf(time: number, { relay, domain, provider, keyId, tags }: TrafficKind): string {
  return `${time} ${relay} ${domain} ${provider} ${keyId} ${tags}`;
}

/** What counting it needs. */
export interface TrafficOptions extends CountingOptions {
  readonly traffic: Pick<Traffic, 'addTraffic' | 'addReplies'>;
  readonly relays: { get(name: string): { readonly relay: { readonly type: string } } | undefined };
}

/** Begins to count. What cannot be stored is kept and tried again. */
export function countTraffic(options: TrafficOptions): Counting {
  const { traffic, relays, clock } = options;
  const counts = new TrafficCounts(clock, (name) => relays.get(name)?.relay.type === 'mx');
  let writtenAt = clock.mono();

  const write = async (isLast: boolean) => {
    const isDue = isLast || counts.size <= FEW || clock.mono() - writtenAt >= WRITE_MS;
    if (!isDue) return;
    writtenAt = clock.mono();
    let { kinds, replies } = counts.take();
    try {
      for (; kinds.length > 0; kinds = kinds.slice(BATCH))
        await traffic.addTraffic(kinds.slice(0, BATCH), MAX_KEPT.kinds);
      for (; replies.length > 0; replies = replies.slice(BATCH))
        await traffic.addReplies(replies.slice(0, BATCH), MAX_KEPT.replies);
    } catch (error) {
      counts.takeBack(kinds, replies);
      throw error;
    }
  };
  const { log } = options;
  const tellFailure = (message: string) => log.debug('traffic.not_written', { message });
  return countEvents({ note: counts.note, write, tellFailure }, options);
}
