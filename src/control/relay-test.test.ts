import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { advanceUntil } from '../../test/protocol/smtp-out/rig.ts';
import { Installation } from '../../test/support/installation.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { systemRandom } from '../lib/random.ts';
import type { ProbeStep } from '../transport/transport.ts';
import { openOffline } from './offline.ts';

test('who does not answer is told as that, after a minute', async () => {
  const here = new Installation();
  const connected = Promise.withResolvers<void>();
  const server = createServer((socket) => void socket.on('error', () => {}).resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const clock = new ManualClock();
  const { dataDir } = here;
  const { operations, close } = await openOffline({ dataDir, environment: {}, clock, random: systemRandom });
  onTestFinished(async () => {
    await close();
    server.close();
    here.remove();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const definition = { type: 'smtp', host: '127.0.0.1', port, tls: 'none' };
  const told: ProbeStep[] = [];
  const tell = (step: ProbeStep) => {
    told.push(step);
    connected.resolve();
  };
  const trial = operations.testRelay(
    { name: 'silent', to: null, unsaved: { definition, secret: null } },
    { tell, signal: new AbortController().signal },
  );
  await connected.promise;
  const { ok, steps } = await advanceUntil(clock, 1000, trial);
  expect([ok, steps]).toEqual([false, told]);
  expect(steps.at(-1)).toEqual({
    name: 'timeout',
    ok: false,
    code: 'timeout',
    atMs: 60_000,
    detail: 'No answer came within 60 s.',
  });
});
