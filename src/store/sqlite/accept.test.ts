import { expect, it } from 'vitest';
import { at, message } from '../../../test/contract/store/fixtures.ts';
import type { AcceptAnswer, AcceptRecord, QueueLimits } from '../accepting.ts';
import type { Driver, SqlValue } from './driver.ts';
import { openDatabase } from './open.ts';
import { Writer } from './writer.ts';

/** The driver, counting how often each statement is asked for a row. */
function counted(db: Driver) {
  const gets = new Map<string, number>();
  const prepare = <P extends readonly SqlValue[], R extends readonly SqlValue[]>(sql: string) => {
    const statement = db.prepare<P, R>(sql);
    const get = (...params: P) => {
      gets.set(sql, (gets.get(sql) ?? 0) + 1);
      return statement.get(...params);
    };
    return { get, run: statement.run.bind(statement), all: statement.all.bind(statement) };
  };
  return { gets, db: { ...db, prepare } as Driver };
}

it('reads the figures that limit the queue once for a transaction, not for each message', () => {
  const { db, gets } = counted(openDatabase(':memory:'));
  const writer = new Writer(db);
  const limits: QueueLimits = { maxBytes: 1e9, maxMessagesPerKey: 30 };
  const accept = (batch: readonly AcceptRecord[]) => {
    const [answer] = writer.commit([{ verb: 'accept', args: [batch, at(), limits] }]);
    if (answer?.ok !== true) throw answer?.error;
    return (answer.value as AcceptAnswer[]).filter(({ kind }) => kind === 'accepted').length;
  };
  const reads = (table: string) =>
    [...gets].reduce((sum, [sql, count]) => sum + (sql.includes(`FROM ${table}`) ? count : 0), 0);
  const batch = () => Array.from({ length: 40 }, (_, i) => message({ keyId: i % 2 ? 'key_one' : 'key_two' }));
  expect(accept(batch())).toBe(40);
  expect([reads('gauges'), reads('key_queues')]).toEqual([1, 2]);
  expect(accept(batch()), 'read anew in the next transaction').toBe(20);
  expect([reads('gauges'), reads('key_queues')]).toEqual([2, 4]);
  writer.close();
});
