import { linkSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation, MAX_REQUEST_BYTES, type Running } from '../../test/support/installation.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { socketFile } from './socket.ts';

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

test('the control socket is for the owner alone, and goes with the server', async () => {
  const server = await here.startServer();
  expect(statSync(socketFile(here.dataDir)).mode & 0o777).toBe(0o600);
  await server.close();
  expect(() => statSync(socketFile(here.dataDir))).toThrow('ENOENT');
});

test('it works where the path is too long for the address of a socket', async () => {
  const deep = new Installation('a'.repeat(120));
  const server = await deep.startServer();
  try {
    expect((await deep.waybill(['keys', 'list'])).status).toBe(0);
  } finally {
    await server.close();
    deep.remove();
  }
});

test('it refuses what is too large', async () => {
  const server = await here.startServer();
  try {
    const file = join(here.folder, 'large');
    writeFileSync(file, Buffer.alloc(2 * MAX_REQUEST_BYTES));
    const letter = ['--from', 'a@example.org', '--to', 'b@example.net', '--attach', file];
    const { status, err } = await here.waybill(['send', ...letter]);
    expect([status, err]).toEqual([2, expect.stringContaining(`larger than ${MAX_REQUEST_BYTES} bytes`)]);
  } finally {
    await server.close();
  }
});

test('one that a killed server left behind does not matter', async () => {
  const file = socketFile(here.dataDir);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(file, resolve));
  // Closing removes the file, which a killed process cannot do.
  linkSync(file, `${file}.kept`);
  await new Promise((resolve) => server.close(resolve));
  renameSync(`${file}.kept`, file);
  expect((await here.waybill(['keys', 'create', 'shop'])).status).toBe(0);
});

test('a command that finds the directory taken by a server that is starting asks that server', async () => {
  const opened = await here.open();
  let control: Running | null = null;
  let now = 0;
  const clock: Clock = {
    ...systemClock,
    mono: () => now,
    // The server begins to listen while the command waits for the directory.
    sleep: async (ms) => {
      control ??= await here.listen(opened);
      now += 1000 * ms;
    },
  };
  try {
    expect((await here.waybill(['keys', 'create', 'shop'], { clock })).status).toBe(0);
    expect(control).not.toBeNull();
  } finally {
    await (control as Running | null)?.close();
    await opened.close();
  }
});

test('a command that never gets the directory says who holds it', async () => {
  const opened = await here.open();
  let now = 0;
  const sleep = async (ms: number) => {
    now += 1000 * ms;
  };
  try {
    const { status, err } = await here.waybill(['keys', 'list'], {
      clock: { ...systemClock, mono: () => now, sleep },
    });
    expect([status, err]).toEqual([1, expect.stringContaining(`is in use by process ${process.pid}`)]);
  } finally {
    await opened.close();
  }
});
