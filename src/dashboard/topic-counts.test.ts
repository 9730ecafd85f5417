import { expect, test } from 'vitest';
import { Events } from '../observe/events.ts';
import { countTopics } from './topic-counts.ts';

test('what pages are told of is counted, for the pages of other nodes', () => {
  const events = new Events();
  const topics = countTopics(events);
  expect(topics.counts()).toEqual({});
  events.emit({ type: 'operated', operation: 'createKey' });
  events.emit({ type: 'operated', operation: 'backup' });
  expect(topics.counts()).toEqual({ keys: 1, health: 1, activity: 2 });
  topics.stop();
  events.emit({ type: 'operated', operation: 'createKey' });
  expect(topics.counts()).toMatchObject({ keys: 1 });
});
