import type { Events, Unsubscribe } from '../observe/events.ts';
import type { Topic } from './contract.ts';
import { topicsOfEvent } from './hint-topics.ts';

/** How often what a topic is about may have changed on this node since it started: what differs for others is news. */
export interface TopicCounts {
  readonly counts: () => Readonly<Partial<Record<Topic, number>>>;
  readonly stop: Unsubscribe;
}

/** Begins to count. */
export function countTopics(events: Events): TopicCounts {
  const counts: Partial<Record<Topic, number>> = {};
  const stop = events.on((event) => {
    for (const topic of topicsOfEvent(event)) counts[topic] = (counts[topic] ?? 0) + 1;
  });
  return { counts: () => ({ ...counts }), stop };
}
