import type { NodesSight } from '../control/nodes/sight.ts';
import type { Topic } from '../dashboard/contract.ts';
import type { HintFeed } from '../dashboard/hints.ts';
import { isTopic } from '../dashboard/hints.ts';
import type { Clock } from '../lib/clock.ts';

/** What it takes. */
export interface NewsOptions {
  readonly nodes: Pick<NodesSight, 'nodes' | 'reports'>;
  readonly feed: Pick<HintFeed, 'note'>;
  readonly clock: Clock;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** How often it is looked, in ms: what others tell comes every two seconds. */
const LOOK_MS = 1_000;

/** Has the dashboard's pages told what happens on other nodes, until the signal aborts. Never rejects. */
export async function tellNewsOfOthers({ nodes, feed, clock, signal }: NewsOptions): Promise<void> {
  let heard = countsOf(nodes);
  let seen = membersOf(nodes);
  while (!signal.aborted) {
    await clock.sleep(LOOK_MS, signal);
    const now = countsOf(nodes);
    const members = membersOf(nodes);
    feed.note([...changedTopics(heard, now), ...(members === seen ? [] : (['health'] as const))]);
    // Of a node that is silent for a while, what it told last is what it is compared with again.
    const ids = new Set(nodes.nodes().map(({ id }) => id));
    heard = new Map([...heard, ...now].filter(([node]) => ids.has(node)));
    seen = members;
  }
}

type Counts = Readonly<Record<string, number>>;

function countsOf(nodes: NewsOptions['nodes']): Map<string, Counts> {
  return new Map(nodes.reports().map(({ node, news }) => [node, news]));
}

function membersOf(sight: NewsOptions['nodes']): string {
  return sight
    .nodes()
    .map(({ id, missing }) => `${id}${missing ? ' missing' : ''}`)
    .join('\n');
}

/** Of a node that is seen for the first time everything that it has done is news. */
function changedTopics(before: ReadonlyMap<string, Counts>, now: ReadonlyMap<string, Counts>): Topic[] {
  const changed = new Set<Topic>();
  for (const [node, counts] of now)
    for (const [topic, count] of Object.entries(counts))
      if (isTopic(topic) && count !== before.get(node)?.[topic]) changed.add(topic);
  return [...changed];
}
