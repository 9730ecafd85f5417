/** What the server tells systemd, by a real datagram socket in the place of systemd's. */
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serviceManager } from '../../src/app/service-manager.ts';
import { describeWith, locate } from '../peers/need.ts';
import { untilFound } from '../peers/watch.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { installed } from './service.ts';

/** Writes each datagram as a line of JSON; those of the barrier have none of our words. */
const LISTENER = `
import json, socket, sys
name = sys.argv[1]
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind('\\0' + name[1:] if name.startswith('@') else name)
print('bound', flush=True)
while True:
    print(json.dumps(server.recv(4096).decode().split()), flush=True)
`;

/** A socket as systemd has one; gives its messages as they come, without the pings. */
async function listenAs(name: string) {
  const child = spawn(locate('python3') ?? '', ['-c', LISTENER, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  let heard = () => {};
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    heard();
  });
  const until = (isThere: (all: string) => boolean) =>
    new Promise<string>((resolve) => {
      heard = () => isThere(text) && resolve(text);
      heard();
    });
  await until((all) => all.includes('bound'));
  const told = (all: string) => [...all.matchAll(/(READY|RELOADING|STOPPING)=1/g)].map(([word]) => word);
  return {
    pings: (count: number) => until((all) => all.split('WATCHDOG=1').length > count),
    told: async (count: number) => told(await until((all) => told(all).length >= count)),
    text: () => text,
  };
}

describeWith(['systemd-notify', 'python3'], 'under systemd', () => {
  test.for(['a file', 'an abstract name'])(
    'the server tells %s that it is ready, alive, reloads and ends',
    async (kind, context) => {
      const installation = installed(
        context,
        'api: { port: 0 }\nwebui: { port: null }\nlistener: { ports: [] }\n',
      );
      const file = join(installation.dataDir, 'notify');
      const name = kind === 'a file' ? file : `@${file}`;
      const systemd = await listenAs(name);
      Object.assign(installation.environment, { NOTIFY_SOCKET: name, WATCHDOG_USEC: '200000' });
      const server = await installation.start();
      expect(await systemd.told(1)).toEqual(['READY=1']);
      expect(systemd.text()).toContain(`STATUS=API", "${server.runtime.api}"`);
      await systemd.pings(3);
      server.signal('SIGHUP');
      expect(await systemd.told(3)).toEqual(['READY=1', 'RELOADING=1', 'READY=1']);
      expect(await server.end('SIGTERM')).toBe(0);
      expect(await systemd.told(4)).toEqual(['READY=1', 'RELOADING=1', 'READY=1', 'STOPPING=1']);
    },
  );
});

describe('the manager of the service', () => {
  /** A folder with a `systemd-notify` that writes down what it was given. */
  function spied() {
    const folder = mkdtempSync(join(tmpdir(), 'waybill-notify-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'calls');
    appendFileSync(file, '');
    writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >>${file}\n`, {
      mode: 0o755,
    });
    const calls = () => readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return { folder, calls, PATH: `${folder}:/usr/bin:/bin` };
  }

  test('a stuck event loop sends no ping: each comes of a turn of the clock', async () => {
    const { folder, calls, PATH } = spied();
    const clock = new ManualClock();
    const environment = { PATH, NOTIFY_SOCKET: '/s', WATCHDOG_USEC: '60000000' };
    const manager = serviceManager({ environment, clock, say: () => {} });
    manager?.ready('all');
    const number = (count: number) => untilFound(folder, () => (calls().length >= count ? calls() : null));
    expect(await number(1)).toEqual(['/s READY=1 STATUS=all']);
    await clock.advance(29_999);
    expect(calls()).toHaveLength(1);
    await clock.advance(1);
    expect(await number(2)).toContain('/s WATCHDOG=1');
    await manager?.stopping();
    await clock.advance(120_000);
    expect(calls().filter((call) => call.includes('WATCHDOG'))).toHaveLength(1);
    expect(calls().at(-1)).toContain('STOPPING=1');
  });

  test('nobody is told where nobody asks, and none is pinged that watches another process', async () => {
    const { calls, PATH } = spied();
    const clock = new ManualClock();
    expect(serviceManager({ environment: { PATH }, clock, say: () => {} })).toBeNull();
    const environment = { PATH, NOTIFY_SOCKET: '/s', WATCHDOG_USEC: '1000000', WATCHDOG_PID: '1' };
    const manager = serviceManager({ environment, clock, say: () => {} });
    manager?.ready('all');
    await clock.advance(60_000);
    await manager?.stopping();
    expect(calls().filter((call) => call.includes('WATCHDOG'))).toEqual([]);
  });

  test('where systemd-notify is missing, that is said once, and what to do', async () => {
    const said: string[] = [];
    const environment = { PATH: '/nowhere', NOTIFY_SOCKET: '/s' };
    const manager = serviceManager({ environment, clock: new ManualClock(), say: (text) => said.push(text) });
    manager?.ready('all');
    await manager?.stopping();
    expect(said).toEqual([
      expect.stringMatching(/systemd-notify is not there\. Install it, or put Type=exec/),
    ]);
  });
});

describeWith(['systemd-analyze'], 'the unit', () => {
  test('is one that systemd takes, and lets a child of the server speak for it', () => {
    const unit = join(import.meta.dirname, '../../deploy/systemd/waybill.service');
    const text = readFileSync(unit, 'utf8');
    for (const line of ['Type=notify', 'NotifyAccess=all', 'WatchdogSec=60'])
      expect(text.split('\n')).toContain(line);
    expect(execFileSync(locate('systemd-analyze') ?? '', ['verify', unit], { encoding: 'utf8' })).toBe('');
  });
});
