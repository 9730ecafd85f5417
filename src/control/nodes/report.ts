import { z } from 'zod';
import { relayOfLane } from '../../domain/lane.ts';
import type { LaneFigures } from '../../engine/contract.ts';
import { decodeJson } from '../../lib/decode.ts';
import type { RelayStatus } from '../../observe/health-report.ts';
import type { DeniedTally, LaneHappening } from '../../observe/remembered.ts';

/**
 * What only a node itself knows, and the others show: written as JSON with every beat (`NodeBeat.report`), read by nodes that
 * may run another version. What cannot be read of a report is left out of the figures.
 */
export interface NodeReport {
  /** Those that rest or have attempts under way. */
  readonly relays: readonly Pick<RelayStatus, 'name' | 'state' | 'inflight' | 'refusal'>[];
  /** The busiest first. */
  readonly lanes: readonly LaneFigures[];
  /** Who was refused there, the last first. */
  readonly denied: readonly DeniedTally[];
  /** Rests and recoveries of its lanes, the newest first. */
  readonly happenings: readonly LaneHappening[];
  /** How often what each topic of the dashboard's hints is about may have changed there. */
  readonly news: Readonly<Record<string, number>>;
}

/** Bytes of each part of a report as JSON: all of them stay under what a beat takes, 64 KiB. */
const MAX_BYTES: Readonly<Record<Exclude<keyof NodeReport, 'news'>, number>> = {
  relays: 16 * 1024,
  lanes: 28 * 1024,
  denied: 9 * 1024,
  happenings: 9 * 1024,
};
/** Characters of a peer's words. */
const MAX_TEXT = 200;

/** Writes a report of at most 64 KiB: of each list what comes first of it, the busiest lanes and relays. */
export function writeReport(facts: NodeReport): string {
  const relays = facts.relays
    .filter(({ state, inflight }) => inflight > 0 || state !== 'closed')
    .sort((a, b) => b.inflight - a.inflight)
    .map(({ name, state, inflight }) => ({ name, state, inflight }));
  const happenings = facts.happenings.map((one) => ({
    ...one,
    cause: one.cause?.slice(0, MAX_TEXT) ?? null,
  }));
  return JSON.stringify({
    relays: fitting(relays, MAX_BYTES.relays),
    lanes: fitting(toldLanes(facts.lanes).map(laneNote), MAX_BYTES.lanes),
    denied: fitting(facts.denied, MAX_BYTES.denied),
    happenings: fitting(happenings, MAX_BYTES.happenings),
    news: facts.news,
  });
}

/** Reads what {@link writeReport} wrote on whatever node. Never throws. */
export function readReport(json: string): NodeReport {
  const parsed = reportSchema.safeParse(decodeJson(json));
  return parsed.success ? parsed.data : NO_REPORT;
}

/** Whether there is anything to say of a lane but that it is there. */
export function tellsSomething({ inHand, perMinute, state }: LaneFigures): boolean {
  return inHand > 0 || perMinute > 0 || state !== 'closed';
}

/** Those at work, the busiest first; then those that are idle and have heard something, the newest first. */
function toldLanes(lanes: readonly LaneFigures[]): LaneFigures[] {
  const busy = lanes.filter(tellsSomething).sort((a, b) => b.inHand - a.inHand || b.perMinute - a.perMinute);
  const idle = lanes
    .filter((lane) => !tellsSomething(lane) && lane.lastReply !== null)
    .sort((a, b) => (b.lastReply?.at ?? 0) - (a.lastReply?.at ?? 0));
  return [...busy, ...idle];
}

/** What operators hold back, every node knows by itself; the relay is in the lane's name. */
function laneNote({ relay: _relay, held: _held, lastReply, ...told }: LaneFigures) {
  const reply = lastReply === null ? null : { ...lastReply, text: lastReply.text.slice(0, MAX_TEXT) };
  return { ...told, lastReply: reply };
}

/** As many as fit, from the first on. */
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

const NO_REPORT: NodeReport = { relays: [], lanes: [], denied: [], happenings: [], news: {} };

const state = z.enum(['closed', 'open', 'half_open']);
const count = z.number().min(0);
const refusal = z.string().nullable().default(null);
const lane = z
  .object({
    lane: z.string(),
    ...{ inFlight: count, concurrency: count, inHand: count, perMinute: count },
    lastReply: z
      .object({ code: z.int().nullable(), enhanced: z.string().nullable(), text: z.string(), at: z.number() })
      .nullable(),
    ...{ state, restsUntil: z.number().nullable(), spent: z.boolean() },
    restCause: z.string().nullable().default(null),
  })
  .transform((told) => ({ ...told, relay: relayOfLane(told.lane), held: null }));
const denied = z.object({
  ...{ sourceAddress: z.string(), reason: z.string(), port: z.enum(['api', 'webui']).nullable() },
  ...{ count, firstAt: z.number(), lastAt: z.number() },
});
const happening = z.object({
  ...{ at: z.number(), lane: z.string(), kind: z.enum(['rested', 'recovered']) },
  ...{ pauseMs: z.number().nullable(), cause: z.string().nullable() },
});

/** A list that another version writes in another way is an empty one. */
const reportSchema = z.object({
  relays: z.array(z.object({ name: z.string(), state, inflight: count, refusal })).catch([]),
  lanes: z.array(lane).catch([]),
  denied: z.array(denied).catch([]),
  happenings: z.array(happening).catch([]),
  news: z.record(z.string(), z.number()).catch({}),
}) satisfies z.ZodType<NodeReport>;
