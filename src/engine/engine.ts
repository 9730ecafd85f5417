import { relayOfLane } from '../domain/lane.ts';
import type { ReturnPathOf } from '../domain/return-path.ts';
import type { PostWebhook } from '../domain/webhook.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import type { Spool } from '../spool/spool.ts';
import type { Cluster } from '../store/cluster.ts';
import type { Journal } from '../store/journal.ts';
import { type Store, StoreError } from '../store/store.ts';
import type { SuppressionList } from '../store/suppressions.ts';
import { type Taking, takingApart } from '../store/taking.ts';
import type { Views } from '../store/views.ts';
import type { Webhooks } from '../store/webhooks.ts';
import { Accept, type IntakeTrouble } from './accept.ts';
import { Avoided, Balance } from './balance.ts';
import { Collection, Compaction, UpkeepRecord } from './compaction.ts';
import type {
  Acts,
  EngineSettings,
  FeedbackDesk,
  Intake,
  LaneFigures,
  LaneReply,
  QueueFigures,
  Signer,
} from './contract.ts';
import { Dispatch } from './dispatch.ts';
import { Divert } from './divert.ts';
import { FeedbackRoom } from './feedback.ts';
import type { Lane } from './lanes.ts';
import { Leases } from './leases.ts';
import { Membership, type NodeSelf } from './membership.ts';
import { News } from './news.ts';
import { Acting } from './operator-acts.ts';
import { createPlay } from './playing.ts';
import { Gate, QueueRoom } from './queue-room.ts';
import { QuotaWatch } from './quota.ts';
import { Redecide } from './redecide.ts';
import { RelayStory } from './relay-story.ts';
import { Relays } from './relays.ts';
import { Reports } from './reports.ts';
import { Sweep } from './sweep.ts';
import { WebhookRoom, type WebhookRoomDeps } from './webhooks.ts';

/** What an engine is made of. */
export interface EngineDeps {
  readonly store: Store;
  readonly views: Views;
  readonly spool: Spool;
  /** Takes contents and records together; absent: they are stored apart. */
  readonly taking?: Taking;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  readonly signer: Signer;
  /** Absent: every transaction has the reverse-path that the sender gave. */
  readonly returnPath?: ReturnPathOf;
  /** The suppression list; absent: no recipient of a test key's mail is suppressed because it asks for that. */
  readonly suppressions?: Pick<SuppressionList, 'addSuppressions'>;
  /** Endpoints that are told of events; absent, as `postWebhook`: there are none. */
  readonly webhooks?: Webhooks;
  readonly postWebhook?: PostWebhook;
  /** Takes over endpoints that stand in the configuration file; absent: there are none. */
  readonly fileWebhooks?: () => Promise<void>;
  /** Records what retention and compaction did; absent: nothing does. */
  readonly journal?: Pick<Journal, 'record'>;
  /** This process's name in leases, new at every start. */
  readonly node: string;
  /** Tells and hears other nodes over the same store; null or absent: there are none. */
  readonly cluster?: Cluster | null;
  /** What they are told of this node. Absent: a node that does everything. */
  readonly self?: NodeSelf;
  readonly settings: () => EngineSettings;
}

/** A node's engine: its entry points, its relays, and its life cycle. */
export interface Engine {
  readonly intake: Intake;
  readonly acts: Acts;
  readonly relays: Relays;
  /** What is known of the lanes at work. */
  readonly queue: QueueFigures;
  /** Hears what became of mail. */
  readonly feedback: FeedbackDesk;
  /** Holds the spool as it is while it is copied. */
  readonly collection: Pick<Collection, 'hold'>;
  /** For erasing people: one node does it, and segments that name them are emptied and removed. */
  readonly erasing: {
    isFirst(): boolean;
    empty(segments: readonly number[], signal: AbortSignal): Promise<void>;
    /** Runs a step while nothing in the spool is moved or removed. False: not run, because the spool is held. */
    undisturbed(step: () => Promise<void>): Promise<boolean>;
  };
  /**
   * Recovers what an earlier process left (`seize`: we are the store's only user) and starts working. Resolves when
   * mail can be accepted.
   */
  start(options: { readonly seize: boolean }): Promise<void>;
  /**
   * The routing table or an operator's holds changed: waiting mail is routed again. Relay changes are noticed without
   * it.
   */
  waysChanged(): void;
  /** Why the last message could not be stored, if that was recent; null if all is well. */
  trouble(): IntakeTrouble | null;
  /** Whether this node does the duties for which one node is enough. */
  isFirst(): boolean;
  /** Refuses new mail from now on. */
  suspend(): void;
  /** Ends: what is under way has until `deadline` aborts, the rest is given back. Closes the transports. */
  stop(deadline: AbortSignal): Promise<void>;
}

/** Assembles an engine. */
export function createEngine(deps: EngineDeps): Engine {
  const rooms = roomsOf(deps);
  const { relays, dispatch, leases, membership, sweep, gate, quotas } = rooms;
  const stopping = new AbortController();
  const ended = new AbortController();
  const wakeable = [rooms.divert, rooms.redecide, quotas, rooms.news, ...rooms.webhooks];
  let loops: Promise<unknown> = Promise.resolve();
  let beating: Promise<void> = Promise.resolve();

  return {
    intake: rooms.accept,
    acts: rooms.acting,
    feedback: rooms.feedback,
    relays,
    collection: rooms.collection,
    erasing: {
      isFirst: () => membership.isFirst,
      undisturbed: (step) => rooms.collection.run(step),
      empty: async (segments, signal) => {
        await rooms.compaction.empty(segments, signal);
        await sweep.collect();
      },
    },
    queue: queueFigures(rooms.lanes, relays, deps.clock),
    start: async ({ seize }) => {
      await sweep.reclaim(seize);
      await sweep.checkDisk();
      await measureRoom(rooms.room, deps);
      await membership.join();
      for (const { relay } of relays.all()) if (relay.type !== 'mx') leases.want(relay.name);
      await quotas.look();
      await leases.turn();
      const others = wakeable.map((loop) => loop.run(stopping.signal));
      beating = membership.run(ended.signal);
      const watching = leases.watch(ended.signal);
      loops = Promise.all([dispatch.run(), leases.run(), sweep.run(), watching, ...others]);
    },
    waysChanged: rooms.waysChanged,
    trouble: () => rooms.accept.trouble(),
    isFirst: () => membership.isFirst,
    suspend: () => gate.set('shutting_down', true),
    stop: async (deadline) => {
      gate.set('shutting_down', true);
      stopping.abort();
      for (const loop of wakeable) loop.wake();
      sweep.stop();
      leases.drain();
      await dispatch.stop(deadline);
      leases.stop();
      // Until here work was under way: its leases were renewed, and the other nodes counted us.
      ended.abort();
      await Promise.all([loops, beating]);
      await rooms.relayStory.written();
      await leases.releaseAll();
      await membership.leave();
      await relays.close();
    },
  };
}

/** Makes the parts of an engine and connects them. */
function roomsOf(deps: EngineDeps) {
  const lanes = new Map<string, Lane>();
  const gate = new Gate();
  const room = new QueueRoom(deps);
  const parts = { ...deps, fault: faultTeller(deps.events) };
  const shunned = new Avoided(deps.clock);
  const holds = () => deps.settings().holds;
  const relays = new Relays({ clock: deps.clock, lanes, holds, shunned }, () => waysChanged());
  const want = (lane: string) => leases.want(lane);
  const reports = new Reports({ ...parts, relays, newId: () => accept.newId() });
  const feedback = new FeedbackRoom(parts);
  const relayStory = new RelayStory(parts);
  const own: FeedbackRoom['own'] = (deliveries, transitions) => feedback.own(deliveries, transitions);
  const dispatch = new Dispatch(
    {
      ...parts,
      reports,
      own,
      play: createPlay(feedback, parts.fault),
      want,
      fellIll: (lane) => divert.fellIll(lane),
      outOfReach: (lane) => leases.shun(lane),
      gotWell: () => divert.stir(),
    },
    lanes,
    relays,
  );
  const membership: Membership = new Membership(parts, {
    fits: (share) => relays.fits(share),
    laneCount: () => balance.count,
    changed: () => {
      relays.share = membership.share;
      renewed();
      redecide.wake();
    },
  });
  relays.share = membership.share;
  const balance = new Balance({ membership, relays, shunned }, lanes);
  const news = new News(parts, lanes, dispatch);
  const keeping = { ...parts, hops: relays.hops, membership, balance, news, shunned };
  const leases = new Leases(keeping, lanes, dispatch);
  const divert = new Divert({ ...parts, relays, dispatch, lanes, want });
  const redecide = new Redecide({ ...parts, relays, dispatch, want, membership });
  const renewed = () => {
    dispatch.stirAll();
    divert.stir();
  };
  const waysChanged = () => {
    relays.holdsChanged();
    renewed();
    redecide.stir();
  };
  const quotas = new QuotaWatch({ ...parts, relays, renewed });
  const webhooks = webhookRooms(parts, membership);
  const collection = new Collection();
  const upkeep = upkeepOf(parts, collection);
  const peers = { dispatch, leases, gate, room, reports, feedback, membership, ...upkeep };
  const sweep = new Sweep(parts, peers);
  const taking = deps.taking ?? takingApart(deps.spool, deps.store);
  const accept = new Accept({ ...parts, taking }, { relays, dispatch, leases, gate, room });
  const acting = new Acting(parts, dispatch, leases, redecide);
  // biome-ignore format: names alone
  return {
    lanes, gate, room, relays, dispatch, leases, membership, news,
    divert, redecide, quotas, collection, compaction: upkeep.compaction, sweep, accept, acting, feedback, relayStory, webhooks, waysChanged,
  };
}

/** None, where nothing can be told to anybody. */
function webhookRooms(
  parts: EngineDeps & Pick<WebhookRoomDeps, 'fault'>,
  membership: Membership,
): readonly WebhookRoom[] {
  const { webhooks, postWebhook: post, fileWebhooks: takeOver } = parts;
  if (webhooks === undefined || post === undefined) return [];
  return [new WebhookRoom({ ...parts, ...(takeOver && { takeOver }), webhooks, post, membership })];
}

/** Compaction, and the journal of compaction and retention. */
function upkeepOf(deps: EngineDeps, collection: Collection) {
  const record = new UpkeepRecord(deps.journal ?? null, deps.clock);
  return { collection, record, compaction: new Compaction({ ...deps, collection, record }) };
}

/** Reports an error that is a bug or a fault of this machine, with the store's code if it has one. */
function faultTeller(events: Events): (code: string, error: unknown) => void {
  return (code, error) => {
    const cause = error instanceof StoreError ? `${code}: ${error.code}` : code;
    const message = error instanceof Error ? error.message : String(error);
    events.emit({ type: 'fault', code: cause, message });
  };
}

/** Without a figure for the disk, only the disk itself limits the bytes that wait. */
async function measureRoom(room: QueueRoom, { spool, views, clock }: EngineDeps): Promise<void> {
  const space = await spool.space();
  if (space !== null) {
    const { queuedBytes } = await views.figures(clock.wall());
    room.measure(space.freeBytes, queuedBytes);
  }
  await room.look();
}

/** The present state of these lanes, each time it is asked for. */
function queueFigures(lanes: ReadonlyMap<string, Lane>, relays: Relays, clock: Clock): QueueFigures {
  return {
    lanes: () => [...lanes.values()].map((lane) => figuresOf(lane, relays, clock.mono(), clock.wall())),
    lane: (name) => {
      const lane = lanes.get(name);
      return lane === undefined ? null : figuresOf(lane, relays, clock.mono(), clock.wall());
    },
  };
}

function restReplyOf({ restReply }: Lane): LaneReply | null {
  if (restReply === null) return null;
  const { code, enhanced, text, at } = restReply;
  return { code, enhanced, text, at };
}

function figuresOf(lane: Lane, relays: Relays, mono: number, wall: number): LaneFigures {
  const relay = relays.get(relayOfLane(lane.name));
  const rests = lane.restsUntil(mono);
  return {
    lane: lane.name,
    relay: relayOfLane(lane.name),
    inFlight: lane.inflight,
    concurrency: lane.pace(mono, relay?.perLaneOf(lane) ?? 0),
    inHand: lane.inHand,
    perMinute: lane.rate.perMinute(mono),
    lastReply: lane.lastReply,
    state: lane.breakerState(mono),
    restsUntil: rests === null ? null : wall + rests - mono,
    restsSince: lane.breaker.failures === 0 ? null : lane.illSince,
    restCause: lane.restCause,
    restReply: restReplyOf(lane),
    spent: (relay?.left ?? 1) < 1,
    held: relays.holdOf(lane.name),
  };
}
