/** The machine fails under the real process (contract §15): what was acknowledged is never lost. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext, test, vi } from 'vitest';
import { describeIf, describeWith } from '../peers/need.ts';
import { Installation, type RunningServer } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { type Customer, healthOf } from './customer.ts';
import { type HttpAnswer, HttpCustomer } from './http-customer.ts';
import { SmtpCustomer } from './smtp-customer.ts';
import { underFault } from './under-fault.ts';

/** How long a failed machine is shown before the process ends (contract §15), less what clocks may differ. */
const SHOWN_MS = 9_500;
const TIMEOUT = { timeout: 120_000 };

/** Ways in. */
const WAYS = ['HTTP', 'SMTP'] as const;
type Way = (typeof WAYS)[number];
/** What a customer of either is told. */
type Answer = HttpAnswer | string;

/** A sink, an installation that delivers to it, and a customer; gone when the test ends. */
async function world(context: TestContext, way: Way, mount: (folder: string) => void = () => {}) {
  const sink = await startSmtpSink();
  const installation = new Installation('');
  context.onTestFinished(async () => {
    installation.remove();
    await sink.close();
  });
  mount(installation.dataDir);
  installation.configure(configuration(sink));
  const key = (await installation.run('keys', 'create', 'shop', '--quiet')).stdout.trim();
  const newCustomer = (): Customer<Answer> =>
    way === 'HTTP' ? new HttpCustomer(key) : new SmtpCustomer(key, context);
  return { sink, installation, customer: newCustomer(), newCustomer };
}

function configuration(sink: SmtpSink): string {
  return `
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], bind: ["127.0.0.1"], allow_insecure_auth: true }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
delivery: { default_relay: sink, retry_first_seconds: 1, retry_max_seconds: 1 }
relays: [{ name: sink, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]
`;
}

describeWith(['strace'], 'a failed write or flush', () => {
  test.concurrent.for(
    overEachWay([
      ['a flush of the spool', 'fdatasync:error=EIO:when=12'],
      ['a write to the spool', 'pwritev:error=EIO:when=12'],
      ['a flush of the database', 'fsync:error=EIO:when=40'],
      ['a write to the database', 'pwrite64:error=EIO:when=200'],
    ]),
  )(
    '%s, mail over %s: all stops, health shows it, and the process ends with 74',
    TIMEOUT,
    async ([, way, fault], context) => {
      const { sink, installation, customer, newCustomer } = await world(context, way);
      const server = await installation.start(underFault(fault));
      // They share writes and flushes, and so the failure.
      const customers = [customer, newCustomer(), newCustomer()];
      const refused = customers.map((each) => each.sendUntilRefused(server));
      await Promise.race(refused);
      const failedAt = performance.now();
      for (const answer of await Promise.all(refused)) expectRefusal(answer, STOPPED);
      await sink.until(() => sink.open === 0);
      const { taken } = sink;
      expect(await healthOf(server)).toMatchObject({ httpStatus: 503, status: 'critical' });
      for (let again = 0; again < 5; again++) expectRefusal(await customer.send(server), STOPPED);
      // What cannot be read from the store any more must not end the process early.
      installation.configure(`${configuration(sink)}\n`);
      expect(await server.exited).toBe(74);
      expect(performance.now() - failedAt).toBeGreaterThan(SHOWN_MS);
      expect(sink.taken).toBe(taken);

      const next = await installation.start();
      await Promise.all(customers.map((each) => each.untilDelivered(sink)));
      expect(await next.end('SIGTERM')).toBe(0);
    },
  );

  test.concurrent(
    'a checkpoint fails during the start: the process ends with 74 too',
    TIMEOUT,
    async (context) => {
      const { sink, installation, customer } = await world(context, 'HTTP');
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

  test.concurrent.for(
    overEachWay([
      ['the spool', 'pwritev:error=ENOSPC:when=8..10'],
      ['the database', 'pwrite64:error=ENOSPC:when=100..104'],
    ]),
  )(
    '%s is full, mail over %s: refused until there is room, and the process goes on',
    TIMEOUT,
    async ([, way, fault], context) => {
      const { sink, installation, customer } = await world(context, way);
      const server = await installation.start(underFault(fault));
      await suspendsAndResumes(server, customer, sink, () => {});
      expect(await server.end('SIGTERM')).toBe(0);
    },
  );
});

describeIf(canMount(), 'mount', 'a disk that is really full', () => {
  // What is left decides who meets the end of the disk first: the spool or the database.
  const left = overEachWay([
    ['40,960 bytes', 40_960],
    ['4,096 bytes', 4_096],
  ]);
  test.concurrent.for(left)('with %s left, mail over %s', TIMEOUT, async ([, way, bytes], context) => {
    const { sink, installation, customer } = await world(context, way, mountSmallDisk);
    context.onTestFinished(() => {
      execFileSync('umount', ['--lazy', installation.dataDir]);
    });
    const server = await installation.start();
    await customer.send(server);
    const filler = join(installation.dataDir, 'filler');
    const { bavail, bsize } = statfsSync(installation.dataDir);
    writeFileSync(filler, Buffer.alloc(bavail * bsize - bytes, 1));
    await suspendsAndResumes(server, customer, sink, () => rmSync(filler));
    expect(await server.end('SIGTERM')).toBe(0);
  });
});

test.concurrent('a log that cannot be written does not stop the mail', TIMEOUT, async (context) => {
  const { sink, installation, customer } = await world(context, 'HTTP');
  const server = await installation.start(['sh', '-c', 'exec "$0" "$@" >/dev/full']);
  installation.configure('this: is wrong');
  server.signal('SIGHUP');
  // The fault is an error, which is written at once.
  await vi.waitUntil(async () => (await healthOf(server)).status === 'degraded', { timeout: 10_000 });
  expect(customer.idIn(await customer.send(server))).not.toBeNull();
  await customer.untilDelivered(sink);
  expect(await server.end('SIGTERM')).toBe(0);
});

describeWith(['cc'], 'short writes', () => {
  test.concurrent('what is written in pieces is whole', TIMEOUT, async (context) => {
    const { sink, installation, customer } = await world(context, 'HTTP');
    const library = join(installation.dataDir, 'short-writes.so');
    const source = join(import.meta.dirname, 'short-writes.c');
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
    const server = await installation.start(['env', `LD_PRELOAD=${library}`]);
    for (let count = 0; count < 20; count++)
      expect(customer.idIn(await customer.send(server))).not.toBeNull();
    await customer.untilDelivered(sink);
    expect(await server.end('SIGTERM')).toBe(0);
    const waiting = await installation.start();
    expect((await healthOf(waiting)).status).toBe('healthy');
  });
});

/** Sends until there is no room, then lets go of some, and sees that all goes on by itself. */
async function suspendsAndResumes(
  server: RunningServer,
  customer: Customer<Answer>,
  sink: SmtpSink,
  makeRoom: () => void,
): Promise<void> {
  const refused = await customer.sendUntilRefused(server);
  expectRefusal(refused, FULL);
  const noRoom = expect.objectContaining({ name: 'room', status: 'critical' });
  expect(await healthOf(server)).toMatchObject({ httpStatus: 503, checks: expect.arrayContaining([noRoom]) });
  makeRoom();
  await customer.sendUntilAcknowledged(server);
  expect(await healthOf(server)).toMatchObject({ httpStatus: 200, status: 'healthy' });
  await customer.untilDelivered(sink);
}

/** Replies of SMTP while nothing is taken any more, AUTH's among them, and while there is no room. */
const STOPPED = /^(?:421 4\.3\.[02]|454 4\.7\.0) /;
const FULL = /^452 4\.3\.1 /;

function expectRefusal(answer: Answer, reply: RegExp): void {
  if (typeof answer === 'string') {
    expect(answer).toMatch(reply);
    return;
  }
  const { status, headers, body } = answer;
  expect(status).toBe(503);
  expect(headers.get('Content-Type')).toBe('application/problem+json');
  expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
  if (reply === FULL) expect(body['code']).toBe('disk_full');
}

/** Each case once for HTTP and once for SMTP. */
function overEachWay<T>(cases: readonly (readonly [string, T])[]): (readonly [string, Way, T])[] {
  return cases.flatMap(([name, fault]) => WAYS.map((way) => [name, way, fault] as const));
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
