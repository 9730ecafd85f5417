import { z } from 'zod';
import { HEALTH_STATUSES, type HealthCheck } from '../../domain/health.ts';
import { relayOfLane } from '../../domain/lane.ts';
import type { LaneFigures, LaneReply } from '../../engine/contract.ts';
import { decodeJson } from '../../lib/decode.ts';
import type { RelayStatus } from '../../observe/health-report.ts';
import { hideAddresses } from '../../observe/log.ts';
import type { DeniedTally, LaneHappening } from '../../observe/remembered.ts';

/**
 * What only a node itself knows, and the others show: written as JSON with every beat (`NodeBeat.report`), and read by
 * nodes that may run another version. Unreadable parts are left out of the figures.
 */
export interface NodeReport {
  /** Those that rest or have attempts under way. */
  readonly relays: readonly Pick<RelayStatus, 'name' | 'state' | 'inflight' | 'refusal'>[];
  /** The busiest first. */
  readonly lanes: readonly LaneFigures[];
  /** Sources refused there, the most recent first. */
  readonly denied: readonly DeniedTally[];
  /** Rests and recoveries of its lanes, the newest first. */
  readonly happenings: readonly LaneHappening[];
  /** Its checks of health that are not well. */
  readonly checks: readonly HealthCheck[];
  /** Wall ms at which its TLS certificate ends; null: it has none, or none whose end is to be warned of. */
  readonly certificateEndsAt: number | null;
  /** How often the subjects of the dashboard's hints may have changed there, by topic. */
  readonly news: Readonly<Record<string, number>>;
}

/** Bytes of each part of a report as JSON: together below a beat's limit, 64 KiB. */
const MAX_BYTES: Readonly<Record<Exclude<keyof NodeReport, 'news' | 'certificateEndsAt'>, number>> = {
  relays: 16 * 1024,
  lanes: 24 * 1024,
  denied: 9 * 1024,
  happenings: 9 * 1024,
  checks: 4 * 1024,
};
/** Characters of a peer's reply. */
const MAX_TEXT = 200;

/** Writes a report of at most 64 KiB, with the beginning of each list: the busiest lanes and relays. */
export function writeReport(facts: NodeReport): string {
  const relays = facts.relays
    .filter(({ state, inflight }) => inflight > 0 || state !== 'closed')
    .sort((a, b) => b.inflight - a.inflight)
    .map(({ name, state, inflight, refusal }) => ({ name, state, inflight, refusal }));
  const happenings = facts.happenings.map((one) => ({
    ...one,
    cause: one.cause?.slice(0, MAX_TEXT) ?? null,
  }));
  return JSON.stringify({
    relays: fitting(relays, MAX_BYTES.relays),
    lanes: fitting(toldLanes(facts.lanes).map(laneNote), MAX_BYTES.lanes),
    denied: fitting(facts.denied, MAX_BYTES.denied),
    happenings: fitting(happenings, MAX_BYTES.happenings),
    checks: fitting(facts.checks, MAX_BYTES.checks),
    certificateEndsAt: facts.certificateEndsAt,
    news: facts.news,
  });
}

/** Parses a report of any node's {@link writeReport}. Never throws. */
export function readReport(json: string): NodeReport {
  const parsed = reportSchema.safeParse(decodeJson(json));
  return parsed.success ? parsed.data : NO_REPORT;
}

/** Whether a lane has anything to report beyond its existence. */
export function tellsSomething({ inHand, perMinute, state }: LaneFigures): boolean {
  return inHand > 0 || perMinute > 0 || state !== 'closed';
}

/** Busy lanes, the busiest first; then idle ones with a reply, the newest first. */
function toldLanes(lanes: readonly LaneFigures[]): LaneFigures[] {
  const busy = lanes.filter(tellsSomething).sort((a, b) => b.inHand - a.inHand || b.perMinute - a.perMinute);
  const idle = lanes
    .filter((lane) => !tellsSomething(lane) && lane.lastReply !== null)
    .sort((a, b) => (b.lastReply?.at ?? 0) - (a.lastReply?.at ?? 0));
  return [...busy, ...idle];
}

/** Every node knows the operators' holds by itself; the relay is in the lane's name. */
function laneNote({ relay: _relay, held: _held, lastReply, restReply, ...told }: LaneFigures) {
  return { ...told, lastReply: toldReply(lastReply), restReply: toldReply(restReply) };
}

/** A reply may name anybody, and would be written again after that person was erased. */
function toldReply(reply: LaneReply | null): LaneReply | null {
  return reply && { ...reply, text: hideAddresses(reply.text, 'domain').slice(0, MAX_TEXT) };
}

/** As many items as fit, from the first on. */
function fitting<T>(items: readonly T[], maxBytes: number): T[] {
  const fit: T[] = [];
  let bytes = 2;
  for (const item of items) {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > maxBytes) break;
    fit.push(item);
  }
  return fit;
}

const NO_REPORT: NodeReport = {
  relays: [],
  lanes: [],
  denied: [],
  happenings: [],
  checks: [],
  certificateEndsAt: null,
  news: {},
};

const state = z.enum(['closed', 'open', 'half_open']);
const count = z.number().min(0);
const refusal = z.string().nullable().default(null);
const reply = z.object({
  code: z.int().nullable(),
  enhanced: z.string().nullable(),
  text: z.string(),
  at: z.number(),
});
const lane = z
  .object({
    lane: z.string(),
    inFlight: count,
    concurrency: count,
    inHand: count,
    perMinute: count,
    lastReply: reply.nullable(),
    state,
    restsUntil: z.number().nullable(),
    restsSince: z.number().nullable().default(null),
    spent: z.boolean(),
    restCause: z.string().nullable().default(null),
    restReply: reply.nullable().default(null),
  })
  .transform((told) => ({ ...told, relay: relayOfLane(told.lane), held: null }));
const denied = z.object({
  sourceAddress: z.string(),
  reason: z.string(),
  port: z.enum(['api', 'hooks', 'webui']).nullable(),
  keyId: z.string().nullable().default(null),
  count,
  firstAt: z.number(),
  lastAt: z.number(),
});
const happening = z.object({
  at: z.number(),
  lane: z.string(),
  kind: z.enum(['rested', 'recovered']),
  pauseMs: z.number().nullable(),
  cause: z.string().nullable(),
});

const check = z.object({ name: z.string(), status: z.enum(HEALTH_STATUSES), detail: z.string() });

/** A list in another version's format is read as empty. */
const reportSchema = z.object({
  relays: z.array(z.object({ name: z.string(), state, inflight: count, refusal })).catch([]),
  lanes: z.array(lane).catch([]),
  denied: z.array(denied).catch([]),
  happenings: z.array(happening).catch([]),
  checks: z.array(check).catch([]),
  certificateEndsAt: z.number().nullable().catch(null),
  news: z.record(z.string(), z.number()).catch({}),
}) satisfies z.ZodType<NodeReport>;
