import { expect, test } from 'vitest';
import type { Priority } from '../domain/message.ts';
import type { Unit } from '../store/store.ts';
import { type Job, ReadyQueue } from './ready.ts';

function job(messageId: string, priority: Priority): Job {
  const flags = { eightBit: false, utf8: false, dotStuffing: false };
  const unit: Unit = {
    ...{
      messageId,
      priority,
      flags,
      lane: 'out',
      fence: 1,
      relay: 'out',
      reversePath: '',
      ret: null,
      envid: null,
    },
    ...{
      content: { segment: 1, offset: 0, length: 1 },
      sizeBytes: 1,
      test: false,
      reportable: false,
      createdAt: 0,
      deliveries: [],
    },
  };
  return { unit, content: null };
}

test('the jobs of one message are taken out, and nothing else', () => {
  const queue = new ReadyQueue();
  for (const id of ['a', 'b', 'a', 'c'])
    for (const priority of ['normal', 'high'] as const) queue.push(job(id, priority));
  expect(queue.takeOf('a').map(({ unit }) => unit.priority)).toEqual(['high', 'high', 'normal', 'normal']);
  expect(queue.takeOf('a')).toEqual([]);
  expect(queue.length).toBe(4);
  expect(queue.takeAll().map(({ unit }) => unit.messageId)).toEqual(['b', 'c', 'b', 'c']);
});

test('high goes before normal before bulk, first come within each', () => {
  const queue = new ReadyQueue();
  for (const [id, priority] of [
    ['b1', 'bulk'],
    ['n1', 'normal'],
    ['h1', 'high'],
    ['n2', 'normal'],
    ['h2', 'high'],
  ] as const)
    queue.push(job(id, priority));
  expect(queue.length).toBe(5);
  expect([queue.shift(), queue.shift(), queue.shift()].map((next) => next?.unit.messageId)).toEqual([
    'h1',
    'h2',
    'n1',
  ]);
  expect(queue.takeAll().map(({ unit }) => unit.messageId)).toEqual(['n2', 'b1']);
  expect([queue.length, queue.shift()]).toEqual([0, undefined]);
});
