import { boxOfUserName } from '../../domain/box.ts';
import type { IntakeAnswer } from '../../engine/contract.ts';
import { sourceGroup } from '../../lib/network.ts';
import type { ForwardPath, Question, ReversePath } from '../../smtp/receiver/effect.ts';
import type { Receiver } from '../../smtp/receiver/receiver.ts';
import { StoreError } from '../../store/store.ts';
import { IncomingContent } from './content.ts';
import type { ListenerContext } from './context.ts';
import { INCOMING_HOLDER, Incoming, tooLargeForBounces } from './incoming.ts';
import { type Client, type Origin, ownerIdOf } from './origin.ts';
import { isStranger, maxMessageBytesOf, STRANGERS_HOLDER, tooLargeForStranger } from './policy.ts';
import { decline, deny, type Refusal, suspended } from './refusal.ts';
import { buildSubmission, individually } from './submission.ts';

/** The answer to a question: yes, with or without a text for the client, or a refusal. */
export type Answer = { readonly yes: string | undefined } | Refusal;

/** What the `Received` field says of a session. */
export type Introduction = Pick<Receiver, 'hello' | 'protocol'>;

type QuestionOf<K extends Question['kind']> = Extract<Question, { readonly kind: K }>;

const YES: Answer = { yes: undefined };
const NO_MEMORY = decline(
  'no_memory',
  452,
  '4.3.1',
  'Too much mail is arriving at the moment; try again soon',
);
const STORE_AWAY = decline('store_unavailable', 421, '4.3.0', 'The store cannot be used now; try again soon');
const AUTH_NEEDED = deny(
  'auth_required',
  530,
  '5.7.0',
  'Authentication required for any mail but bounces: AUTH with an API key as the password',
);
/** Each error beyond the soft limit adds this much delay, up to ten seconds, in ms. */
const PAUSE_STEP_MS = 500;
const MAX_PAUSE_MS = 10_000;

/** Accepted messages whose ids are noted for the log of requests. */
const MAX_NOTED_IDS = 20;

/** Answers one session's questions from its receiver: policy, memory, keys, and the way into the queue. */
export class Answering {
  readonly #context: ListenerContext;
  readonly #requestId: string;
  readonly #introduction: Introduction;
  readonly #content: IncomingContent;
  readonly #incoming: Incoming;
  readonly #accepted: { count: number; readonly ids: string[] } = { count: 0, ids: [] };
  #origin: Origin;
  /** The sender of a transaction of which it is not known yet whether it relays; null once it was asked about. */
  #unasked: ReversePath | null = null;
  /** A recipient that mail is relayed to was accepted. */
  #relays = false;
  /** Bytes that this message may still have. */
  #bytesLeft = 0;
  /** Why this message will be refused. */
  #refused: Refusal | null = null;

  constructor(context: ListenerContext, client: Client, requestId: string, introduction: Introduction) {
    this.#context = context;
    this.#requestId = requestId;
    this.#introduction = introduction;
    this.#content = new IncomingContent(context.deps.shared.budget, context.deps.clock);
    this.#incoming = new Incoming(context.deps, context.options);
    this.#origin = context.policy.origin(client);
  }

  /** Messages that were accepted: how many, and the first of them. */
  get accepted(): { readonly count: number; readonly ids: readonly string[] } {
    return this.#accepted;
  }

  /** Takes a piece of the message. Null allows the next piece; otherwise it returns why the message must end. */
  take(piece: Buffer): Refusal | null | Promise<Refusal | null> {
    this.#bytesLeft -= piece.length;
    // Other clients' messages are measured earlier.
    if (this.#bytesLeft < 0)
      return this.#refuseContent(
        this.#incoming.isOpen
          ? tooLargeForBounces(this.#incoming.maxBytes)
          : tooLargeForStranger(this.#origin),
      );
    const room = this.#content.add(piece);
    if (room === true) return null;
    const orNoMemory = (found: boolean) => (found ? null : this.#refuseContent(NO_MEMORY));
    return room === false ? orNoMemory(room) : room.then(orNoMemory);
  }

  /** See `IncomingContent.isTurnOver`. */
  isTurnOver(): boolean {
    return this.#content.isTurnOver();
  }

  /** The owner of a message of this session; null for none. */
  get ownerId(): string | null {
    return ownerIdOf(this.#origin);
  }

  /** Whether the message has held memory for too long, see {@link IncomingContent.isBehind}. */
  isBehind(couldSend: boolean, now: number): boolean {
    return this.#content.isBehind(couldSend, now);
  }

  /** The transaction, or the session, ended without a message. */
  forget(): void {
    this.#content.drop();
  }

  /** TLS begins: authentication before it no longer counts. */
  reset(): void {
    this.forget();
    this.#origin = this.#context.policy.origin(this.#origin);
  }

  /** Answers, synchronously where nothing must be awaited. Throws, or rejects, only for a fault of ours. */
  answer(question: Question): Answer | Promise<Answer> {
    switch (question.kind) {
      case 'mail':
        return this.#mail(question);
      case 'rcpt':
        return this.#rcpt(question);
      case 'begin':
        return this.#begin(question);
      case 'message':
        return this.#accept(question);
      case 'auth':
        return this.#authenticate(question);
      case 'pause':
        return this.#pause(question);
    }
  }

  #mail({ path }: QuestionOf<'mail'>): Answer | Promise<Answer> {
    const renewed = this.#context.policy.renew(this.#origin);
    return renewed instanceof Promise
      ? renewed.then((origin) => this.#mailFrom(origin, path))
      : this.#mailFrom(renewed, path);
  }

  #mailFrom(origin: Origin | Refusal, path: ReversePath): Answer {
    if ('reply' in origin) return origin;
    this.#origin = origin;
    this.#incoming.reset();
    this.#relays = false;
    // Whoever has no key may have come with a bounce, for which no rule of relaying counts.
    const isUnasked = this.#incoming.isTaken && origin.key === null;
    this.#unasked = isUnasked ? path : null;
    return isUnasked ? YES : (this.#context.policy.mail(origin, path) ?? YES);
  }

  #rcpt({ path, reversePath }: QuestionOf<'rcpt'>): Answer | Promise<Answer> {
    const mixed = this.#incoming.mixed(path, this.#relays);
    if (mixed !== null) return mixed;
    if (this.#incoming.isFor(path)) {
      const { address } = this.#origin;
      return this.#incoming.rcpt(address, path, reversePath).then((refusal) => refusal ?? YES);
    }
    const { policy, options } = this.#context;
    const refusal = this.#mayRelay() ?? policy.rcpt(this.#origin, path);
    if (refusal === null && options.settings.suppressed === 'refuse')
      return this.#unlessSuppressed(path, reversePath);
    this.#relays ||= refusal === null;
    return refusal ?? YES;
  }

  async #unlessSuppressed(path: ForwardPath, reversePath: ReversePath): Promise<Answer> {
    try {
      const refusal = await this.#context.policy.suppressed(this.#origin, path, reversePath);
      this.#relays ||= refusal === null;
      return refusal ?? YES;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return STORE_AWAY;
    }
  }

  /** Asks what was not asked at MAIL. */
  #mayRelay(): Refusal | null {
    if (this.#unasked === null) return null;
    const { policy, options } = this.#context;
    if (options.settings.requireAuth) return AUTH_NEEDED;
    const refusal = policy.mail(this.#origin, this.#unasked);
    if (refusal === null) this.#unasked = null;
    return refusal;
  }

  #begin({ declaredBytes }: QuestionOf<'begin'>): Answer | Promise<Answer> {
    this.#refused = null;
    const { isOpen, maxBytes } = this.#incoming;
    this.#bytesLeft = isOpen ? maxBytes : maxMessageBytesOf(this.#origin, this.#context.options.limits);
    const holder = isOpen ? INCOMING_HOLDER : holderOf(this.#origin);
    const room = this.#content.begin(holder, declaredBytes, this.#bytesLeft);
    return typeof room === 'boolean' ? roomAnswer(room) : room.then(roomAnswer);
  }

  /** The message may be complete already, and its end the next question. The refusal is reported once. */
  #refuseContent(refusal: Refusal): Refusal {
    this.#content.drop();
    this.#refused = { ...refusal, denied: null, refused: null };
    return refusal;
  }

  async #take({ envelope }: QuestionOf<'message'>): Promise<Answer> {
    const { hello, protocol } = this.#introduction;
    const { chunks, release } = this.#content.take();
    try {
      const { address } = this.#origin;
      const context = { address, requestId: this.#requestId, fromName: hello?.name ?? '', protocol };
      const taken = await this.#incoming.take(envelope, chunks, context);
      if (typeof taken !== 'string') return taken;
      this.#context.policy.completed(address);
      this.#accepted.count += 1;
      return { yes: taken };
    } finally {
      release();
    }
  }

  async #accept(question: QuestionOf<'message'>): Promise<Answer> {
    if (this.#refused !== null) return this.#refused;
    if (this.#incoming.isOpen) return await this.#take(question);
    const { envelope, sizeBytes, dotStuffing } = question;
    const { deps, options, policy } = this.#context;
    const { hello, protocol } = this.#introduction;
    const id = deps.intake.newId();
    const { chunks, release } = this.#content.take();
    const releases = [release];
    try {
      // Content may take minutes, in which keys can be revoked; other changes apply from the next message on.
      const asked = policy.renew(this.#origin);
      const renewed = asked instanceof Promise ? await asked : asked;
      if ('reply' in renewed) return renewed;
      const content = { chunks, sizeBytes, dotStuffing };
      const built = buildSubmission(envelope, content, this.#origin, {
        id,
        protocol,
        requestId: this.#requestId,
        limits: options.limits,
        now: deps.clock.wall(),
        hello: hello?.name ?? '',
        hostname: options.hostname,
        postmaster: options.postmaster,
        domains: options.domains,
        receivedClient: options.settings.receivedClient,
      });
      const made =
        !built.ok || built.unsubscribe === null
          ? built
          : await individually(built, deps.unsubscribing(), options.limits.maxMessageBytes);
      if (!made.ok) return made.refusal;
      const { copies, content: whole } = made.submission;
      if (copies !== undefined) {
        // Never waits: the client has sent everything.
        const copying = deps.shared.budget.share(holderOf(this.#origin)).tryAcquire(whole.sizeBytes);
        if (copying === null) return NO_MEMORY;
        releases.push(copying);
      }
      const [answer] = await deps.intake.accept([made.submission]);
      const answered = this.#told(answer, made.submission.idempotency?.key ?? '');
      const told = answered instanceof Promise ? await answered : answered;
      if ('yes' in told) policy.completed(this.#origin.address);
      return told;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return STORE_AWAY;
    } finally {
      for (const one of releases) one();
    }
  }

  #told(answer: IntakeAnswer | undefined, idempotencyKey: string): Answer | Promise<Answer> {
    switch (answer?.kind) {
      case 'accepted':
      case 'replayed':
        return this.#queued(answer.id);
      case 'idempotency_mismatch':
        return this.#first(idempotencyKey);
      case 'suspended':
        return suspended(answer.suspension);
      default:
        throw new Error('the intake gave no answer');
    }
  }

  /** The API used this idempotency key for another submission. On SMTP the key alone decides (contract §10). */
  async #first(idempotencyKey: string): Promise<Answer> {
    const { views, clock } = this.#context.deps;
    const first = await views.remembered(ownerIdOf(this.#origin) ?? '', idempotencyKey, clock.wall());
    return first === null ? STORE_AWAY : this.#queued(first.id);
  }

  #queued(id: string): Answer {
    this.#accepted.count += 1;
    if (this.#accepted.ids.length < MAX_NOTED_IDS) this.#accepted.ids.push(id);
    return { yes: `queued as ${id}` };
  }

  async #authenticate({ credentials }: QuestionOf<'auth'>): Promise<Answer> {
    const found = await this.#context.policy.authenticate(this.#origin, credentials);
    if ('reply' in found) return found;
    this.#origin = { ...this.#origin, key: found, box: boxOfUserName(credentials.username, found) };
    return YES;
  }

  async #pause({ errors }: QuestionOf<'pause'>): Promise<Answer> {
    const { deps, options } = this.#context;
    const beyond = errors - options.settings.softErrors;
    await deps.clock.sleep(Math.min(MAX_PAUSE_MS, PAUSE_STEP_MS * beyond));
    return YES;
  }
}

function roomAnswer(room: boolean): Answer {
  return room ? YES : NO_MEMORY;
}

/** The holder of the memory for a message of this origin. */
function holderOf(origin: Origin): string {
  if (isStranger(origin)) return STRANGERS_HOLDER;
  return ownerIdOf(origin) ?? sourceGroup(origin.address);
}
