import { expect, test } from 'vitest';
import { accept, startNode } from './one-node.ts';

const HOUR = 3_600_000;

test('after the wall clock went back an hour, new mail does not wait for it to catch up', async () => {
  const { life, hop, engine, started, run } = startNode();
  await started;
  await run(2_000);
  await accept(engine, 'before');
  await run(5_000);
  life.jump(-HOUR);
  await accept(engine, 'after');
  await run(10_000);
  expect([...hop.taken.keys()]).toEqual(['before r0@example.net', 'after r0@example.net']);
});

test('a wall clock that jumps forward during an attempt ends no lease of ours', async () => {
  const { life, hop, engine, views, started, run } = startNode();
  await started;
  // The sweep takes leases back every 5 s: the attempt is under way when it comes.
  await run(4_900);
  const id = await accept(engine, 'during');
  await run(20);
  life.jump(HOUR / 2 - 60_000);
  await run(30_000);
  expect([...hop.taken.values()]).toEqual([1]);
  const detail = await views.message(id);
  expect(detail?.message).toMatchObject({ status: 'delivered', possibleDuplicate: false, attempts: 1 });
});
