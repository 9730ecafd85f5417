/** The receivers of docs/webhook.md, run as they stand there, against real deliveries. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Budget } from '../../../src/lib/budget.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { PROVIDER_MEMORY } from '../../../src/transport/providers/limits.ts';
import { providerFor } from '../../../src/transport/providers/provider-for.ts';
import { createProviderTransport } from '../../../src/transport/providers/transport.ts';
import type { Transport } from '../../../src/transport/transport.ts';
import { freePort } from '../../peers/free-port.ts';
import { describeIf } from '../../peers/need.ts';
import { recipesIn, works } from '../../support/recipes.ts';
import { deliver, only } from '../smtp-out/rig.ts';
import { providerRelay } from './rig.ts';

const RECIPES = recipesIn('webhook.md');
const ENCODED = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

const KITCHENS = [
  { name: 'node', file: 'receiver.mjs', needs: 'node', ready: true, command: () => [process.execPath] },
  {
    name: 'python',
    file: 'receiver.py',
    needs: 'python3',
    ready: works('python3', '-c', ''),
    command: () => ['python3'],
  },
  {
    name: 'php',
    file: 'receiver.php',
    needs: 'php',
    ready: works('php', '-v'),
    command: (port: number) => ['php', '-S', `127.0.0.1:${port}`],
  },
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-webhook-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('there is a receiver for every kitchen, and none that is not run', () => {
  expect([...RECIPES.keys()].sort()).toEqual(KITCHENS.map(({ name }) => name).sort());
});

for (const kitchen of KITCHENS)
  describeIf(kitchen.ready, kitchen.needs, kitchen.name, () => {
    test.each([
      ['an encoded secret', ENCODED],
      ['a secret in plain text', 'Träumerei, 1838'],
    ])('takes what is signed by %s, and nothing else', { timeout: 60_000 }, async (_, secret) => {
      const receiver = await serve(kitchen, secret);
      const content = [Buffer.from('Subject: Grüße\r\n\r\nHello.\r\n')];
      const to = ['bob@example.org', 'ann@example.net'];
      const result = await deliver(post(receiver.url, secret), { to, content });
      expect(result.outcomes.map(({ kind }) => kind)).toEqual(['delivered', 'delivered']);
      await receiver.said(
        `msg_01k00000000000000000000000 bob@example.org ann@example.net ${content[0]?.length}`,
      );
      expect((await post(receiver.url, secret).probe?.(new AbortController().signal))?.trouble).toBeNull();

      const forged = only(await deliver(post(receiver.url, `${secret}x`), { content }));
      expect(forged).toMatchObject({ kind: 'deferred', code: 401 });
      const late: Clock = { ...clockOf(), wall: () => systemClock.wall() - 301_000 };
      const stale = only(await deliver(post(receiver.url, secret, late), { content }));
      expect(stale).toMatchObject({ kind: 'deferred', code: 401 });
    });
  });

/** A transport of a webhook relay, closed when the test ends. */
function post(endpoint: string, secret: string, clock: Clock = systemClock): Transport {
  const relay = providerRelay({ type: 'webhook', endpoint, secret }, endpoint);
  if (relay.provider === null) throw new Error('no provider');
  const transport = createProviderTransport({
    relay,
    provider: providerFor(relay.provider),
    clock,
    log: silentLog,
    memory: new Budget(PROVIDER_MEMORY),
  });
  onTestFinished(() => transport.close());
  return transport;
}

function clockOf(): Clock {
  return {
    mono: () => systemClock.mono(),
    wall: () => systemClock.wall(),
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  };
}

/** Runs a receiver until the test ends. */
async function serve({ name, file, command }: (typeof KITCHENS)[number], secret: string) {
  const port = await freePort();
  writeFileSync(join(folder, file), RECIPES.get(name) ?? '');
  const [program = '', ...args] = [...command(port), file];
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret };
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const said = listenTo(child);
  await untilItAnswers(child, port);
  return { url: `http://127.0.0.1:${port}`, said };
}

/** Resolves once the program has said that. */
function listenTo(child: ChildProcess): (text: string) => Promise<void> {
  let all = '';
  let heard: () => void = () => undefined;
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      all += chunk;
      heard();
    });
  return (text) =>
    new Promise((resolve) => {
      heard = () => all.includes(text) && resolve();
      heard();
    });
}

/** Knocks until somebody opens. Throws when the program has ended. */
async function untilItAnswers(child: ChildProcess, port: number): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
  }
  throw new Error(`the receiver ended with ${child.exitCode}`);
}
