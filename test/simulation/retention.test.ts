import { expect, test } from 'vitest';
import { accept, startNode } from './one-node.ts';

const DAY = 86_400_000;

test('contents go a week after the end, records after three months, and what has not ended stays', async () => {
  const { life, engine, views, spool, started, run } = startNode();
  await started;
  await run(2_000);
  const sent = await accept(engine, 'sent');
  const waiting = await accept(engine, 'waiting', life.wall() + 200 * DAY);
  await run(5_000);
  expect(await spool.idle()).toHaveLength(2);

  life.jump(6 * DAY);
  await run(70_000);
  expect((await views.message(sent))?.message.content, 'after six days').not.toBeNull();

  life.jump(2 * DAY);
  await run(70_000);
  expect((await views.message(sent))?.message, 'after eight days').toMatchObject({
    status: 'delivered',
    content: null,
  });
  expect(await spool.idle()).toHaveLength(1);

  life.jump(90 * DAY);
  await run(70_000);
  expect(await views.message(sent), 'after ninety-eight days').toBeNull();
  const left = await views.message(waiting);
  expect(left?.message.status).toBe('queued');
  expect(left?.message.content).not.toBeNull();
  expect(await spool.idle()).toHaveLength(1);
});
