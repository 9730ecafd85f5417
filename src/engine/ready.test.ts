import { expect, test } from 'vitest';
import type { Priority } from '../domain/message.ts';
import type { Unit } from '../store/store.ts';
import { type Job, ReadyQueue } from './ready.ts';

function job(messageId: string, priority: Priority): Job {
  const flags = { eightBit: false, utf8: false, dotStuffing: false };
  const unit: Unit = {
    messageId,
    priority,
    flags,
    lane: 'out',
    fence: 1,
    relay: 'out',
    reversePath: '',
    headerFrom: 'a@example.com',
    keyId: null,
    tags: [],
    ret: null,
    envid: null,
    content: { segment: 1, offset: 0, length: 1 },
    part: null,
    sizeBytes: 1,
    test: false,
    reportable: false,
    createdAt: 0,
    deliveries: [],
  };
  return { unit, content: null };
}

function takeFrom(queue: ReadyQueue, may: (job: Job) => boolean = () => true): Job | undefined {
  const next = queue.next(may);
  if (next) queue.take(next);
  return next;
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
  const taken = () => takeFrom(queue);
  expect(queue.length).toBe(5);
  expect([taken(), taken(), taken()].map((next) => next?.unit.messageId)).toEqual(['h1', 'h2', 'n1']);
  expect(queue.takeAll().map(({ unit }) => unit.messageId)).toEqual(['n2', 'b1']);
  expect([queue.length, taken()]).toEqual([0, undefined]);
});

test('one turn in eight is the lowest priority’s, so that nothing starves', () => {
  const queue = new ReadyQueue();
  for (let n = 0; n < 20; n++) queue.push(job(`h${n}`, 'high'));
  for (let n = 0; n < 2; n++) queue.push(job(`b${n}`, 'bulk'));
  const taken = Array.from({ length: 16 }, () => takeFrom(queue)?.unit.priority);
  expect(taken.flatMap((priority, turn) => (priority === 'bulk' ? [turn] : []))).toEqual([7, 15]);
});

test('what may not go now keeps its place, and others go before it', () => {
  const queue = new ReadyQueue();
  queue.push(job('b', 'bulk'));
  queue.push(job('n', 'normal'));
  const noBulk = ({ unit }: Job) => unit.priority !== 'bulk';
  expect(takeFrom(queue, noBulk)?.unit.messageId).toBe('n');
  expect(takeFrom(queue, noBulk)).toBeUndefined();
  expect(queue.length).toBe(1);
  expect(takeFrom(queue)?.unit.messageId).toBe('b');
});

test('the lowest gets its turn although slots are kept from it, when better mail would take each of them', () => {
  const queue = new ReadyQueue();
  for (let n = 0; n < 20; n++) queue.push(job(`n${n}`, 'normal'));
  queue.push(job('b', 'bulk'));
  const noBulk = ({ unit }: Job) => unit.priority !== 'bulk';
  const taken = Array.from({ length: 10 }, () => takeFrom(queue, noBulk)?.unit.messageId);
  expect(taken.indexOf('b')).toBe(7);
});

test('single better messages between many of the lowest give their slots to none', () => {
  const queue = new ReadyQueue();
  for (let n = 0; n < 200; n++) queue.push(job(`b${n}`, 'bulk'));
  for (let turn = 0; turn < 100; turn++) {
    takeFrom(queue);
    queue.push(job('h', 'high'));
    expect(takeFrom(queue, ({ unit }) => unit.priority === 'high')?.unit.messageId).toBe('h');
  }
});
