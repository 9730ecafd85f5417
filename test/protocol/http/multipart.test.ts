import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from './world.ts';

/** A form that is not understood whole is refused whole. */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key();
});
afterAll(() => world.close());

const send = (body: string | Buffer, type = 'multipart/form-data; boundary=b') =>
  world.ask({ method: 'POST', key, body, headers: { 'Content-Type': type } });
test.each([
  ['without a boundary', '', 'multipart/form-data'],
  ['cut off before its end', '--b\r\nContent-Disposition: form-data; name="from"\r\n\r\na@x.test', undefined],
  ['with a part that has no name', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n', undefined],
  ['with a part without a disposition', '--b\r\n\r\nx\r\n--b--\r\n', undefined],
  [
    'with a part of an encoding not taken',
    '--b\r\nContent-Disposition: form-data; name="text"\r\nContent-Transfer-Encoding: base64\r\n\r\nQQ==\r\n--b--\r\n',
    undefined,
  ],
  [
    'with a field that is not UTF-8',
    Buffer.from('--b\r\nContent-Disposition: form-data; name="text"\r\n\r\n\xff\r\n--b--\r\n', 'latin1'),
    undefined,
  ],
])('%s is 400', async (_, body, type) => {
  const before = world.intake.submissions.length;
  const answer = await send(body, type);
  expect([answer.status, answer.headers['content-type']]).toEqual([400, 'application/problem+json']);
  expect(world.intake.submissions).toHaveLength(before);
});
test('more than 5,000 parts are refused', async () => {
  const part = '--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n';
  const big = await World.start({ limits: { maxMessageBytes: 1_000_000 } });
  const body = `${part.repeat(5001)}--b--\r\n`;
  const answer = await big.ask({
    method: 'POST',
    key: await big.key(),
    body,
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
  });
  expect([answer.status, answer.json['code']]).toEqual([400, 'too_many_parts']);
  await big.close();
});
