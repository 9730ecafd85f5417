import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from './world.ts';

/** The 404 of a path that is none of ours says which one was meant. */

let world: World;

beforeAll(async () => {
  world = await World.start();
});
afterAll(() => world.close());

test.each([
  ['/api/v1/messages/', 'Did you mean "/api/v1/messages"?'],
  ['/v1/messages', 'Did you mean "/api/v1/messages"?'],
  ['/messages/msg_1/', 'Did you mean "/api/v1/messages/msg_1"?'],
  ['/v1/ready?x=1', 'Did you mean "/api/v1/ready"?'],
  ['/health', 'on port 8443 (webui.port)'],
  ['/metrics', 'on port 8443 (webui.port)'],
])('%s: %s', async (path, hint) => {
  const { status, json } = await world.ask({ path });
  expect([status, json['code']]).toEqual([404, 'not_found']);
  expect(json['detail']).toContain(hint);
});

test.each(['/nope', '/api/v2/messages', '//', '/%ff'])('%s means nothing', async (path) => {
  const { status, json } = await world.ask({ path });
  expect([status, json['detail']]).toEqual([404, 'There is nothing at this path.']);
});
