import { expect, test } from 'vitest';
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
