import { createVault } from '../../src/config/secrets.ts';
import { erasureOwner, keepErasing } from '../../src/control/erasing.ts';
import type { Submission } from '../../src/domain/message.ts';
import { createIdSource } from '../../src/lib/id.ts';
import { silentLog } from '../../src/lib/log.ts';
import { PSEUDONYM_INFO, Pseudonyms } from '../../src/lib/pseudonym.ts';
import { type Random, seededRandom } from '../../src/lib/random.ts';
import type { SmtpReply } from '../../src/smtp/reply.ts';
import { BEGINNING, type Erasures } from '../../src/store/erasing.ts';
import { EVERY_EVENT } from '../../src/store/events.ts';
import { type Store, StoreError } from '../../src/store/store.ts';
import type { SuppressionList } from '../../src/store/suppressions.ts';
import type { Views } from '../../src/store/views.ts';
import type { Customers } from './customers.ts';
import type { StoreFaults } from './faulty-store.ts';
import type { Watch } from './invariants.ts';
import type { Ledger } from './ledger.ts';
import { isPerson } from './mailboxes.ts';
import type { Process } from './operators.ts';
import type { Copy, Receivers } from './receivers.ts';
import { submissionNamed } from './scene.ts';
import type { Seen } from './seen.ts';
import { InvariantBroken, isOver } from './statuses.ts';
import type { VirtualTime } from './virtual-clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const PERSONS = 3;
/** Each is written to, or writes, so often before. */
const LETTERS = 5;
/** The share of what she gets that she complains of. */
const COMPLAINS = 0.5;
const BUSY_SHARE = 0.3;
const VAULT = createVault(new Uint8Array(32).fill(3), seededRandom(1));
/** What stores make pseudonyms with. */
export const PSEUDONYM_KEY = VAULT.derive(PSEUDONYM_INFO);
/** Nodes look every second; where nothing is to be erased this is the same, and costs less. */
const IDLE_MS = 20 * SECOND;
/** What is asked for when all is well, and her mail is over, is done within so long, in ms. */
export const ERASED_MS = 3 * MINUTE;
/** Some of it is to be sent so long after they ask, in ms. */
const LATER_MS = 10 * MINUTE;
const OTHERS: readonly string[] = ['r0@example.net', 'r1@example.com'];

/** What those are made of who ask for erasures. */
export interface ErasersParts {
  readonly time: VirtualTime;
  /** No others' dice. */
  readonly dice: Random;
  readonly seen: Seen;
  readonly watch: Watch;
  readonly ledger: Ledger;
  readonly customers: Customers;
  readonly receivers: Receivers;
  readonly erasures: Erasures;
  readonly suppressions: SuppressionList;
  readonly views: Views;
  readonly faults: StoreFaults;
  readonly wall: () => number;
}

/** Somebody who is to be forgotten. */
interface Erased {
  readonly address: string;
  /** What the world calls the mail to and from her, and to whom it goes. */
  readonly tokens: Map<string, readonly string[]>;
  /** The mail to and from her that was stored when she asked; what comes later is new. */
  ids: readonly string[];
  readonly askAt: number;
  erasure: string | null;
  isDone: boolean;
  hasComplained: boolean;
  /** A hop named her once she was erased: new mail to her was on its way. */
  isNamedAnew: boolean;
}

/**
 * People who get mail and write some, complain of some of it, and then have themselves erased while it is under way. Once
 * that is done, nothing that anybody can read names them, mail to others has gone on, and who complained gets no more.
 */
export class Erasers {
  /** What was found first. */
  broken: InvariantBroken | null = null;
  readonly #parts: ErasersParts;
  readonly #pseudonyms = new Pseudonyms();
  readonly #persons: readonly Erased[];
  /** `token address` of copies of which it was decided whether she complains: once. */
  readonly #decided = new Set<string>();
  readonly #nextId: () => string;

  constructor(parts: ErasersParts, troubleMs: number) {
    this.#parts = parts;
    const { dice, wall } = parts;
    this.#pseudonyms.hold(PSEUDONYM_KEY);
    this.#nextId = createIdSource({ wall }, dice, 'era_');
    this.#persons = Array.from({ length: PERSONS }, (_, number) => ({
      address: `q${number}@example.net`,
      tokens: new Map<string, readonly string[]>(),
      ids: [],
      askAt: (0.1 + dice.next() * 0.8) * troubleMs,
      erasure: null,
      isDone: false,
      hasComplained: false,
      isNamedAnew: false,
    }));
  }

  /** A process does what is asked for, as the service does. Never resolves. */
  async keep({ life, engine }: Process, store: Store, node: string): Promise<void> {
    const sleep: typeof life.sleep = (ms, signal) =>
      life.sleep(ms >= SECOND && !this.#isUnderWay ? IDLE_MS : ms, signal);
    await keepErasing({
      erasures: this.#seenFrom(life),
      store,
      files: null,
      engine: engine.erasing,
      clock: { wall: () => life.wall(), mono: () => life.mono(), sleep },
      log: {
        ...silentLog,
        // It goes on whatever happens, and says it here alone.
        warn: (_, fields) => {
          const message = String(fields?.['message']);
          if (!message.startsWith('simulated:')) this.broken ??= new InvariantBroken(message);
        },
      },
      node,
      vault: () => VAULT,
      signal: new AbortController().signal,
    });
  }

  /** What hops say to her now and then: it names her, so that records do. */
  refusal(address: string): SmtpReply | null {
    if (!isPerson(address) || this.#parts.dice.next() >= BUSY_SHARE) return null;
    const person = this.#persons.find((one) => one.address === address);
    if (person?.isDone) person.isNamedAnew = true;
    const text = `simulated: the mailbox of <${address}> is busy`;
    return { code: 450, enhanced: '4.2.1', lines: [text], text };
  }

  /** A hop took a copy: if it is hers, she may complain of it. */
  took(copy: Copy): void {
    const { dice, receivers } = this.#parts;
    const person = this.#persons.find(({ address }) => address === copy.address);
    const name = `${copy.token} ${copy.address}`;
    if (person === undefined || person.isDone || this.#decided.has(name)) return;
    this.#decided.add(name);
    if (dice.next() >= COMPLAINS) return;
    person.hasComplained = true;
    receivers.complains(copy, dice.next() * 3 * MINUTE);
  }

  /** The lives of all of them. */
  async live(): Promise<void> {
    await Promise.all(this.#persons.map((person) => this.#live(person)));
  }

  /** Whether all is done that was asked for. */
  get isQuiet(): boolean {
    return this.#persons.every(({ isDone }) => isDone);
  }

  /** Those whose mail is over: nothing is in the way of erasing them. */
  free(): readonly Erased[] {
    const { watch } = this.#parts;
    const open = new Set(watch.unfinished());
    return this.#persons.filter(({ ids }) => !ids.some((id) => open.has(id)));
  }

  /** All has been well, and the mail of these over, for {@link ERASED_MS}. */
  async mustBeDone(persons: readonly Erased[]): Promise<void> {
    const left = persons.find(({ isDone }) => !isDone);
    if (left === undefined) return;
    const found = JSON.stringify(await this.#parts.erasures.erasure(left.erasure ?? ''));
    throw new InvariantBroken(`${left.address} is not erased (${found}), and nothing is in the way`);
  }

  /** Nothing that can be read names anybody who was erased, but for mail that came later. */
  async check(): Promise<void> {
    for (const person of this.#persons) await this.#check(person);
  }

  get #isUnderWay(): boolean {
    return this.#persons.some(({ erasure, isDone }) => erasure !== null && !isDone);
  }

  async #live(person: Erased): Promise<void> {
    const { time, dice, customers, seen } = this.#parts;
    for (let number = 1; number <= LETTERS; number++) {
      await time.sleep((dice.next() * 2 * person.askAt) / (LETTERS + 1));
      if (time.now < person.askAt) customers.writes(this.#letter(person, number));
    }
    await time.sleep(person.askAt - time.now);
    seen.note('person erased');
    await this.#ask(person);
    await this.#until(person);
    await time.outside(() => this.#check(person));
    if (person.hasComplained) customers.writes(this.#submission(`${person.address}-new`, [person.address]));
  }

  #letter({ address, tokens, askAt }: Erased, number: number): Submission {
    const { dice, time, wall } = this.#parts;
    const token = `${address.replace(/@.*/, '')}x${number}`;
    const roll = dice.next();
    // The last two wait when she asks.
    const isLast = number === LETTERS;
    const isAlone = isLast ? false : number === LETTERS - 1 || roll < 0.5;
    const isHers = !isLast && !isAlone && roll > 0.8;
    const addresses = isAlone ? [address] : isHers ? OTHERS : [OTHERS[0] ?? '', address];
    tokens.set(token, addresses);
    const leftMs = askAt - time.now;
    const waits = number >= LETTERS - 1 || dice.next() < 0.5;
    const { envelope, header, ...rest } = this.#submission(token, addresses);
    return {
      ...rest,
      envelope: { ...envelope, reversePath: isHers ? address : envelope.reversePath },
      header: { ...header, from: isHers ? address : header.from },
      sendAt: waits ? Math.floor(wall() + leftMs + (0.2 + dice.next()) * LATER_MS) : null,
    };
  }

  #submission(name: string, addresses: readonly string[]): Submission {
    const token = name.replace('@', '-');
    const named = submissionNamed(token, 1);
    const bytes = Buffer.from(`Message-ID: ${named.header.messageId}\r\n\r\n`, 'latin1');
    const recipients = addresses.map((address) => ({
      address,
      kind: 'to' as const,
      notify: null,
      orcpt: null,
    }));
    return {
      ...named,
      envelope: { ...named.envelope, recipients },
      content: { ...named.content, chunks: [bytes], sizeBytes: bytes.length },
    };
  }

  async #ask(person: Erased): Promise<void> {
    const { time, erasures, ledger, watch, wall } = this.#parts;
    const { address, tokens } = person;
    const id = this.#nextId();
    for (const [token, addresses] of tokens)
      if (addresses.every((one) => one === address)) ledger.asksToCancel(token);
    const named = [...tokens.keys()].flatMap((token) => watch.ids.get(token) ?? []);
    // Reports to her have no token: she wrote what they are about.
    person.ids = [...new Set([...named, ...watch.idsTo(address)])];
    const answer = await time.outside(() =>
      erasures.addErasure({
        id,
        pseudonym: this.#pseudonyms.of(address) ?? '',
        sealed: VAULT.seal(address, erasureOwner(id)),
        requestedAt: wall(),
        finishedAt: null,
        progress: BEGINNING,
      }),
    );
    if (answer !== 'added') throw new InvariantBroken(`an erasure is ${answer}`);
    person.erasure = id;
  }

  async #until(person: Erased): Promise<void> {
    const { time, erasures } = this.#parts;
    const id = person.erasure ?? '';
    while ((await time.outside(() => erasures.erasure(id)))?.finishedAt === null)
      await time.sleep(2 * SECOND);
    person.isDone = true;
  }

  async #check({ address, ids, isDone, isNamedAnew }: Erased): Promise<void> {
    if (!isDone) return;
    const { views, erasures } = this.#parts;
    const refuse = (what: string, found: unknown) => {
      const text = JSON.stringify(found);
      if (text.toLowerCase().includes(address))
        throw new InvariantBroken(`${address} was erased, and ${what} names it: ${text}`);
    };
    for (const id of ids) {
      const detail = await views.message(id);
      refuse('a message', detail);
      refuse('an attempt', await views.attempts(id, { after: 0, limit: 1000 }));
      refuse('what was told', await views.feedbackAbout(id));
      if (detail !== null && !isOver(detail.message.status))
        throw new InvariantBroken(`${address} was erased, and ${id} is ${detail.message.status}`);
    }
    refuse('an erasure', await erasures.erasures(100));
    await this.#checkList(refuse);
    for (let after: number | null = 0; after !== null; ) {
      const page = await views.events({ ...EVERY_EVENT, from: { after }, limit: 200 });
      // What is told of a relay does not say of which mail.
      for (const event of page.events)
        if (
          event.message === null
            ? !(isNamedAnew && event.type === 'relay.resting')
            : ids.includes(event.message.id)
        )
          refuse('an event', event);
      after = page.more ? page.next : null;
    }
  }

  async #checkList(refuse: (what: string, found: unknown) => void): Promise<void> {
    const { suppressions, wall } = this.#parts;
    const every = { address: null, domain: null, reason: null, scopes: null, stream: null };
    for (let before: string | null = null, more = true; more; ) {
      const query = { ...every, since: null, until: null, limit: 200, before, now: wall() };
      const { entries, next } = await suppressions.suppressions(query);
      refuse('the suppression list', entries);
      before = next;
      more = next !== null;
    }
  }

  /** What a node asks of erasures takes its turn, fails now and then, and never returns to the dead. */
  #seenFrom(life: Process['life']): Erasures {
    const { erasures, time, dice, faults } = this.#parts;
    const reach = async <T>(work: () => Promise<T>): Promise<T> => {
      await life.running();
      if (life.isCutOff || faults.isAway || dice.next() < faults.failBefore)
        throw new StoreError('store_unavailable', 'simulated: before');
      const answer = await time.outside(work);
      await life.running();
      if (dice.next() < faults.failAfter) throw new StoreError('store_unavailable', 'simulated: after');
      return answer;
    };
    return {
      erasures: (...args) => reach(() => erasures.erasures(...args)),
      erasure: (...args) => reach(() => erasures.erasure(...args)),
      nextErasure: (now) => reach(() => erasures.nextErasure(now)),
      addErasure: (...args) => reach(() => erasures.addErasure(...args)),
      advanceErasure: (...args) => reach(() => erasures.advanceErasure(...args)),
    };
  }
}
