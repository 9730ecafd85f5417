/** The disk has no room, or can only be read (contract §15): what was acknowledged is never lost. */
import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { describeIf, describeWith } from '../peers/need.ts';
import { healthOf } from './customer.ts';
import {
  canMount,
  configuration,
  expectRefusal,
  FULL,
  mountSmallDisk,
  overEachWay,
  STOPPED,
  suspendsAndResumes,
  world,
} from './machine.ts';
import { strike } from './under-fault.ts';

const TIMEOUT = { timeout: 180_000 };

describeWith(['strace'], 'a disk without room', () => {
  test.concurrent.for(
    overEachWay([
      ['the spool', 'pwritev:error=ENOSPC'],
      // The third: in the middle of a transaction.
      ['the database', 'pwrite64:error=ENOSPC:when=3+'],
    ]),
  )(
    '%s is full, mail over %s: refused until there is room, and the process goes on',
    TIMEOUT,
    async ([, way, fault], context) => {
      const { sink, installation, customer } = await world(context, way);
      const server = await installation.start();
      await customer.send(server);
      const makeRoom = await strike(server, fault);
      await suspendsAndResumes(server, customer, sink, makeRoom);
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
    const filler = fill(installation.dataDir, bytes);
    await suspendsAndResumes(server, customer, sink, () => rmSync(filler));
    expect(await server.end('SIGTERM')).toBe(0);
  });
});

describeIf(canMount(), 'mount', 'a disk that can only be read', () => {
  test.concurrent.for(['HTTP', 'SMTP'] as const)(
    'from one moment to the next, mail over %s: all stops, nothing starts on it, and all is there when it can be written',
    TIMEOUT,
    async (way, context) => {
      const { sink, installation, customer } = await world(context, way, mountSmallDisk);
      const { dataDir } = installation;
      context.onTestFinished(() => {
        execFileSync('umount', ['--lazy', dataDir]);
      });
      const remount = (how: string) => execFileSync('mount', ['-o', `remount,${how}`, dataDir]);
      const server = await installation.start();
      await customer.send(server);
      // The system itself does not turn a disk read-only while files on it are open for writing, unless that fails.
      await strike(server, 'pwrite64,pwritev,ftruncate,unlink,unlinkat,rename:error=EROFS');
      expectRefusal(await customer.sendUntilRefused(server), STOPPED);
      expect(await healthOf(server)).toMatchObject({ httpStatus: 503, status: 'critical' });
      expect(await server.exited).toBe(74);
      remount('ro');
      const refused = await installation.run('serve');
      expect(refused).toMatchObject({
        code: 74,
        stderr: expect.stringMatching(/The machine failed: EROFS/),
      });
      remount('rw');
      const next = await installation.start();
      await customer.untilDelivered(sink);
      expect(await next.end('SIGTERM')).toBe(0);
    },
  );
});

describeIf(canMount(), 'mount', 'a start on a full disk', () => {
  test.concurrent('ends with what to do, and loses nothing', TIMEOUT, async (context) => {
    const { sink, installation, customer } = await world(context, 'HTTP', mountSmallDisk);
    context.onTestFinished(() => {
      execFileSync('umount', ['--lazy', installation.dataDir]);
    });
    const server = await installation.start();
    sink.script = { CONNECT: '421 4.3.2 Not now' };
    await customer.sendUntilAcknowledged(server);
    await server.end('SIGKILL');
    const filler = fill(installation.dataDir, 0);
    expect(await installation.run('serve')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^There is not enough space to start: .+\. Free some space where .+, and start again/,
      ),
    });
    rmSync(filler);
    sink.script = {};
    const next = await installation.start();
    await customer.untilDelivered(sink);
    expect(await next.end('SIGTERM')).toBe(0);
  });
});

/** Mail that stays here, in the inbox, needs room like any other. */
describeIf(canMount(), 'mount', 'a full disk and the inbox', () => {
  test.concurrent('is refused until there is room', TIMEOUT, async (context) => {
    const { sink, installation, customer } = await world(context, 'HTTP', mountSmallDisk);
    context.onTestFinished(() => {
      execFileSync('umount', ['--lazy', installation.dataDir]);
    });
    installation.configure(configuration(sink).replace('default_relay: sink', 'default_relay: inbox'));
    const server = await installation.start();
    await customer.send(server);
    const filler = fill(installation.dataDir, 20_480);
    expectRefusal(await customer.sendUntilRefused(server), FULL);
    rmSync(filler);
    await customer.sendUntilAcknowledged(server);
    const ids = [...customer.acknowledged.values()];
    await vi.waitFor(
      async () => {
        const { stdout } = await installation.run('messages', 'list', '--limit', '200', '--json');
        const { messages } = JSON.parse(stdout) as { messages: { id: string; status: string }[] };
        const there = new Map(messages.map(({ id, status }) => [id, status]));
        expect(ids.map((id) => there.get(id))).toEqual(ids.map(() => 'delivered'));
      },
      { timeout: 60_000 },
    );
    expect(sink.connections).toBe(0);
    expect(await server.end('SIGTERM')).toBe(0);
  });
});

/** Fills a disk but for so many bytes, whoever else writes to it meanwhile; the file that does it. */
function fill(folder: string, bytesLeft: number): string {
  const filler = join(folder, 'filler');
  const file = openSync(filler, 'w');
  const piece = Buffer.alloc(4096, 1);
  let size = 0;
  try {
    for (;;) size += writeSync(file, piece);
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
    ftruncateSync(file, size - bytesLeft);
  } finally {
    closeSync(file);
  }
  return filler;
}
