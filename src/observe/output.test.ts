import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { Output } from './output.ts';

const MIB = 1024 * 1024;

function temporary(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-output-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, name);
}

function open(path: string, flags: string | number): number {
  const fd = openSync(path, flags);
  onTestFinished(() => closeSync(fd));
  return fd;
}

test('lines gather until they fill a buffer, or a moment has passed, or they are flushed', async () => {
  const path = temporary('log');
  const clock = new ManualClock();
  const output = new Output(open(path, 'w'), clock);
  output.write('one\n');
  expect(readFileSync(path, 'utf8')).toBe('');
  await clock.advance(100);
  expect(readFileSync(path, 'utf8')).toBe('one\n');
  output.write('two\n');
  output.flushSync();
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  const long = `${'x'.repeat(8192)}\n`;
  output.write(long);
  expect(readFileSync(path, 'utf8')).toBe(`one\ntwo\n${long}`);
});

test('what a full pipe does not take follows once there is a reader, up to a bound', async () => {
  const path = temporary('pipe');
  execFileSync('mkfifo', [path]);
  const clock = new ManualClock();
  const fd = open(path, constants.O_RDWR | constants.O_NONBLOCK);
  const output = new Output(fd, clock);
  const line = `${'ü'.repeat(511)}\n`;
  for (let count = 0; count < 4096; count++) output.write(line);
  const read = Buffer.alloc(4 * MIB);
  let size = 0;
  for (let rounds = 0; rounds < 100; rounds++) {
    size += readWaiting(fd, read.subarray(size));
    await clock.advance(100);
  }
  const lines = read.toString('utf8', 0, size).split('\n').slice(0, -1);
  expect(new Set(lines)).toEqual(new Set([line.trimEnd()]));
  expect(size).toBeGreaterThan(MIB);
  expect(size).toBeLessThan(2 * MIB);
});

test('what cannot be written is dropped', () => {
  const output = new Output(open('/dev/full', 'w'), new ManualClock());
  output.write('lost\n');
  expect(() => output.flushSync()).not.toThrow();
});

/** What lies in a pipe now. */
function readWaiting(fd: number, target: Uint8Array): number {
  let size = 0;
  try {
    for (;;) size += readSync(fd, target, size, target.length - size, null);
  } catch {
    return size;
  }
}
