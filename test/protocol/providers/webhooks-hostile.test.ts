import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebhookRoom } from '../../../src/engine/webhooks.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import { Events } from '../../../src/observe/events.ts';
import { openSqlite, type SqliteStores } from '../../../src/store/sqlite/open.ts';
import { createWebhookPost } from '../../../src/transport/providers/webhook-post.ts';
import { at, message } from '../../contract/store/fixtures.ts';
import { HANGING, HOSTILE, type Hostile } from '../../peers/hostile-endpoints.ts';
import { endReceivers, post, receiver, SECRET } from '../../peers/webhook-receiver.ts';
import { storedEndpoint } from '../../support/webhooks.ts';

/** What hostile endpoints cost: themselves alone (contract-2 §B3). The room and what posts are the real ones. */

const LIMITS = { ofKey: 100, all: 200 };
const MESSAGES = 30;
/** A healthy endpoint is told within this, while others hang for the 20 s that a try may take: nothing waits for them. */
const SOON_MS = 15_000;
/** What hangs is cut off after this, where nothing else is looked at. */
const CUT_MS = 500;
const MOST_MEMORY = 150 * 1024 * 1024;

/** What a try says of those that do not just fail. Where their answer comes before they have the request, it is none. */
const TOLD: Readonly<Record<string, readonly (number | null)[]>> = {
  'sends a body without end': [200],
  'sends the extension of a chunk without end': [200, null],
  'sends trailers without end': [200, null],
  'redirects into the network': [307],
};
const KINDS = Object.keys(HOSTILE);

let stores: SqliteStores;
let room: WebhookRoom;
let stopping: AbortController;
let running: Promise<void>;
let told: string[];
let onTold: () => void;
let hostile: Hostile[];

beforeEach(() => {
  stores = openSqlite(':memory:');
  told = [];
  onTold = () => {};
  hostile = [];
  const postWebhook = createWebhookPost({
    clock: systemClock,
    version: '1.2.3',
    secretsOf: () => [SECRET],
    mayBePrivate: () => true,
  });
  room = new WebhookRoom({
    ...stores,
    clock: systemClock,
    random: seededRandom(4),
    events: new Events(),
    membership: { isFirst: true },
    post: postWebhook,
    lookMs: 50,
    fault: (code, error) => expect.unreachable(`${code} ${String(error)}`),
  });
  stopping = new AbortController();
  running = room.run(stopping.signal);
});
afterEach(async () => {
  stopping.abort();
  room.wake();
  await running;
  await stores.store.close();
  for (const one of hostile) await one.close();
  await endReceivers();
});

async function endpoint(url: string): Promise<string> {
  const stored = storedEndpoint({ url });
  await stores.webhooks.addWebhookEndpoint(stored, LIMITS);
  return stored.endpoint.id;
}
/** Starts a hostile one; its URL. */
async function start(what: string): Promise<string> {
  const one = await HOSTILE[what]?.();
  if (one === undefined) throw new Error(`nothing ${what}`);
  hostile.push(one);
  return one.url;
}
/** An endpoint that takes everything. */
function healthy(): Promise<string> {
  return receiver(({ headers }, response) => {
    told.push(String(headers['webhook-id']));
    response.end();
    onTold();
  });
}
async function happens(count: number): Promise<void> {
  const messages = Array.from({ length: count }, () => message());
  await stores.store.accept(messages, at(0));
  room.wake();
}
/** Resolves when so many events were told; rejects when that takes too long. */
async function untilTold(count: number): Promise<void> {
  const late = new AbortController();
  const enough = new Promise<void>((resolve) => {
    onTold = () => {
      if (new Set(told).size >= count) resolve();
    };
    onTold();
  });
  const over = systemClock.sleep(SOON_MS, late.signal).then(() => {
    if (!late.signal.aborted) throw new Error(`${new Set(told).size} of ${count} events were told`);
  });
  await Promise.race([enough, over]);
  late.abort();
}

describe.each(KINDS)('an endpoint that %s', (what) => {
  test('gives an error or a status, ends in time, and takes no memory', async () => {
    const url = await start(what);
    const before = process.memoryUsage().rss;
    const wholeMs = HANGING.has(what) ? CUT_MS : undefined;
    const { status, error, answer, durationMs } = await post(url, wholeMs === undefined ? {} : { wholeMs });
    expect(TOLD[what] ?? [null]).toContain(status);
    expect(error === null).toBe(status !== null);
    expect(answer.length).toBeLessThanOrEqual(1024);
    expect(durationMs).toBeLessThan(SOON_MS);
    expect(process.memoryUsage().rss - before).toBeLessThan(MOST_MEMORY);
  });

  test('costs another nothing', async () => {
    await endpoint(await start(what));
    await endpoint(await healthy());
    const before = process.memoryUsage().rss;
    await happens(MESSAGES);
    await untilTold(MESSAGES);
    await expect.poll(() => hostile[0]?.connections()).toBeGreaterThan(0);
    expect(told).toHaveLength(MESSAGES);
    expect(process.memoryUsage().rss - before).toBeLessThan(MOST_MEMORY);
  });
});

test('all of them together cost another nothing', async () => {
  for (const what of KINDS) await endpoint(await start(what));
  await endpoint(await healthy());
  const before = process.memoryUsage().rss;
  for (let batch = 1; batch <= 3; batch++) {
    await happens(MESSAGES / 3);
    await untilTold((batch * MESSAGES) / 3);
  }
  await expect.poll(() => hostile.every(({ connections }) => connections() > 0)).toBe(true);
  expect(told).toHaveLength(MESSAGES);
  expect(process.memoryUsage().rss - before).toBeLessThan(MOST_MEMORY);
});
