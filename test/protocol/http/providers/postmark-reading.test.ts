import fc from 'fast-check';
import { Models, type ServerClient } from 'postmark';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMessageId } from '../../../../src/lib/id.ts';
import { Teller, told } from '../../../contract/store/told.ts';
import { attempt, DEFERRED, DELIVERED, REJECTED } from '../deliver.ts';
import { World } from '../world.ts';
import { clientOf, EMAIL, thrown } from './postmark-sdk.ts';

/** Applications that look after their mail with Postmark's API, through its own unchanged SDK (contract-2 §C3). */

let world: World;
let postmark: ServerClient;

beforeAll(async () => {
  world = await World.start();
  postmark = await newClient('shop', ['suppressions:read', 'suppressions:write', 'messages:content']);
});
afterAll(() => world.close());

const clientWith = (secret: string) => clientOf(world, secret, '/postmark');

/** A client with a key of this name, which may do this besides sending and reading. */
async function newClient(
  id: string,
  more: readonly ('suppressions:read' | 'suppressions:write' | 'messages:content')[] = [],
) {
  return clientWith(await world.key({ id, scopes: ['messages:send', 'messages:read', ...more] }));
}

/** The status and the code of what the SDK throws. */
const refused = async (work: Promise<unknown>) => {
  const { statusCode, code } = await thrown(work);
  return [statusCode, code];
};

describe('messages', () => {
  test('are listed by offset, the newest first, with what was asked for', async () => {
    const own = await newClient('lister');
    const ids: string[] = [];
    for (const [place, Tag] of ['a', 'b', 'a'].entries())
      ids.unshift((await own.sendEmail({ ...EMAIL, Tag, Subject: `No. ${place}` })).MessageID);
    const list = async (filter: Models.OutboundMessagesFilteringParameters) => {
      const { TotalCount, Messages } = await own.getOutboundMessages(filter);
      return [TotalCount, Messages.map(({ MessageID }) => MessageID)];
    };
    expect(await list({})).toEqual([3, ids]);
    expect(await list({ count: 2 })).toEqual([3, ids.slice(0, 2)]);
    expect(await list({ count: 1, offset: 1 })).toEqual([3, [ids[1]]]);
    expect(await list({ tag: 'a' })).toEqual([2, [ids[0], ids[2]]]);
    expect(await list({ subject: 'no. 1' })).toEqual([1, [ids[1]]]);
    expect(await list({ recipient: 'bob@example.org', fromEmail: 'jane@example.com' })).toEqual([3, ids]);
    expect(await list({ recipient: 'eve@example.org' })).toEqual([0, []]);
    expect(await list({ status: Models.OutboundMessageStatus.Queued })).toEqual([3, ids]);
    expect(await list({ status: Models.OutboundMessageStatus.Sent })).toEqual([0, []]);
    const dayIn = (ms: number) => new Date(world.clock.wall() + ms).toISOString().slice(0, 10);
    const [today, tomorrow] = [dayIn(0), dayIn(86_400_000)];
    expect(await list({ fromDate: today, toDate: today, messageStream: 'outbound' })).toEqual([3, ids]);
    expect(await list({ fromDate: `${tomorrow}T00:00:00` })).toEqual([0, []]);
  });

  test('are shown with what they are', async () => {
    const { MessageID } = await postmark.sendEmail({
      ...EMAIL,
      To: '"Doe, Bob" <bob@example.org>',
      Bcc: 'bcc@example.org',
      HtmlBody: '<p>Hi.</p>',
      Tag: 'receipt',
      Metadata: { order: '4711' },
    });
    expect(await postmark.getOutboundMessageDetails(MessageID)).toMatchObject({
      MessageID,
      To: [{ Email: 'bob@example.org', Name: '' }],
      Cc: [],
      Bcc: [{ Email: 'bcc@example.org', Name: '' }],
      Recipients: ['bob@example.org', 'bcc@example.org'],
      ReceivedAt: new Date(world.clock.wall()).toISOString(),
      From: 'Jane <jane@example.com>',
      Subject: 'Hello',
      Tag: 'receipt',
      Status: 'Queued',
      Metadata: { order: '4711' },
      MessageStream: 'outbound',
      TextBody: expect.stringContaining('Hi.'),
      HtmlBody: expect.stringContaining('<p>Hi.</p>'),
      MessageEvents: [],
    });
  });

  test('are shown without their contents to a key that may not see them, and not to others', async () => {
    const own = await newClient('plain');
    const { MessageID } = await own.sendEmail(EMAIL);
    expect(await own.getOutboundMessageDetails(MessageID)).toMatchObject({ TextBody: null, HtmlBody: null });
    expect(await refused(postmark.getOutboundMessageDetails(MessageID))).toEqual([404, 701]);
    expect(await refused(postmark.getOutboundMessageDetails('none'))).toEqual([404, 701]);
  });

  test('tell what happened to them', async () => {
    const ids: string[] = [];
    for (const outcome of [DEFERRED, DELIVERED, REJECTED]) {
      ids.push((await postmark.sendEmail({ ...EMAIL, To: `${outcome.kind}@example.org` })).MessageID);
      await attempt(world, outcome);
    }
    const told = await Promise.all(
      ids.map(async (id) => {
        const { MessageEvents, Status } = await postmark.getOutboundMessageDetails(id);
        return [Status, ...MessageEvents.map(({ Type, Recipient }) => `${Type} ${Recipient}`)];
      }),
    );
    expect(told).toEqual([
      ['Queued', 'Transient deferred@example.org'],
      ['Sent', 'Delivered delivered@example.org'],
      ['Processed', 'Bounced rejected@example.org'],
    ]);
  });
});

describe('bounces', () => {
  /** Sends to an address that does not exist. */
  async function bounced(own: ServerClient, To: string) {
    const { MessageID } = await own.sendEmail({ ...EMAIL, To, Tag: 'news' });
    await attempt(world, REJECTED);
    return MessageID;
  }

  test('are listed, shown, and counted', async () => {
    const own = await newClient('bouncer');
    const ids = [await bounced(own, 'one@example.net'), await bounced(own, 'two@example.net')];
    const { TotalCount, Bounces } = await own.getBounces();
    expect([TotalCount, Bounces.map(({ MessageID }) => MessageID)]).toEqual([2, ids.toReversed()]);
    const [newest] = Bounces;
    expect(newest).toMatchObject({
      RecordType: 'Bounce',
      Type: 'HardBounce',
      TypeCode: 1,
      Tag: 'news',
      Email: 'two@example.net',
      From: 'Jane <jane@example.com>',
      Subject: 'Hello',
      Details: expect.stringContaining('No such user'),
    });
    expect(await own.getBounce(newest?.ID ?? 0)).toEqual(newest);
    const details = await own.getOutboundMessageDetails(ids[1] ?? '');
    expect(details.MessageEvents[0]?.Details).toMatchObject({ BounceID: String(newest?.ID) });
    const count = async (filter: Models.BounceFilteringParameters) =>
      (await own.getBounces(filter)).Bounces.length;
    expect(await count({ count: 1 })).toBe(1);
    expect(await count({ offset: 1 })).toBe(1);
    expect(await count({ type: Models.BounceType.HardBounce, tag: 'news' })).toBe(2);
    expect(await count({ type: Models.BounceType.SpamComplaint })).toBe(0);
    expect(await count({ emailFilter: 'ONE@' })).toBe(1);
    expect(await count({ messageID: ids[0] ?? '' })).toBe(1);
    expect(await own.getDeliveryStatistics()).toMatchObject({
      Bounces: [
        { Name: 'All', Count: 2 },
        { Name: 'Hard bounce', Count: 2, Type: 'HardBounce' },
      ],
    });
  });

  test('are nobody else’s, and there are no others', async () => {
    const { Bounces } = await (await newClient('other')).getBounces();
    expect(Bounces).toEqual([]);
    const [some] = (
      await newClient('other2').then((own) => bounced(own, 'x@example.net').then(() => own.getBounces()))
    ).Bounces;
    expect(await refused(postmark.getBounce(some?.ID ?? 0))).toEqual([404, 407]);
    expect(await refused(postmark.getBounce(0))).toEqual([404, 407]);
  });

  test('can be activated: their address gets mail again', async () => {
    await bounced(postmark, 'back@example.net');
    await postmark.createSuppressions('outbound', { Suppressions: [{ EmailAddress: 'back@example.net' }] });
    const [bounce] = (await postmark.getBounces({ emailFilter: 'back@example.net' })).Bounces;
    expect([bounce?.Inactive, bounce?.CanActivate]).toEqual([true, true]);
    expect((await postmark.getBounces({ inactive: true })).Bounces).toHaveLength(1);
    expect((await postmark.getDeliveryStatistics()).InactiveMails).toBe(1);
    const { Message, Bounce } = await postmark.activateBounce(bounce?.ID ?? 0);
    expect([Message, Bounce.Inactive, Bounce.CanActivate]).toEqual(['OK', false, false]);
    await postmark.sendEmail({ ...EMAIL, To: 'back@example.net' });
  });
});

test('a bounce whose entry is not the key’s is activated by an administrator', async () => {
  const boss = clientWith(
    await world.key({ id: 'chief', scopes: ['admin', 'messages:read', 'messages:read_all'] }),
  );
  await postmark.sendEmail({ ...EMAIL, To: 'wide@example.net' });
  await attempt(world, REJECTED);
  await boss.createSuppressions('outbound', { Suppressions: [{ EmailAddress: 'wide@example.net' }] });
  const [bounce] = (await postmark.getBounces({ emailFilter: 'wide@' })).Bounces;
  expect(await refused(postmark.activateBounce(bounce?.ID ?? 0))).toEqual([403, 10]);
  expect((await boss.activateBounce(bounce?.ID ?? 0)).Bounce.Inactive).toBe(false);
});

describe('complaints', () => {
  test('are bounces whose address stays inactive', async () => {
    const own = await newClient('spammer', ['suppressions:read', 'suppressions:write']);
    const { MessageID } = await own.sendEmail({ ...EMAIL, To: 'angry@example.net' });
    await attempt(world, DELIVERED);
    const id = readMessageId(MessageID) ?? '';
    const at = { node: 'test', now: world.clock.wall() };
    await new Teller(() => world.stores).tell([told(id, 'complaint'), told(id, 'unsubscribe')], {}, at);
    const [bounce] = (await own.getBounces({ type: Models.BounceType.SpamComplaint })).Bounces;
    expect(bounce).toMatchObject({
      TypeCode: 100_001,
      Email: 'angry@example.net',
      Inactive: true,
      CanActivate: false,
    });
    expect(await refused(own.activateBounce(bounce?.ID ?? 0))).toEqual([422, 300]);
    const { MessageEvents } = await own.getOutboundMessageDetails(MessageID);
    expect(MessageEvents.map(({ Type, Details }) => [Type, Reflect.get(Details, 'Origin')])).toEqual([
      ['Delivered', undefined],
      ['SubscriptionChanged', 'Recipient'],
      ['SubscriptionChanged', 'Recipient'],
    ]);
    const suppressions = { Suppressions: [{ EmailAddress: 'angry@example.net' }] };
    const [kept] = (await own.deleteSuppressions('outbound', suppressions)).Suppressions;
    expect(kept?.Status).toBe('Failed');
  });
});

describe('suppressions', () => {
  const addressesOf = async (own: ServerClient, filter?: Models.SuppressionFilteringParameters) =>
    (await own.getSuppressions('outbound', filter)).Suppressions.map(({ EmailAddress }) => EmailAddress);

  test('are added, dumped and deleted, each by itself', async () => {
    const own = await newClient('lists', ['suppressions:read', 'suppressions:write']);
    expect(await addressesOf(own)).toEqual([]);
    const added = await own.createSuppressions('outbound', {
      Suppressions: [
        { EmailAddress: 'Ann@Example.org' },
        { EmailAddress: 'nobody' },
        { EmailAddress: '*@example.org' },
      ],
    });
    expect(added.Suppressions).toMatchObject([
      { EmailAddress: 'Ann@Example.org', Status: 'Suppressed', Message: null },
      { EmailAddress: 'nobody', Status: 'Failed', Message: expect.any(String) },
      { EmailAddress: '*@example.org', Status: 'Suppressed' },
    ]);
    await own.createSuppressions('broadcast', { Suppressions: [{ EmailAddress: 'eve@example.org' }] });
    expect((await own.getSuppressions('outbound')).Suppressions).toMatchObject([
      { EmailAddress: 'eve@example.org' },
      { EmailAddress: '"*"@example.org' },
      {
        EmailAddress: 'ann@example.org',
        SuppressionReason: 'ManualSuppression',
        Origin: 'Customer',
        CreatedAt: new Date(world.clock.wall()).toISOString(),
      },
    ]);
    expect(await refused(own.sendEmail({ ...EMAIL, To: 'ann@example.org' }))).toEqual([422, 406]);
    const removed = await own.deleteSuppressions('outbound', {
      Suppressions: [{ EmailAddress: 'ann@example.org' }, { EmailAddress: 'never@example.org' }],
    });
    expect(removed.Suppressions.map(({ Status }) => Status)).toEqual(['Deleted', 'Deleted']);
    expect(await addressesOf(own)).toEqual(['eve@example.org', '"*"@example.org']);
  });

  test('are dumped whole, and as asked for', async () => {
    const own = await newClient('many', ['suppressions:read', 'suppressions:write']);
    for (let from = 0; from < 250; from += 50)
      await own.createSuppressions('outbound', {
        Suppressions: Array.from({ length: 50 }, (_, place) => ({
          EmailAddress: `a${from + place}@example.org`,
        })),
      });
    const all = await addressesOf(own);
    expect([all.length, all[0]]).toEqual([250, 'a249@example.org']);
    expect(await addressesOf(own, { emailAddress: 'a7@example.org' })).toEqual(['a7@example.org']);
    const { SuppressionReason, SuppressionOrigin } = Models;
    expect(await addressesOf(own, { suppressionReason: SuppressionReason.HardBounce })).toEqual([]);
    expect(await addressesOf(own, { origin: SuppressionOrigin.Customer })).toHaveLength(250);
    expect(await addressesOf(own, { toDate: '2020-01-01' })).toEqual([]);
  });

  test('that a key may not change stay, and it says so', async () => {
    const admin = await world.key({ id: 'boss', scopes: ['admin'] });
    await clientWith(admin).createSuppressions('outbound', {
      Suppressions: [{ EmailAddress: 'all@example.org' }],
    });
    const { Suppressions } = await postmark.deleteSuppressions('outbound', {
      Suppressions: [{ EmailAddress: 'all@example.org' }],
    });
    expect(Suppressions).toMatchObject([
      { Status: 'Failed', Message: expect.stringContaining('all@example.org') },
    ]);
  });

  test('of more than 50 addresses are refused, and without the scope', async () => {
    const many = Array.from({ length: 51 }, (_, place) => ({ EmailAddress: `b${place}@example.org` }));
    expect(await refused(postmark.createSuppressions('outbound', { Suppressions: many }))).toEqual([
      422, 300,
    ]);
    const plain = await newClient('poor');
    expect(await refused(plain.getSuppressions('outbound'))).toEqual([403, 10]);
    expect(await refused(plain.deleteSuppressions('outbound', { Suppressions: [] }))).toEqual([403, 10]);
  });
});

test('any query is answered in Postmark’s shape', async () => {
  const secret = await world.key({ id: 'asker', scopes: ['messages:read', 'suppressions:read'] });
  const name = fc.constantFrom(
    'count',
    'offset',
    'Status',
    'fromdate',
    'type',
    'inactive',
    'messageID',
    'origin',
  );
  const paths = fc.constantFrom('/messages/outbound', '/bounces', '/message-streams/x/suppressions/dump');
  const query = fc.dictionary(name, fc.oneof(fc.string(), fc.nat().map(String)));
  await fc.assert(
    fc.asyncProperty(paths, query, async (path, values) => {
      const { status, json } = await world.ask({
        path: `${path}?${new URLSearchParams(values)}`,
        headers: { 'X-Postmark-Server-Token': secret },
      });
      expect(status).toBeLessThan(500);
      if (status !== 200)
        expect(json).toEqual({ ErrorCode: expect.any(Number), Message: expect.any(String) });
    }),
    { numRuns: 100 },
  );
});
