import { expect, onTestFinished, test } from 'vitest';
import { at, message, recipient } from '../../test/contract/store/fixtures.ts';
import { advanceUntil } from '../../test/protocol/smtp-out/rig.ts';
import { inShape } from '../../test/support/in-shape.ts';
import { Installation } from '../../test/support/installation.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { loadConfig, NOTHING_STORED } from '../config/load.ts';
import type { Submission } from '../domain/message.ts';
import { IDLE } from '../engine/contract.ts';
import { seededRandom } from '../lib/random.ts';
import { UNWATCHED } from '../operations/operation.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import type { LocalDeps } from './deps.ts';
import { testMessageOperations, testSender } from './test-messages.ts';

/** The operation over a real store in which nobody delivers what was accepted. */
function world() {
  const here = new Installation();
  const stores = openSqlite(':memory:');
  onTestFinished(async () => {
    await stores.store.close();
    here.remove();
  });
  const clock = new ManualClock();
  const random = seededRandom(1);
  const { config, holds } = loadConfig({
    dataDir: here.dataDir,
    environment: {},
    stored: {
      ...NOTHING_STORED,
      settings: new Map([['delivery.default_relay', '"out"']]),
      relays: ['out', 'off'].map((name) => ({
        name,
        definition: JSON.stringify({ name, type: 'smtp', host: 'mail.example' }),
        secret: null,
        disabled: name === 'off',
      })),
    },
    random,
  });
  const given: Submission[] = [];
  const accept = async ([submission]: readonly [Submission]) => {
    given.push(submission);
    const record = message({ deliveries: [recipient({})] });
    await stores.store.accept([record], at());
    return [{ kind: 'accepted', id: record.id, captured: false }];
  };
  const state = { running: true, capturesAll: false };
  const deps = {
    views: stores.views,
    templates: stores.templates,
    intake: { accept, suspended: () => null, newId: () => message({}).id },
    resolution: () => ({ config, holds }),
    queue: IDLE,
    get running() {
      return state.running;
    },
    server: () => ({ capturesAll: state.capturesAll }),
    clock,
    random,
  };
  // Sound because the operation uses no more of the rooms than this.
  const operations = inShape(testMessageOperations(deps as unknown as LocalDeps));
  return { operations, clock, given, state };
}

const TO = { to: 'ann@example.net', from: null };

test('a test message is waited for no longer than a minute, and then it is said that it goes on', async () => {
  const { operations, clock, given } = world();
  const { status, steps } = await advanceUntil(
    clock,
    1000,
    operations.sendTestMessage({ name: 'out', ...TO }),
  );
  expect(status).toBe('queued');
  expect(steps.map(({ name, ok, code }) => [name, ok, code])).toEqual([
    ['ACCEPTED', true, undefined],
    ['WAITING', false, 'timeout'],
  ]);
  expect(steps.at(-1)?.atMs).toBeGreaterThanOrEqual(60_000);
  expect(steps.at(-1)?.atMs).toBeLessThan(62_000);
  expect(given).toMatchObject([{ via: 'out', header: { subject: 'Test message through out' } }]);
});

test('nobody waits for a test message any more once the one who asked is gone', async () => {
  const { operations } = world();
  const gone = new AbortController();
  const tell = () => gone.abort();
  const { steps } = await operations.sendTestMessage({ name: 'out', ...TO }, { tell, signal: gone.signal });
  expect(steps).toHaveLength(1);
});

test('more than ten test messages in a minute are refused', async () => {
  const { operations, clock } = world();
  const left = AbortSignal.abort();
  const send = () => operations.sendTestMessage({ name: 'out', ...TO }, { ...UNWATCHED, signal: left });
  for (let count = 0; count < 10; count++) await send();
  await expect(send()).rejects.toMatchObject({ code: 'refused', message: /at most 10 test messages.* 60 s/ });
  await clock.advance(60_000);
  await send();
});

test('a test message that could not be sent is refused, and not accepted', async () => {
  const { operations, given, state } = world();
  const send = (request: { name: string; to?: string }) => operations.sendTestMessage({ ...TO, ...request });
  await expect(send({ name: 'nowhere' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(send({ name: 'inbox' })).rejects.toMatchObject({ code: 'invalid' });
  await expect(send({ name: 'off' })).rejects.toMatchObject({ code: 'refused', message: /is disabled/ });
  await expect(send({ name: 'out', to: 'no address' })).rejects.toMatchObject({
    code: 'invalid',
    message: /^to\b/,
  });
  state.capturesAll = true;
  await expect(send({ name: 'out' })).rejects.toMatchObject({ code: 'refused', message: /captures all/ });
  state.running = false;
  await expect(send({ name: 'out' })).rejects.toMatchObject({ code: 'unavailable', message: /serve/ });
  expect(given).toEqual([]);
});

test.each([
  ['the mailbox that signs in', 'app@example.org', ['example.com'], 'app@example.org'],
  ['the first domain', 'app', ['example.com', 'example.net'], 'postmaster@example.com'],
  ['the server', null, [], 'postmaster@mail.example'],
])('a test message comes from %s', (_, username, names, expected) => {
  const relay = { smtp: { username } } as Parameters<typeof testSender>[0];
  // Sound because no more is read of it.
  const config = {
    server: { hostname: 'mail.example' },
    domains: names.map((name) => ({ name })),
  } as unknown as Parameters<typeof testSender>[1];
  expect(testSender(relay, config)).toBe(expected);
});
