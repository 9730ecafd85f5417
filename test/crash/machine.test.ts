/** The machine fails under the real process (contract §15): what was acknowledged is never lost. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext, test, vi } from 'vitest';
import { describeIf, describeWith } from '../peers/need.ts';
import { Installation, type RunningServer } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { type Answer, Customer, healthOf } from './customer.ts';
import { underFault } from './under-fault.ts';

/** How long a failed machine is shown before the process ends (contract §15), less what clocks may differ. */
const SHOWN_MS = 9_500;
const TIMEOUT = { timeout: 60_000 };

/** A sink, an installation that delivers to it, and a customer; gone when the test ends. */
async function world({ onTestFinished }: TestContext, mount: (folder: string) => void = () => {}) {
  const sink = await startSmtpSink();
  const installation = new Installation('');
  onTestFinished(async () => {
    installation.remove();
    await sink.close();
  });
  mount(installation.dataDir);
  installation.configure(configuration(sink));
  const key = await installation.run('keys', 'create', 'shop', '--quiet');
  return { sink, installation, customer: new Customer(key.stdout.trim()) };
}

function configuration(sink: SmtpSink): string {
  return `
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [] }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
delivery: { default_relay: sink, retry_first_seconds: 1, retry_max_seconds: 1 }
relays: [{ name: sink, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]
`;
}

describeWith(['strace'], 'a failed write or flush', () => {
  test.concurrent.for([
    ['a flush of the spool', 'fdatasync:error=EIO:when=12'],
    ['a write to the spool', 'pwritev:error=EIO:when=12'],
    ['a flush of the database', 'fsync:error=EIO:when=40'],
    ['a write to the database', 'pwrite64:error=EIO:when=200'],
  ] as const)(
    '%s: all stops, health shows it, and the process ends with 74',
    TIMEOUT,
    async ([, fault], context) => {
      const { sink, installation, customer } = await world(context);
      const server = await installation.start(underFault(fault));
      const refused = await customer.sendUntilRefused(server);
      const failedAt = performance.now();
      expectRefusal(refused);
      await sink.until(() => sink.open === 0);
      const { taken } = sink;
      expect(await healthOf(server)).toMatchObject({ httpStatus: 503, status: 'critical' });
      for (let again = 0; again < 5; again++) expectRefusal(await customer.send(server));
      // What cannot be read from the store any more must not end the process early.
      installation.configure(`${configuration(sink)}\n`);
      expect(await server.exited).toBe(74);
      expect(performance.now() - failedAt).toBeGreaterThan(SHOWN_MS);
      expect(sink.taken).toBe(taken);

      const next = await installation.start();
      await customer.untilDelivered(sink);
      expect(await next.end('SIGTERM')).toBe(0);
    },
  );

  test.concurrent(
    'a checkpoint fails during the start: the process ends with 74 too',
    TIMEOUT,
    async (context) => {
      const { sink, installation, customer } = await world(context);
      const killed = await installation.start();
      await customer.send(killed);
      await killed.end('SIGKILL');
      const server = installation.launch(
        underFault('fsync:error=EIO', join(installation.dataDir, 'waybill.db')),
      );
      expect(await server.exited).toBe(74);
      await installation.start();
      await customer.untilDelivered(sink);
    },
  );

  test.concurrent.for([
    ['the spool', 'pwritev:error=ENOSPC:when=8..10'],
    ['the database', 'pwrite64:error=ENOSPC:when=100..104'],
  ] as const)(
    '%s is full: 503 until there is room, and the process goes on',
    TIMEOUT,
    async ([, fault], context) => {
      const { sink, installation, customer } = await world(context);
      const server = await installation.start(underFault(fault));
      await suspendsAndResumes(server, customer, sink, () => {});
      expect(await server.end('SIGTERM')).toBe(0);
    },
  );
});

describeIf(canMount(), 'mount', 'a disk that is really full', () => {
  // What is left decides who meets the end of the disk first: the spool or the database.
  test.concurrent.for([40_960, 4_096])('with %i bytes left', TIMEOUT, async (left, context) => {
    const { sink, installation, customer } = await world(context, mountSmallDisk);
    context.onTestFinished(() => {
      execFileSync('umount', ['--lazy', installation.dataDir]);
    });
    const server = await installation.start();
    await customer.send(server);
    const filler = join(installation.dataDir, 'filler');
    const { bavail, bsize } = statfsSync(installation.dataDir);
    writeFileSync(filler, Buffer.alloc(bavail * bsize - left, 1));
    await suspendsAndResumes(server, customer, sink, () => rmSync(filler));
    expect(await server.end('SIGTERM')).toBe(0);
  });
});

test.concurrent('a log that cannot be written does not stop the mail', TIMEOUT, async (context) => {
  const { sink, installation, customer } = await world(context);
  const server = await installation.start(['sh', '-c', 'exec "$0" "$@" >/dev/full']);
  installation.configure('this: is wrong');
  server.signal('SIGHUP');
  // The fault is an error, which is written at once.
  await vi.waitUntil(async () => (await healthOf(server)).status === 'degraded', { timeout: 10_000 });
  expect((await customer.send(server)).status).toBe(202);
  await customer.untilDelivered(sink);
  expect(await server.end('SIGTERM')).toBe(0);
});

describeWith(['cc'], 'short writes', () => {
  test.concurrent('what is written in pieces is whole', TIMEOUT, async (context) => {
    const { sink, installation, customer } = await world(context);
    const library = join(installation.dataDir, 'short-writes.so');
    const source = join(import.meta.dirname, 'short-writes.c');
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
    const server = await installation.start(['env', `LD_PRELOAD=${library}`]);
    for (let count = 0; count < 20; count++) expect((await customer.send(server)).status).toBe(202);
    await customer.untilDelivered(sink);
    expect(await server.end('SIGTERM')).toBe(0);
    const waiting = await installation.start();
    expect((await healthOf(waiting)).status).toBe('healthy');
  });
});

/** Sends until there is no room, then lets go of some, and sees that all goes on by itself. */
async function suspendsAndResumes(
  server: RunningServer,
  customer: Customer,
  sink: SmtpSink,
  makeRoom: () => void,
): Promise<void> {
  const refused = await customer.sendUntilRefused(server);
  expectRefusal(refused);
  expect(refused.body['code']).toBe('disk_full');
  const noRoom = expect.objectContaining({ name: 'room', status: 'critical' });
  expect(await healthOf(server)).toMatchObject({ httpStatus: 503, checks: expect.arrayContaining([noRoom]) });
  makeRoom();
  await customer.sendUntilAcknowledged(server);
  expect(await healthOf(server)).toMatchObject({ httpStatus: 200, status: 'healthy' });
  await customer.untilDelivered(sink);
}

function expectRefusal({ status, headers }: Answer): void {
  expect(status).toBe(503);
  expect(headers.get('Content-Type')).toBe('application/problem+json');
  expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
}

/** Whether this process may mount: it is root's, and no container forbids it. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-mount-'));
  try {
    mountSmallDisk(folder);
    execFileSync('umount', [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(folder);
  }
}

function mountSmallDisk(folder: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=0700', 'tmpfs', folder], { stdio: 'ignore' });
}
