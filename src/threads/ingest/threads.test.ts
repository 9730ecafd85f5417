import { tmpdir } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import type { IngestRooms } from '../../app/mail-parts.ts';
import { loadConfig, NOTHING_STORED } from '../../config/load.ts';
import { systemClock } from '../../lib/clock.ts';
import { generateSecret } from '../../lib/id.ts';
import { ListenError } from '../../lib/listen.ts';
import { silentLog } from '../../lib/log.ts';
import { seededRandom } from '../../lib/random.ts';
import { Events } from '../../observe/events.ts';
import type { KeyAndCertificate } from '../../tls/self-signed.ts';
import { startIngestThreads } from './threads.ts';

const ENVIRONMENT = { WAYBILL_THREADS__INGEST: '2', WAYBILL_API__BIND: '127.0.0.1' };

/** Threads whose questions nobody answers, for none is asked here. */
function start(tls: KeyAndCertificate | null = null, keyring: object = {}) {
  const random = seededRandom(1);
  const died: { readonly code: string }[] = [];
  const ended = new AbortController();
  const listeners = startIngestThreads({
    live: loadConfig({ dataDir: tmpdir(), environment: ENVIRONMENT, stored: NOTHING_STORED, random }),
    rooms: { intake: {}, admin: {}, spool: {}, keyring } as IngestRooms,
    tls,
    random,
    clock: systemClock,
    log: silentLog,
    events: new Events(),
    others: null,
    state: () => ({ suspension: null, ready: true, webuiPort: null }),
    signal: ended.signal,
    onDeath: (error) => died.push(error),
  });
  onTestFinished(() => {
    ended.abort();
    return listeners.close(AbortSignal.abort());
  });
  return { listeners, died };
}

test('each takes connections at the same port, which is free again when they are closed', async () => {
  const { listeners, died } = start();
  const port = await listeners.listenApi(0, false);
  expect((await fetch(`http://127.0.0.1:${port}/api/v1/ready`)).status).toBe(200);
  const second = start();
  await expect(second.listeners.listenApi(port, false)).rejects.toStrictEqual(
    new ListenError('address_in_use', '127.0.0.1', port),
  );
  await listeners.close(AbortSignal.abort());
  expect(await second.listeners.listenApi(port, false)).toBe(port);
  expect([died, second.died]).toEqual([[], []]);
});

test('what is asked and not answered holds up no end', async () => {
  const asked = Promise.withResolvers<void>();
  const findByHash = () => {
    asked.resolve();
    return new Promise(() => {});
  };
  const { listeners } = start(null, { findByHash, touch: async () => {} });
  const port = await listeners.listenApi(0, false);
  const secret = generateSecret(seededRandom(2), 'live');
  const headers = { authorization: `Bearer ${secret}` };
  const refused = expect(fetch(`http://127.0.0.1:${port}/api/v1/messages`, { headers })).rejects.toThrow();
  await asked.promise;
  const deadline = new AbortController();
  const closed = listeners.close(deadline.signal);
  deadline.abort();
  await closed;
  await refused;
});

test('one that dies is told of, and nobody waits for it', async () => {
  const { listeners, died } = start({ key: 'no key', cert: 'no certificate' });
  await expect(listeners.listenApi(0, false)).rejects.toThrow(/^a thread that takes mail died: .*PEM/);
  await expect.poll(() => died.map(({ code }) => code)).toContain('ingest_thread_died');
});
