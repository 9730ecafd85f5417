/** That nothing waits for ever: holds on ill relays, bursts, lost leases, ways that come late. */
import { expect, test } from 'vitest';
import type { HoldKind } from '../../src/domain/lane.ts';
import type { Relay } from '../../src/domain/relay.ts';
import type { RouteRule } from '../../src/domain/route.ts';
import { type Store, StoreError } from '../../src/store/store.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { DEAD, HEALTHY } from './hop-session.ts';
import { madeByHand } from './listed.ts';
import { accept, startNode } from './one-node.ts';
import { relayNamed, SETTINGS, submissionNamed } from './scene.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** One rule for all mail: these relays, in this order. */
function groupOf(...relays: readonly string[]): RouteRule[] {
  return [{ name: 'all', match: {}, via: relays.map((relay) => ({ relay, weight: 1 })), order: 'given' }];
}

async function start(group: readonly string[], there: readonly string[] = group) {
  const holds = new Map<string, HoldKind>();
  const routing = { version: 2, rules: groupOf(...group), defaultRelay: 'out', postmaster: null };
  const node = startNode(() => ({ ...SETTINGS, routing, holds }));
  const { engine, hop, life, run, views } = node;
  const put = (name: string, change: Partial<Relay> = {}) =>
    engine.relays.put({ ...relayNamed(name), ...change }, hop.transportOf(life, name));
  for (const name of there) put(name);
  await run(SECOND);
  await node.started;
  const hold = (target: string, kind: HoldKind | null) => {
    if (kind === null) holds.delete(target);
    else holds.set(target, kind);
    engine.waysChanged();
  };
  const show = async (id: string) => {
    const detail = await views.message(id);
    if (detail === null) throw new Error(`${id} is gone`);
    return detail.message;
  };
  /** Waits for an act in virtual time. */
  const done = async <T>(act: Promise<T>): Promise<T> => {
    await run(SECOND);
    return await act;
  };
  return { ...node, put, hold, show, done };
}

test('a relay that was paused while it was ill is used again when it is resumed', async () => {
  const { engine, hop, run, show, hold } = await start(['first', 'second']);
  hop.faultsOf.set('first', DEAD);
  await accept(engine, 'one');
  await run(SECOND);
  hold('first', 'pause');
  await run(2 * MINUTE);
  hop.faultsOf.delete('first');
  hold('first', null);
  await run(MINUTE);
  const id = await accept(engine, 'two');
  await run(5 * SECOND);
  expect(await show(id)).toMatchObject({ status: 'delivered', relay: 'first' });
});

test('a relay that was disabled while it was ill is used again when it is enabled', async () => {
  const { engine, hop, run, show, put } = await start(['first', 'second']);
  hop.faultsOf.set('first', DEAD);
  await accept(engine, 'one');
  await run(SECOND);
  put('first', { disabled: true });
  await run(2 * MINUTE);
  hop.faultsOf.delete('first');
  put('first');
  await run(MINUTE);
  const id = await accept(engine, 'two');
  await run(5 * SECOND);
  expect(await show(id)).toMatchObject({ status: 'delivered', relay: 'first' });
});

test('what waits at a relay that is drained and ill moves to one that is well', async () => {
  const { engine, hop, run, show, hold } = await start(['first', 'second']);
  for (const name of ['first', 'second']) hop.faultsOf.set(name, DEAD);
  const ids = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((token) => accept(engine, token)));
  await run(20 * SECOND);
  hold('first', 'drain');
  hop.faultsOf.delete('second');
  await run(5 * MINUTE);
  for (const id of ids) expect(await show(id)).toMatchObject({ status: 'delivered', relay: 'second' });
});

test('a retry finds the way that has come since the message failed', async () => {
  const { engine, run, show, put, done } = await start(['late'], []);
  const id = await accept(engine, 'one');
  await done(engine.acts.cancel(id));
  put('late');
  await run(20 * MINUTE);
  await done(engine.acts.retry(id));
  await run(MINUTE);
  expect(await show(id)).toMatchObject({ status: 'delivered', relay: 'late' });
});

test('a retry leaves a relay that has been disabled since the message failed', async () => {
  const { engine, hop, run, show, put, done } = await start(['first', 'second']);
  hop.faultsOf.set('first', { ...HEALTHY, reject: 1 });
  const id = await accept(engine, 'one');
  await run(5 * SECOND);
  expect(await show(id)).toMatchObject({ status: 'failed' });
  put('first', { disabled: true });
  await run(20 * MINUTE);
  await done(engine.acts.retry(id));
  await run(MINUTE);
  expect(await show(id)).toMatchObject({ status: 'delivered', relay: 'second' });
});

/** A node that delivers directly: a lane for each domain, and no hop that could be asked without mail. */
async function startDirect(maxConcurrency: number, maxPerDomain: number, slowMs = 0) {
  const routing = { version: 2, rules: [], defaultRelay: 'direct', postmaster: null };
  const node = startNode(() => ({ ...SETTINGS, shortWayBytes: 1e8, routing }));
  const { engine, hop, life, run } = node;
  const base = relayNamed('direct');
  const mx = {
    helo: null,
    sourceIps: [],
    ipFamily: 'any',
    returnPath: 'auto',
    port: 25,
    tls: 'opportunistic',
  } as const;
  const { deliver, connections, close } = hop.transportOf(life, 'direct');
  const transport: Transport = {
    connections,
    close,
    deliver: async (job, signal) => {
      if (job.envelope.recipients[0]?.address.endsWith('@slow.example')) await life.sleep(slowMs);
      return deliver(job, signal);
    },
  };
  engine.relays.put(
    {
      ...base,
      type: 'mx',
      limits: { ...base.limits, maxConcurrency },
      mx: { ...mx, allowPrivate: false, maxPerDomain, presets: false },
    },
    transport,
  );
  await run(SECOND);
  await node.started;
  const send = async (domain: string, token: string, sendAt: number | null = null): Promise<string> => {
    const base = submissionNamed(token, 1);
    const recipients = [{ address: `r@${domain}`, kind: 'to', notify: null, orcpt: null }] as const;
    const [answer] = await engine.intake.accept([
      { ...base, sendAt, envelope: { ...base.envelope, recipients } },
    ]);
    if (answer?.kind !== 'accepted') throw new Error(`not accepted: ${answer?.kind}`);
    return answer.id;
  };
  return { ...node, send };
}

test('a burst to one slow domain leaves room for every other', async () => {
  const { run, send, views } = await startDirect(20, 2, 5 * SECOND);
  await send('slow.example', 'first');
  await run(10 * SECOND);
  await Promise.all(Array.from({ length: 500 }, (_, place) => send('slow.example', `burst${place}`)));
  await run(SECOND);
  const id = await send('new.example', 'other');
  await run(10 * SECOND);
  expect((await views.message(id))?.message.status).toBe('delivered');
});

/** Counts how many lanes are asked for work. */
function countClaims(store: Store): { asked: number } {
  const counted = { asked: 0 };
  const claim = store.claim.bind(store);
  store.claim = (requests, at) => {
    counted.asked += requests.length;
    return claim(requests, at);
  };
  return counted;
}

test('lanes in which nothing is due are hardly ever asked for work', async () => {
  const { run, send, store, life } = await startDirect(100, 20);
  const due = life.wall() + DAY;
  for (let place = 0; place < 600; place++) await send(`d${place}.example`, `t${place}`, due);
  await run(10 * SECOND);
  const claims = countClaims(store);
  await run(20 * SECOND);
  // The poll looks at a bounded number of lanes a second, however many there are.
  expect(claims.asked).toBeLessThanOrEqual(21 * 256);
});

test('lanes of many domains are let go when nothing has come for them in a while', async () => {
  const { run, send, engine } = await startDirect(100, 20);
  for (let place = 0; place < 200; place++) await send(`d${place}.example`, `t${place}`);
  await run(10 * SECOND);
  expect(engine.queue.lanes().length).toBeGreaterThan(150);
  await run(2 * MINUTE);
  expect(engine.queue.lanes().map(({ lane }) => lane)).toEqual(['out']);
});

test('what could wait for a hop that has fallen silent goes to one that speaks', async () => {
  const { engine, hop, life, run, show } = await start(['first', 'second']);
  const { deliver, ...rest } = hop.transportOf(life, 'first');
  const mute: Transport = {
    ...rest,
    deliver: async (job, signal) => {
      await life.sleep(5 * MINUTE);
      return deliver(job, signal);
    },
  };
  engine.relays.put(relayNamed('first'), mute);
  const ids = await Promise.all(Array.from({ length: 40 }, (_, place) => accept(engine, `m${place}`)));
  await run(MINUTE);
  const later = await accept(engine, 'later');
  await run(5 * SECOND);
  expect(await show(later)).toMatchObject({ status: 'delivered', relay: 'second' });
  const ends = await Promise.all(ids.map(async (id) => (await show(id)).relay));
  // Only what the silent hop may be taking this moment stays with it.
  expect(ends.filter((relay) => relay === 'first')).toHaveLength(relayNamed('first').limits.maxConcurrency);
  await run(6 * MINUTE);
  for (const id of ids) expect((await show(id)).status).toBe('delivered');
});

test('who shares a message with a suppressed recipient is served, though the answer to its end was lost', async () => {
  const { engine, run, views, hold, store, suppressions, life } = await start(['first']);
  hold('first', 'pause');
  const named = submissionNamed('one', 2);
  const [answer] = await engine.intake.accept([named]);
  if (answer?.kind !== 'accepted') throw new Error(`not accepted: ${answer?.kind}`);
  const now = life.wall();
  const entry = madeByHand('r0@example.net', 'sup_1', now);
  await suppressions.addSuppressions([entry], { max: 10, by: 'hand', now });
  const suppress = store.suppress.bind(store);
  let lost = 0;
  store.suppress = async (batch, at) => {
    const answers = await suppress(batch, at);
    if (lost++ === 0) throw new StoreError('store_unavailable', 'simulated: after');
    return answers;
  };
  hold('first', null);
  await run(MINUTE);
  expect(lost).toBeGreaterThan(1);
  const detail = await views.message(answer.id);
  expect(detail?.recipients.map(({ state }) => state)).toEqual(['failed', 'delivered']);
});

test('an ill hop is asked no more often for every lease that was lost meanwhile', async () => {
  const { engine, hop, life, store, run } = await start(['first']);
  const transport = hop.transportOf(life, 'first');
  let asked = 0;
  const probe = async (signal: AbortSignal) => {
    asked++;
    if (transport.probe === undefined) throw new Error('no probe');
    return await transport.probe(signal);
  };
  engine.relays.put(relayNamed('first'), { ...transport, probe });
  hop.faultsOf.set('first', DEAD);
  await accept(engine, 'one');
  for (let lost = 0; lost < 20; lost++) {
    await run(20 * SECOND);
    await store.reclaim(
      { seize: true, policy: SETTINGS.retry, dice: 0, limit: 100 },
      { node: 'a', now: life.wall() },
    );
  }
  await run(2 * MINUTE);
  asked = 0;
  await run(4 * MINUTE);
  // It rests for half a minute, less a fifth.
  expect(asked).toBeLessThanOrEqual(10);
});
