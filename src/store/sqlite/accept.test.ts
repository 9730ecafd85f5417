import { expect, it } from 'vitest';
import { at, message } from '../../../test/contract/store/fixtures.ts';
import { watched } from '../../../test/support/watched-driver.ts';
import type { AcceptAnswer, AcceptRecord, QueueLimits } from '../accepting.ts';
import { openDatabase } from './open.ts';
import { Writer } from './writer.ts';

it('reads the figures that limit the queue once for a transaction, not for each message', () => {
  const { db, seen } = watched(openDatabase(':memory:'));
  const writer = new Writer(db);
  const limits: QueueLimits = { maxBytes: 1e9, maxMessagesPerKey: 30 };
  const accept = (batch: readonly AcceptRecord[]) => {
    const [answer] = writer.commit([{ verb: 'accept', args: [batch, at(), limits] }]);
    if (answer?.ok !== true) throw answer?.error;
    return (answer.value as AcceptAnswer[]).filter(({ kind }) => kind === 'accepted').length;
  };
  const reads = (table: string) =>
    [...seen.runs].reduce((sum, [sql, count]) => sum + (sql.includes(`FROM ${table}`) ? count : 0), 0);
  const batch = () => Array.from({ length: 40 }, (_, i) => message({ keyId: i % 2 ? 'key_one' : 'key_two' }));
  expect(accept(batch())).toBe(40);
  expect([reads('gauges'), reads('key_queues')]).toEqual([1, 2]);
  expect(accept(batch()), 'read anew in the next transaction').toBe(20);
  expect([reads('gauges'), reads('key_queues')]).toEqual([2, 4]);
  writer.close();
});
