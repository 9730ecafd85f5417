import { expect, test } from 'vitest';
import { createIdSource, isMessageId, messageIdFloor, messageIdTime } from './id.ts';
import { seededRandom } from './random.ts';

test('ids are well formed, carry their time and increase, also when the clock goes back', () => {
  let now = 1_790_000_000_123;
  const next = createIdSource({ wall: () => now }, seededRandom(1));
  const first = next();
  expect(isMessageId(first)).toBe(true);
  expect(messageIdTime(first)).toBe(now);
  const ids = [first];
  for (let i = 0; i < 5000; i++) {
    if (i === 2000) now -= 60_000;
    if (i === 3000) now += 120_000;
    ids.push(next());
  }
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test('what is no id is told apart', () => {
  for (const text of ['', 'msg_', `msg_${'u'.repeat(26)}`, `MSG_${'0'.repeat(26)}`, `msg_8${'0'.repeat(25)}`])
    expect(isMessageId(text)).toBe(false);
});

test('a time divides the ids: its own and later ones are at or above its floor, earlier ones below', () => {
  const idAt = (ms: number) => createIdSource({ wall: () => ms }, seededRandom(1))();
  const now = 1_790_000_000_123;
  expect(idAt(now) >= messageIdFloor(now)).toBe(true);
  expect(idAt(now - 1) < messageIdFloor(now)).toBe(true);
  expect(idAt(now) < messageIdFloor(now + 0.5)).toBe(true);
  expect(messageIdFloor(-5)).toBe(messageIdFloor(0));
  const last = `msg_7${'z'.repeat(25)}`;
  expect(isMessageId(last) && last < messageIdFloor(Number.MAX_VALUE)).toBe(true);
});
