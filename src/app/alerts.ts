import { FactBook } from '../alerts/facts.ts';
import { AlertWatch } from '../alerts/watch.ts';
import { serverName } from '../config/names.ts';
import { channelTell } from '../control/alert-telling.ts';
import { isLate } from '../control/doctor/finding.ts';
import { relaysOfAll } from '../control/nodes/figures.ts';
import { CHECKS_OF_ONE_NODE, type Examined } from '../domain/alert-measures.ts';
import { INBOX } from '../domain/relay.ts';
import { createIdSource } from '../lib/id.ts';
import type { Event } from '../observe/events.ts';
import type { Finding } from '../operations/system.ts';
import { OPERATIONS, operationNamed } from '../operations/table.ts';
import type { ListenerParts } from './listener-parts.ts';
import type { Observation } from './observation.ts';
import { relayStates } from './relays.ts';

/** Watches for alerts until the service stops. Never rejects. */
export function watchAlerts(
  parts: ListenerParts,
  { health }: Pick<Observation, 'health'>,
  certificateEnd: () => number | null,
): Promise<void> {
  const { storage, live, engine, nodes, events, clock, random, version, node, signal, operations } = parts;
  const fault = (code: string, error: unknown) =>
    events.emit({ type: 'fault', code, message: error instanceof Error ? error.message : String(error) });
  const allRelays = () => relaysOfAll(relayStates(engine.relays, clock), nodes.reports());
  const nameOf = (id: string) => nodes.nodes().find((one) => one.id === id)?.name ?? id;
  const facts = new FactBook({
    clock,
    views: storage.views,
    webhooks: storage.webhooks,
    node: nameOf(node),
    health: () => health.report(),
    figures: () => health.snapshot().figures,
    allRelays,
    relays: () => live.config.relays.flatMap(({ name }) => (name === INBOX ? [] : [name])),
    knowsDelivered: () => live.config.events.keep === 'all',
    nodes: () => nodes.nodes(),
    triedRelays: relaysTried(parts),
    restCause: (relay) => parts.queue.lane(relay)?.restCause ?? null,
    examine: async () => (await operations.doctor({})).map(examinedOf),
    fault,
    othersChecks: () =>
      nodes.reports().flatMap(({ node: id, checks }) =>
        // What concerns all of them is known here, too.
        checks
          .filter(({ name }) => CHECKS_OF_ONE_NODE.includes(name))
          .map((check) => ({ node: nameOf(id), check })),
      ),
    certificates: () =>
      [
        { node: nameOf(node), endsAt: certificateEnd() },
        ...nodes.reports().map((told) => ({ node: nameOf(told.node), endsAt: told.certificateEndsAt })),
      ].flatMap(({ endsAt, ...of }) => (endsAt === null ? [] : [{ ...of, endsAt }])),
  });
  const tell = channelTell({
    clock,
    random,
    version,
    intake: engine.intake,
    resolution: () => live.loaded,
    relays: allRelays,
  });
  const watch = new AlertWatch({
    alerts: storage.alerts,
    clock,
    events,
    gather: (what) => facts.gather(what),
    tell,
    server: () => serverName(live.config),
    newId: createIdSource(clock, random, 'alr_'),
    isFirst: () => engine.isFirst(),
    keepDays: () => live.config.retention.activityDays,
    fault,
  });
  events.on((event) => {
    if (event.type !== 'operated') return;
    const operation = operationNamed(event.operation);
    const touched = operation === null ? [] : (OPERATIONS[operation].access.audit?.touches ?? []);
    if (touched.includes('alerts')) watch.wake();
  });
  return watch.run(signal);
}

/** The relays that were tried since the start: here by an attempt or a probe, or on another node. */
function relaysTried({ events, queue }: Pick<ListenerParts, 'events' | 'queue'>): () => ReadonlySet<string> {
  const tried = new Set<string>();
  events.on((event) => {
    if (TRIES.includes(event.type) && 'relay' in event && typeof event.relay === 'string')
      tried.add(event.relay);
  });
  return () => {
    for (const { relay, lastReply } of queue.lanes()) if (lastReply !== null) tried.add(relay);
    return tried;
  };
}

const TRIES: readonly Event['type'][] = ['attempted', 'probed', 'relay_rests', 'relay_recovered'];

function examinedOf(finding: Finding): Examined {
  const { name, status, found } = finding;
  return { name, found, status: isLate(finding) ? 'late' : status };
}
