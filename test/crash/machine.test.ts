/** The machine fails under the real process (contract §15): what was acknowledged is never lost. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { describeWith } from '../peers/need.ts';
import type { RunningServer } from '../peers/server.ts';
import { SmtpClient } from '../peers/smtp-client.ts';
import { healthOf, LETTER, untilHealthy } from './customer.ts';
import { configuration, expectRefusal, STOPPED, type Way, world } from './machine.ts';
import { underFault } from './under-fault.ts';

/** How long a failed machine is shown before the process ends (contract §15), less what its clocks may differ by. */
const SHOWN_MS = 9_500;
const TIMEOUT = { timeout: 180_000 };

describeWith(['strace'], 'a failed write or flush', () => {
  test.concurrent.for<readonly [string, Way, string]>([
    ['a flush of the spool', 'SMTP', 'fdatasync:error=EIO:when=12'],
    ['a write to the spool', 'HTTP', 'pwritev:error=EIO:when=12'],
    ['a flush of the database', 'SMTP', 'fsync:error=EIO:when=40'],
    ['a write to the database', 'HTTP', 'pwrite64:error=EIO:when=200'],
    // From then on each of them fails.
    ['every flush of the spool', 'HTTP', 'fdatasync:error=EIO:when=12+'],
    ['every write to the spool', 'SMTP', 'pwritev:error=EIO:when=12+'],
    ['every flush of the database', 'HTTP', 'fsync:error=EIO:when=40+'],
    ['every write to the database', 'SMTP', 'pwrite64:error=EIO:when=200+'],
  ])(
    '%s, mail over %s: all stops, health shows it, and the process ends with 74',
    TIMEOUT,
    async ([, way, fault], context) => {
      const { sink, installation, customer, newCustomer } = await world(context, way);
      const server = await installation.start(underFault(fault));
      // They share writes and flushes, and so the failure.
      const customers = [customer, newCustomer(), newCustomer()];
      const refused = customers.map((each) => each.sendUntilRefused(server));
      for (const answer of await Promise.all(refused)) expectRefusal(answer, STOPPED);
      await sink.until(() => sink.open === 0);
      const { taken } = sink;
      expect(await healthOf(server)).toMatchObject({ httpStatus: 503, status: 'critical' });
      for (let again = 0; again < 5; again++) expectRefusal(await customer.send(server), STOPPED);
      // What cannot be read from the store any more must not end the process early.
      installation.configure(`${configuration(sink)}\n`);
      expect(await server.exited).toBe(74);
      expect(Date.now() - failedAt(server)).toBeGreaterThan(SHOWN_MS);
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
});

test.concurrent('a log that cannot be written does not stop the mail', TIMEOUT, async (context) => {
  const { sink, installation, customer } = await world(context, 'HTTP');
  const server = await installation.start(['sh', '-c', 'exec "$0" "$@" >/dev/full']);
  installation.configure('this: is wrong');
  server.signal('SIGHUP');
  // The fault is an error, which is written at once.
  await vi.waitUntil(async () => (await healthOf(server)).status === 'degraded', { timeout: 60_000 });
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
    const told = join(installation.dataDir, 'halved');
    const server = await installation.start(['env', `LD_PRELOAD=${library}`, `SHORT_WRITES=${told}`]);
    for (let count = 0; count < 20; count++)
      expect(customer.idIn(await customer.send(server))).not.toBeNull();
    await customer.untilDelivered(sink);
    // The database's writes were among them, and the spool's.
    for (const call of ['pwrite', 'pwritev']) expect(existsSync(`${told}-${call}`), call).toBe(true);
    sink.script = { MAIL: () => '451 4.3.0 not now' };
    for (let count = 0; count < 20; count++)
      expect(customer.idIn(await customer.send(server))).not.toBeNull();
    await server.end('SIGKILL');
    sink.script = {};
    // What arrives now was read from the files.
    const next = await installation.start();
    await customer.untilDelivered(sink);
    for (const { content } of sink.messages) expect(content.includes(LETTER.text)).toBe(true);
    await untilHealthy(next);
  });
});

describeWith(['prlimit'], 'files', () => {
  test.concurrent(
    'no more can be opened: what is acknowledged waits until they can',
    TIMEOUT,
    async (context) => {
      const { sink, installation, customer } = await world(context, 'HTTP');
      const server = await installation.start();
      const { pid, smtp } = server.runtime;
      await customer.send(server);
      await customer.untilDelivered(sink);
      limitFiles(pid, firstFree(pid));
      // The customer's connection is there already; others cannot be.
      for (let count = 0; count < 5; count++) await customer.send(server).catch(() => null);
      const stranger = await SmtpClient.connect(smtp[0] ?? 0, { test: context });
      expect(await stranger.rest()).toBe('');
      limitFiles(pid, 1000);
      await customer.sendUntilAcknowledged(server);
      await customer.untilDelivered(sink);
      await untilHealthy(server);
      expect(await server.end('SIGTERM')).toBe(0);
    },
  );
});

/**
 * When the machine failed, by the server's own log, in ms since 1970: who is refused may hear of it much later, where the
 * machine is busy.
 */
function failedAt({ output }: RunningServer): number {
  const line = output.split('\n').find((text) => text.includes('"event":"machine.failed"')) ?? '{}';
  const { time } = JSON.parse(line) as { readonly time?: string };
  return Date.parse(time ?? '');
}

/** How many files a process may have open from now on: each has a number below that. */
function limitFiles(pid: number, count: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${count}:`]);
}

/** The number that the next file of a process would have. */
function firstFree(pid: number): number {
  const taken = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let number = 0;
  while (taken.has(number)) number++;
  return number;
}
