import { hostname } from 'node:os';
import { rolesOf } from '../config/roles.ts';
import type { Config } from '../config/schema.ts';
import { writeReport } from '../control/nodes/report.ts';
import type { TopicCounts } from '../dashboard/hints.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { DeniedSources, RelayHistory } from '../observe/remembered.ts';
import type { NodeBeat } from '../store/cluster.ts';
import { relayStates } from './relays.ts';

/** A name for this process in leases and counters, another at every start. */
export function nodeId(name: string | null, random: Random): string {
  const suffix = Buffer.from(random.fill(new Uint8Array(4))).toString('hex');
  return `${name ?? hostname()}-${process.pid}-${suffix}`;
}

/** What the other nodes are told of this one once, at its start (`startedAt`: wall ms). */
export function ownNode(
  id: string,
  config: Pick<Config, 'node' | 'listener'>,
  version: string,
  startedAt: number,
): Omit<NodeBeat, 'sharesWith' | 'report' | 'lanes'> {
  return { id, name: config.node.name ?? hostname(), roles: rolesOf(config), version, startedAt };
}

/** What this process knows, in memory, that others are told of. */
export interface OwnKnowledge {
  readonly denied: DeniedSources;
  readonly history: RelayHistory;
  readonly topics: TopicCounts;
  readonly clock: Clock;
}

/** What the other nodes are told with every beat. */
export function ownReport({ relays, queue }: Engine, known: OwnKnowledge): string {
  const { denied, history, topics, clock } = known;
  return writeReport({
    ...{ relays: relayStates(relays, clock), lanes: queue.lanes() },
    ...{ denied: denied.list(), happenings: history.newest(), news: topics.counts() },
  });
}
