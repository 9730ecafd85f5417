/** Outcomes on demand, in virtual time: what becomes of a test key's mail, when, and what is told of it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TEST_OUTCOMES, type TestOutcome } from '../../src/domain/test-outcome.ts';
import { EVERY_EVENT } from '../../src/store/events.ts';
import { StoreError } from '../../src/store/store.ts';
import { MAX_ADDITIONS } from '../../src/store/suppressions.ts';
import { UNFILTERED } from '../../src/store/views.ts';
import { createInboxTransport } from '../../src/transport/inbox/inbox.ts';
import { startNode } from './one-node.ts';
import { MAX_AGE_MS, relayNamed, SETTINGS, submissionNamed } from './scene.ts';

const SECOND = 1000;
const HOUR = 3_600_000;

let node: ReturnType<typeof startNode>;
let sent = 0;
beforeEach(async () => {
  node = startNode();
  node.engine.relays.put({ ...relayNamed('inbox'), type: 'inbox' }, createInboxTransport());
  await node.started;
});
afterEach(() => node.store.close());

/** Hands in a message of a key; what the sender is told. */
async function send(addresses: readonly string[], test = true) {
  const named = submissionNamed(`t${++sent}`, addresses.length);
  const recipients = named.envelope.recipients.map((recipient, place) => {
    return { ...recipient, address: addresses[place] ?? '' };
  });
  const envelope = { ...named.envelope, recipients };
  const facts = { test, keyId: 'k1', keyName: 'shop', stream: 'news' };
  const [answer] = await node.engine.intake.accept([{ ...named, ...facts, envelope, via: 'inbox' }]);
  if (answer?.kind !== 'accepted') throw new Error(`not accepted: ${answer?.kind}`);
  return answer;
}

async function recipientsOf(id: string) {
  return (await node.views.message(id))?.recipients ?? [];
}

/** What is known of a message's recipients besides, in their order. */
async function aftermathOf(id: string) {
  return (await node.views.message(id))?.aftermath ?? [];
}

async function stateOf(id: string) {
  const [first] = await recipientsOf(id);
  return [first?.state, first?.outcome];
}

/** The types of all events, in their order. */
async function story(): Promise<string[]> {
  const page = await node.views.events({ ...EVERY_EVENT, from: { after: 0 }, limit: 100 });
  return page.events.map(({ type }) => type);
}

async function entryOf(address: string) {
  const [entry] = await node.suppressions.suppressionsUnder([address]);
  return entry && [entry.scope, entry.reason, entry.stream];
}

async function inbox(): Promise<number> {
  const page = await node.views.list({
    owner: { keyId: 'k1' },
    statuses: [],
    filter: { ...UNFILTERED, captured: true },
    before: null,
    limit: 100,
  });
  return page.messages.length;
}

describe('what becomes of mail', () => {
  // biome-ignore format: a table
  test.each<[outcome: TestOutcome, ms: number, end: unknown[], told: string[], entry: unknown[] | undefined, inbox: number]>([
    ['delivered',   SECOND,      ['delivered', 'accepted'], ['queued', 'delivered'], undefined, 1],
    ['bounce',      3 * SECOND,  ['failed', 'bounced'],     ['queued', 'delivered', 'bounced', 'added'], ['key:k1', 'hard_bounce', null], 1],
    ['reject',      SECOND,      ['failed', 'rejected'],    ['queued', 'failed'], undefined, 0],
    ['complain',    3 * SECOND,  ['delivered', 'accepted'], ['queued', 'delivered', 'complained', 'added'], ['key:k1', 'complaint', null], 1],
    ['unsubscribe', 3 * SECOND,  ['delivered', 'accepted'], ['queued', 'delivered', 'unsubscribed', 'added'], ['key:k1', 'unsubscribe', 'news'], 1],
    ['defer',       SECOND,      ['delivered', 'accepted'], ['queued', 'deferred', 'delivered'], undefined, 1],
    ['slow',        32 * SECOND, ['delivered', 'accepted'], ['queued', 'delivered'], undefined, 1],
    ['suppressed',  SECOND,      ['failed', 'suppressed'],  ['added', 'queued', 'suppressed'], ['key:k1', 'hard_bounce', null], 0],
  ])('%s', async (outcome, ms, end, told, entry, count) => {
    const address = `${outcome}+1@shop.test`;
    const { id, suppressed } = await send([address]);
    await node.run(ms);
    expect(await stateOf(id)).toEqual(end);
    const types = (await story()).map((type) => type.slice(type.indexOf('.') + 1));
    expect(types.toSorted()).toEqual(told.toSorted());
    expect(await entryOf(address)).toEqual(entry);
    expect(await inbox()).toBe(count);
    expect(suppressed).toEqual(outcome === 'suppressed' ? [{ address, reason: 'hard_bounce' }] : undefined);
    await node.run(HOUR);
    expect(await stateOf(id), 'nothing follows').toEqual(end);
    expect(await story()).toHaveLength(told.length);
  });

  test('a bounce comes a second after the delivery, and not before', async () => {
    const { id } = await send(['bounce@shop.test']);
    await node.run(SECOND / 2);
    expect(await stateOf(id)).toEqual(['delivered', 'accepted']);
    await node.run(2 * SECOND);
    expect(await stateOf(id)).toEqual(['failed', 'bounced']);
    // Its address is suppressed now, as everywhere; another one is not.
    const [again, other] = [await send(['bounce@shop.test']), await send(['bounce+2@shop.test'])];
    expect([again, other].map(({ suppressed }) => suppressed?.length ?? 0)).toEqual([1, 0]);
  });

  test('a full mailbox is tried a sixtieth of the time, and then expires', async () => {
    const { id } = await send(['soft@shop.test']);
    await node.run(MAX_AGE_MS / 60 - SECOND);
    expect(await stateOf(id)).toEqual(['retrying', null]);
    expect(await story()).toContain('message.deferred');
    await node.run(SETTINGS.retry.maxMs / 60 + 2 * SECOND);
    expect(await stateOf(id)).toEqual(['failed', 'expired']);
    const [failure] = await aftermathOf(id);
    expect(failure?.bounce).toMatchObject({ type: 'soft', code: 452 });
    expect((await story()).at(-1)).toBe('message.failed');
    expect(await inbox()).toBe(0);
  });

  test('what is slow has not begun for half a minute, and keeps nobody else waiting', async () => {
    const { id } = await send(['slow@shop.test', 'ann@shop.test']);
    await node.run(29 * SECOND);
    expect((await recipientsOf(id)).map(({ outcome }) => outcome)).toEqual([null, 'captured']);
    await node.run(3 * SECOND);
    expect((await recipientsOf(id)).map(({ outcome }) => outcome)).toEqual(['accepted', 'captured']);
  });

  test('of several recipients each gets what it asks for, and the message is in the inbox', async () => {
    const { id } = await send(['reject@shop.test', 'ann@shop.test', 'bounce@shop.test']);
    await node.run(3 * SECOND);
    expect((await recipientsOf(id)).map(({ outcome }) => outcome)).toEqual([
      'rejected',
      'captured',
      'bounced',
    ]);
    expect(await inbox()).toBe(1);
  });
});

test('nobody else’s mail is played with', async () => {
  const all = TEST_OUTCOMES.map((outcome) => `${outcome}@shop.test`);
  const { id } = await send(all, false);
  await node.run(HOUR);
  expect((await recipientsOf(id)).map(({ outcome }) => outcome)).toEqual(all.map(() => 'captured'));
  expect(await story()).toEqual(['message.queued', ...all.map(() => 'message.captured')]);
});

test('however many bounces are played, no guard keeps them from suppressing', async () => {
  const addresses = Array.from({ length: 120 }, (_, place) => `bounce+${place}@shop.test`);
  for (const address of addresses) await send([address]);
  await node.run(5 * SECOND);
  for (const address of addresses) expect(await entryOf(address), address).toBeDefined();
});

/** Submissions of a test key to these addresses, one each. */
function submissionsTo(addresses: readonly string[]) {
  return addresses.map((address) => {
    const named = submissionNamed(`t${++sent}`, 1);
    const recipients = named.envelope.recipients.map((recipient) => ({ ...recipient, address }));
    const facts = { test: true, keyId: 'k1', keyName: 'shop', stream: 'news', via: 'inbox' };
    return { ...named, ...facts, envelope: { ...named.envelope, recipients } };
  });
}

test('where the list cannot be written, only mail that asks to be suppressed waits', async () => {
  const { intake } = node.engine;
  node.suppressions.addSuppressions = () => Promise.reject(new StoreError('store_busy', 'busy'));
  const both = submissionsTo(['suppressed@shop.test', 'ann@shop.test']);
  const kinds = (await intake.accept(both)).map(({ kind }) => kind);
  expect(kinds).toEqual(['suspended', 'accepted']);
  expect(intake.suspended('k1')).toBeNull();
  expect((await intake.accept(both, true)).map(({ kind }) => kind)).toEqual(['suspended', 'suspended']);
});

test('what there is no room for leaves no entry', async () => {
  await node.store.close();
  node = startNode(() => ({ ...SETTINGS, queue: { maxBytes: 1, maxMessagesPerKey: 1 } }));
  node.engine.relays.put({ ...relayNamed('inbox'), type: 'inbox' }, createInboxTransport());
  await node.started;
  const [answer] = await node.engine.intake.accept(submissionsTo(['suppressed@shop.test']));
  expect(answer?.kind).toBe('suspended');
  expect(await entryOf('suppressed@shop.test')).toBeUndefined();
});

test('a message has as many recipients that ask to be suppressed as it may', async () => {
  let most = 0;
  const { addSuppressions } = node.suppressions;
  node.suppressions.addSuppressions = (entries, rules) => {
    most = Math.max(most, entries.length);
    return addSuppressions.call(node.suppressions, entries, rules);
  };
  const addresses = Array.from({ length: MAX_ADDITIONS + 1 }, (_, place) => `suppressed+${place}@shop.test`);
  const { suppressed } = await send(addresses);
  expect(suppressed).toHaveLength(addresses.length);
  expect(most).toBe(MAX_ADDITIONS);
});
