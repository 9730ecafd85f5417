import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from './world.ts';

/** `GET /api/v1/routes/explain`: which relay mail would go by, and why. */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ scopes: ['admin'] });
});
afterAll(() => world.close());

const explain = (query: string, as = key) => world.ask({ path: `/api/v1/routes/explain?${query}`, key: as });

test('mail is described by its envelope, and explained', async () => {
  const answer = await explain('from=Ann@Example.com&to=bob@example.org&at=2026-11-20T22:30:00%2B01:00');
  expect([answer.status, answer.json]).toEqual([
    200,
    {
      from: 'Ann@example.com',
      to: 'bob@example.org',
      at: '2026-11-20T21:30:00.000Z',
      tableVersion: 0,
      rules: [],
      rule: null,
      weighted: false,
      group: [{ relay: 'out', fitness: 'usable' }],
      relay: 'out',
    },
  ]);
});

test('what rules look at is handed on as it was given', async () => {
  const more = 'tag=news&tag=big&source=printer&sourceAddress=192.0.2.7&sizeBytes=5000';
  expect((await explain(`from=<>&to=bob@example.org&${more}`)).status).toBe(200);
  expect(world.intake.explained).toEqual({
    recipient: 'bob@example.org',
    reversePath: '',
    tags: ['news', 'big'],
    keyId: 'source:printer',
    keyName: null,
    sourceAddress: '192.0.2.7',
    sizeBytes: 5000,
    now: world.clock.wall(),
    test: false,
  });
  await explain('from=<>&to=bob@example.org&key=shop');
  expect(world.intake.explained).toMatchObject({ keyId: null, keyName: 'shop', sizeBytes: 0 });
});

test.each([
  ['', ['/from required', '/to required']],
  ['from=ann&to=b@c.de', ['/from address_syntax']],
  ['from=<>&to=<>', ['/to address_syntax']],
  ['from=<>&to=Bob%20<b@c.de>', ['/to address_syntax']],
  ['from=<>&to=b@c.de&tag=', ['/tag tag']],
  ['from=<>&to=b@c.de&sourceAddress=10.0.0.0/8', ['/sourceAddress address_syntax']],
  ['from=<>&to=b@c.de&sizeBytes=-1', ['/sizeBytes out_of_range']],
  ['from=<>&to=b@c.de&at=yesterday', ['/at timestamp']],
  ['from=<>&to=b@c.de&relay=out', ['/relay unknown_parameter']],
])('%j is refused by name', async (query, faults) => {
  const { status, json } = await explain(query);
  expect([status, json.errors?.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([400, faults]);
});

test('it tells how relays do, and so asks for the scope admin', async () => {
  const { status, json } = await explain('from=<>&to=b@c.de', await world.key());
  expect([status, json['code']]).toEqual([403, 'scope_missing']);
});
