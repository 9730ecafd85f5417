import { expect, it } from 'vitest';
import { createIdSource, isMessageId } from '../../../../src/lib/id.ts';
import { idAfter } from './steady-list.ts';

it('is the least id above a given one', () => {
  expect(idAfter('msg_01abc')).toBe('msg_01abd');
  expect(idAfter('msg_01abz')).toBe('msg_01ac0');
  expect(idAfter('msg_019zz')).toBe('msg_01a00');
});

it('is an id, and stands between those that follow each other', () => {
  let byte = 0;
  const next = createIdSource({ wall: () => 1_795_000_000_000 }, {
    fill: (bytes: Uint8Array) => bytes.fill(byte++),
    next: () => 0,
  } as never);
  const [first, second] = [next(), next()];
  const after = idAfter(first) ?? '';
  expect(isMessageId(after)).toBe(true);
  expect(after > first && after <= second).toBe(true);
});

it('does not exist for what is no id', () => {
  expect(idAfter('')).toBeNull();
  expect(idAfter('zzz')).toBeNull();
  expect(idAfter('msg_!')).toBeNull();
});
