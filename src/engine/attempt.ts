import { type Evidence, NO_EVIDENCE } from '../domain/attempt.ts';
import { type Envelope, mustPromiseTls } from '../domain/message.ts';
import { localReply, type Outcome } from '../domain/outcome.ts';
import type { QuotaRequest } from '../domain/quota.ts';
import type { ReturnPathOf } from '../domain/return-path.ts';
import type { Clock } from '../lib/clock.ts';
import { Stop, type StopSignal } from '../lib/stop.ts';
import type { Spool } from '../spool/spool.ts';
import { SpoolError } from '../spool/spool.ts';
import type { BeginRequest, UnitRef } from '../store/leased.ts';
import type { Store, Unit } from '../store/store.ts';
import type { Stopped } from '../store/telling.ts';
import type { TransportContent, TransportJob, TransportResult } from '../transport/transport.ts';
import type { Lane } from './lanes.ts';
import type { Play } from './playing.ts';
import type { QuotaTaken } from './quota.ts';
import type { Job } from './ready.ts';
import type { RelayAtWork } from './relays.ts';

/** What an attempt needs of the engine. */
export interface AttemptDeps {
  readonly store: Store;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly node: string;
  /** Absent: every transaction has the reverse-path that the sender gave. */
  readonly returnPath?: ReturnPathOf;
  /** What becomes of a test key's captured mail. */
  readonly play: Play;
  /** Called with an error that is a bug or a fault of this machine, never the peer's. */
  readonly fault: (code: string, error: unknown) => void;
}

/** What all attempts of a node share. */
export interface AttemptTerms extends AttemptDeps {
  /** Aborts when the node stops: attempts that no peer can have taken yet are interrupted at once. */
  readonly stopping: StopSignal;
}

/** The store's reference to a unit. */
export function refOf(unit: Unit): UnitRef {
  return {
    messageId: unit.messageId,
    lane: unit.lane,
    fence: unit.fence,
    indexes: unit.deliveries.map((delivery) => delivery.index),
  };
}

/** DELIVER: one attempt. The result always has one outcome per delivery; `begun` says whether it may count. */
export interface AttemptEnd extends TransportResult {
  readonly startedAt: number;
  /** False if it was never marked as begun: cancelled, the lease lost, or the store could not write. */
  readonly begun: boolean;
  /** What `begin` took from the relay's quota; null for nothing. */
  readonly quota: QuotaRequest | null;
  /** False if the result says nothing about the hop: the transport was not asked, or was interrupted. */
  readonly tried: boolean;
  /** It was told to end: what was not taken by then is given back. */
  readonly brokenOff: boolean;
  /** Recipients that the suppression list stops: it did not begin. */
  readonly stopped: readonly Stopped[];
}

/**
 * Attempts to transfer a unit to its next hop. The begin mark is written while the connection opens, and the transport
 * holds back the final dot until the mark is on disk. Calls `sent` when the transport can take another job though this
 * one has not ended.
 */
export async function attempt(
  deps: AttemptTerms,
  job: Job,
  lane: Lane,
  relay: RelayAtWork,
  quota: QuotaTaken,
  sent: () => void,
): Promise<AttemptEnd> {
  const { unit } = job;
  const startedAt = deps.clock.wall();
  if (unit.stopped !== undefined) {
    quota.answered(null);
    return { ...settleAll(unit, STOPPED), ...NOT_BEGUN, startedAt, stopped: unit.stopped };
  }
  const obstacle = obstacleTo(unit, relay, quota);
  // Null: the store has not answered.
  let begun: boolean | null = null;
  // Without an answer the quota may have been charged: a refund of what was not charged has no effect.
  let taken = quota.request;
  const refused = new Stop();
  let stopped: readonly Stopped[] = [];
  const recipients = unit.deliveries.map(({ recipient }) => recipient.address);
  const request: BeginRequest = { ...refOf(unit), recipients, quota: quota.request };
  const marked = deps.store.begin([request], { node: deps.node, now: startedAt }).then(
    ([answer]) => {
      begun = answer === 'begun';
      if (typeof answer === 'object') stopped = answer;
      if (!begun) taken = null;
      quota.answered(answer ?? null);
      if (!begun) refused.abort();
    },
    () => {
      begun = false;
      quota.answered(null);
      refused.abort();
    },
  );
  const fuse = new Fuse(lane.abort, deps.stopping);
  const opens = (point?: 'content') => {
    const isOpen = begun === true && deps.clock.mono() < lane.trustedUntil && !fuse.aborted;
    if (isOpen && point === undefined) fuse.mayBeTaken = true;
    return isOpen;
  };
  const gate = (point?: 'content') => (begun === null ? marked.then(() => opens(point)) : opens(point));
  const permission = { gate, refused, sent };
  const result =
    obstacle === null ? await converse(deps, job, fuse, relay, permission) : settleAll(unit, obstacle);
  fuse.remove();
  await marked;
  // A refused attempt was interrupted: it may have found the hop unhealthy, never healthy.
  const tried =
    result.unspoken !== true && result.evidence !== UNTRIED && (begun === true || result.hopFailed);
  const dueAt = Math.min(...unit.deliveries.map((delivery) => delivery.dueAt));
  return {
    ...result,
    evidence: queued(result.evidence, startedAt - dueAt),
    startedAt,
    begun: begun === true,
    tried,
    brokenOff: fuse.aborted,
    stopped,
    quota: taken,
  };
}

/**
 * Ends an attempt: at any time if its lane is given up; when the node stops, only until its peer may have taken the
 * mail.
 */
class Fuse extends Stop {
  /** The peer may have the message: from now on only its reply can tell. */
  mayBeTaken = false;
  readonly #lane: StopSignal;
  readonly #stopping: StopSignal;
  readonly #onLane = () => this.abort();
  readonly #onStopping = () => {
    if (!this.mayBeTaken) this.abort();
  };

  constructor(lane: StopSignal, stopping: StopSignal) {
    super();
    this.#lane = lane;
    this.#stopping = stopping;
    lane.addEventListener('abort', this.#onLane);
    stopping.addEventListener('abort', this.#onStopping);
    if (lane.aborted || stopping.aborted) this.abort();
  }

  remove(): void {
    this.#lane.removeEventListener('abort', this.#onLane);
    this.#stopping.removeEventListener('abort', this.#onStopping);
  }
}

/** Why the relay is not asked at all, by our own limits or what is known of it; null if it is. */
function obstacleTo(unit: Unit, { relay }: RelayAtWork, { shortfall }: QuotaTaken): Outcome | null {
  if (relay.provider !== null && mustPromiseTls(unit.tls, unit.reversePath)) return NOT_BY_PROVIDERS;
  const { maxMessageBytes } = relay.limits;
  if (maxMessageBytes > 0 && unit.sizeBytes > maxMessageBytes) {
    const reply = localReply(
      'message_too_large',
      '5.3.4',
      `The relay accepts at most ${maxMessageBytes} bytes`,
    );
    return { kind: 'rejected', reply, hopBound: true };
  }
  return shortfall === null ? null : { kind: 'deferred', reply: shortfall };
}

/** No provider's API can be asked to demand TLS of the servers behind it (RFC 8689). */
const NOT_BY_PROVIDERS: Outcome = {
  kind: 'rejected',
  reply: localReply(
    'no_requiretls',
    '5.7.30',
    'The message demands TLS all the way (REQUIRETLS), which the API of a provider cannot promise',
  ),
  hopBound: true,
};

async function converse(
  deps: AttemptDeps,
  job: Job,
  signal: StopSignal,
  relay: RelayAtWork,
  permission: Pick<TransportJob, 'gate' | 'refused' | 'sent'>,
): Promise<TransportResult> {
  const { unit } = job;
  const reversePath = deps.returnPath?.(unit, relay.relay) ?? unit.reversePath;
  try {
    const content = job.content ?? (await deps.spool.read(unit.content, unit.part));
    const result = await relay.transport.deliver(
      {
        messageId: unit.messageId,
        envelope: envelopeOf(unit, reversePath),
        content: transportContent(unit, content),
        tls: unit.tls,
        ...permission,
      },
      signal,
    );
    if (unit.test) return await deps.play(unit, result);
    return reversePath === unit.reversePath ? result : returning(result, reversePath);
  } catch (error) {
    if (
      error instanceof SpoolError &&
      (error.code === 'content_damaged' || error.code === 'content_missing')
    ) {
      deps.fault(error.code, error);
      const reply = localReply(error.code, '5.3.0', 'The stored contents of the message cannot be read');
      return settleAll(unit, { kind: 'rejected', reply });
    }
    deps.fault(error instanceof SpoolError ? error.code : 'transport_bug', error);
    const reply = localReply('internal_error', '4.3.0', 'The attempt failed inside the server');
    return settleAll(unit, { kind: 'deferred', reply });
  }
}

function envelopeOf(unit: Unit, reversePath: string): Envelope {
  const isOurs = reversePath !== unit.reversePath;
  return {
    reversePath,
    recipients: unit.deliveries.map(({ recipient }) =>
      isOurs ? { ...recipient, notify: withFailure(recipient.notify) } : recipient,
    ),
    // What is larger than our limit for bounces would not come back.
    ret: isOurs ? 'HDRS' : unit.ret,
    envid: unit.envid,
  };
}

/**
 * The NOTIFY of a transaction whose notifications come back to us: we always want to hear of failures, and whether the
 * sender does is decided when we tell it. ENVID and ORCPT go on as they came, so that a notification names message and
 * recipient as we know them.
 */
function withFailure(notify: string | null): string | null {
  if (notify === null || notify === 'NEVER') return null;
  return notify.split(',').includes('FAILURE') ? notify : `${notify},FAILURE`;
}

/**
 * The result of an attempt with a return path of ours. The next hop notifies us, and so the sender's wish was not passed
 * on to it (RFC 3461 §5.2.2): the sender hears of it from us. The evidence shows the path that was given.
 */
function returning(result: TransportResult, reversePath: string): TransportResult {
  const steps = result.evidence.steps.map((step) =>
    step.verb === 'MAIL' ? { ...step, verb: `MAIL FROM:<${reversePath}>` } : step,
  );
  return {
    ...result,
    outcomes: result.outcomes.map((outcome) =>
      outcome.kind === 'delivered' ? { ...outcome, dsnPassed: false } : outcome,
    ),
    evidence: { ...result.evidence, steps },
  };
}

/** Contents as chunks in memory (the short way), or as a reader of the spool. */
type Bytes = { readonly chunks: readonly Uint8Array[] | TransportContent['chunks'] };

function transportContent(unit: Unit, content: Bytes): TransportContent {
  const { chunks } = content;
  return {
    sizeBytes: unit.sizeBytes,
    flags: unit.flags,
    chunks: typeof chunks === 'function' ? () => chunks.call(content) : () => chunks,
  };
}

function settleAll(unit: Unit, outcome: Outcome): TransportResult {
  return { outcomes: unit.deliveries.map(() => outcome), evidence: UNTRIED, hopFailed: false, restMs: null };
}

/** Recipients that the suppression list stopped before anything was said to the hop. */
const STOPPED: Outcome = { kind: 'deferred', reply: localReply('suppressed', '5.7.1', 'suppressed') };
const NOT_BEGUN = { begun: false, tried: false, brokenOff: false, quota: null } as const;

/** For an attempt whose transport was never asked. */
const UNTRIED: Evidence = { ...NO_EVIDENCE };

/** Adds the time it waited for its turn, in ms. */
function queued(evidence: Evidence, ms: number): Evidence {
  return { ...evidence, timings: { ...evidence.timings, queueMs: Math.max(0, Math.round(ms)) } };
}
