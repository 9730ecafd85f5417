import { expect, test } from 'vitest';
import { messageUuid } from '../../lib/id.ts';
import type { ListQuery } from '../../store/views.ts';
import { namedId } from './find-message.ts';

test('a Message-ID that cannot be told from a million others is refused, not said to be unknown', async () => {
  const asked: ListQuery[] = [];
  const list = async (query: ListQuery) => {
    asked.push(query);
    return { messages: [], next: `msg_${asked.length}` };
  };
  const found = namedId('<order.1@shop.example>', { keyId: 'mine' }, { list });
  await expect(found).rejects.toMatchObject({ status: 409, code: 'refused' });
  expect(asked.map(({ before }) => before).slice(0, 3)).toEqual([null, 'msg_1', 'msg_2']);
  expect(asked).toHaveLength(50);
});

test('an id names itself, also as a UUID, and nothing is searched for it', async () => {
  const list = () => Promise.reject(new Error('searched'));
  const id = 'msg_01k9zzzzzzabcdefghjkmnpqrs';
  expect(await namedId(id, 'all', { list })).toBe(id);
  expect(await namedId(messageUuid(id).toUpperCase(), 'all', { list })).toBe(id);
  expect(await namedId('019a7fff-ffff-5a96', 'all', { list })).toBeNull();
});
