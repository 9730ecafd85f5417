import { afterEach, expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { Events } from '../observe/events.ts';
import { EVERY_EVENT } from '../store/events.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { RelayStory } from './relay-story.ts';

const { store, views } = openSqlite(':memory:');
afterEach(() => store.close());

test('news is written whenever it comes while other news is being written', async () => {
  const events = new Events();
  const recovered = (relay: string) => events.emit({ type: 'relay_recovered', relay });
  /** Turns of the loop's jobs from the end of a writing until more news comes; past the last, nothing is under way. */
  const turns = Array.from({ length: 10 }, (_, count) => count);
  let writing: Promise<void> = Promise.resolve();
  const story = new RelayStory({
    store: { tellRelays: (news, at) => (writing = store.tellRelays(news, at)) },
    clock: new ManualClock(),
    events,
    node: 'a',
    fault: (_, error) => expect.unreachable(String(error)),
  });
  for (const count of turns) {
    recovered(`first ${count}`);
    await writing;
    for (let turn = 0; turn < count; turn++) await null;
    recovered(`second ${count}`);
    await story.written();
    const { events: told } = await views.events({ ...EVERY_EVENT, from: { after: 0 }, limit: 100 });
    expect(told.slice(-2).map(({ facts }) => facts.relay)).toEqual([`first ${count}`, `second ${count}`]);
  }
});
