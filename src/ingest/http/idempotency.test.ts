import { expect, test } from 'vitest';
import { InProgress } from './idempotency.ts';

test('beyond the bound the next one goes on, unguarded', async () => {
  const inProgress = new InProgress({ max: 1 });
  const gate = Promise.withResolvers<string>();
  const first = inProgress.alone('a', 'one', () => gate.promise);
  expect(await inProgress.alone('a', 'two', async () => 'went on')).toBe('went on');
  await expect(inProgress.alone('a', 'one', async () => 'raced')).rejects.toMatchObject({
    status: 409,
    code: 'idempotency_in_progress',
  });
  gate.resolve('done');
  expect(await first).toBe('done');
  expect(await inProgress.alone('a', 'one', async () => 'again')).toBe('again');
});
