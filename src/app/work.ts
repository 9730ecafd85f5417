import { engineSettingsOf } from '../control/engine-settings.ts';
import { queueOfAll } from '../control/nodes/figures.ts';
import { createNodesSight, type NodesSight, type OwnNode } from '../control/nodes/sight.ts';
import { createEngine, type Engine } from '../engine/engine.ts';
import type { QueueFigures } from '../engine/queue-figures.ts';
import { Budget } from '../lib/budget.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import { createSigningKeys } from '../signing/keys.ts';
import { MailSigner } from '../signing/signer.ts';
import { PROVIDER_MEMORY } from '../transport/providers/limits.ts';
import type { LiveConfig } from './live-config.ts';
import { type BoundSmtp, createMailDns } from './mail-dns.ts';
import { type OwnKnowledge, ownNode, ownReport } from './own-node.ts';
import { applyRelays, type TransportParts } from './relays.ts';
import type { Storage } from './storage.ts';

/** What the work with mail is made of. */
export interface WorkParts extends OwnKnowledge {
  readonly storage: Storage;
  readonly live: LiveConfig;
  readonly events: Events;
  readonly random: Random;
  readonly log: Log;
  readonly version: string;
  /** This process's id; another at every start. */
  readonly node: string;
  readonly bound: () => BoundSmtp;
}

/** The engine with what it sends by, and the nodes it works beside. */
export interface Work {
  readonly engine: Engine;
  /** What the others are told of this node. */
  readonly self: OwnNode;
  readonly transports: TransportParts;
  /** Not yet looked for. */
  readonly nodes: NodesSight;
  /** What is known of the lanes at work, on whichever node. */
  readonly queue: QueueFigures;
}

/** Makes the engine, which starts once told to, with the relays of the configuration. */
export function createWork(parts: WorkParts): Work {
  const { storage, live, events, clock, random, log, node, version, bound } = parts;
  const keysOf = createSigningKeys();
  const signer = new MailSigner({ keys: () => keysOf(live.config.domains), clock, log });
  const self = ownNode(node, live.config, version, clock.wall());
  const nodes = createNodesSight(storage.cluster, self, clock);
  const engine: Engine = createEngine({
    ...storage,
    ...{ clock, random, events, signer, node },
    settings: engineSettingsOf(() => live.loaded),
    self: { ...self, report: () => ownReport(engine, parts) },
  });
  const transports: TransportParts = {
    ...{ clock, random, log },
    dns: createMailDns(() => live.config, bound, clock, random),
    resign: (original, converted) => signer.resign(original, converted),
    memory: new Budget(PROVIDER_MEMORY),
  };
  applyRelays(engine.relays, live.config, transports);
  const queue = queueOfAll(engine.queue, () => nodes.reports());
  return { engine, self, transports, nodes, queue };
}
