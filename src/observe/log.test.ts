import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createLog, hideAddresses, type LogOptions, Output } from './log.ts';

const AT = Date.UTC(2026, 10, 20, 11, 15, 0, 123);

function capture(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({
    format: 'json',
    level: 'info',
    addresses: 'domain',
    clock: { wall: () => AT },
    destination: { write: (line) => lines.push(line) },
    ...options,
  });
  return { log, lines };
}

test('a JSON line has the level, the time in RFC 3339, the fields and the event', () => {
  const { log, lines } = capture();
  log.warn('relay.paused', { relay: 'ses', code: 421, missing: undefined });
  expect(lines).toEqual([
    '{"level":"warn","time":"2026-11-20T11:15:00.123Z","relay":"ses","code":421,"event":"relay.paused"}\n',
  ]);
});

test('JSON has values of every kind, and texts cannot end a line', () => {
  const { log, lines } = capture();
  log.info('x', {
    text: 'a "quote"\n\u2028',
    none: null,
    yes: true,
    half: 0.5,
    endless: Infinity,
    no: undefined,
  });
  log.info('y');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { text: 'a "quote"\n\u2028', none: null, yes: true, half: 0.5, endless: null, event: 'x' },
    { event: 'y' },
  ]);
  expect(lines.join('').split('\n')).toHaveLength(3);
});

test('the time moves on', () => {
  let now = AT;
  const { log, lines } = capture({ clock: { wall: () => now } });
  log.info('a');
  now += 1;
  log.info('b');
  expect(lines.map((line) => JSON.parse(line).time)).toEqual([
    '2026-11-20T11:15:00.123Z',
    '2026-11-20T11:15:00.124Z',
  ]);
});

test.each([
  ['debug', ['debug', 'info', 'warn', 'error']],
  ['info', ['info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['error', ['error']],
] as const)('level %s lets through what is as serious', (level, expected) => {
  const { log, lines } = capture({ level });
  log.debug('x');
  log.info('x');
  log.warn('x');
  log.error('x');
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(expected);
});

test.each([
  ['full', 'joe@example.com', '<joe@example.com> unknown'],
  ['domain', '*@example.com', '<*@example.com> unknown'],
  ['none', '*', '<*> unknown'],
] as const)('log.addresses %s holds for every field', (addresses, address, reply) => {
  const { log, lines } = capture({ addresses });
  log.info('x', { address: 'joe@example.com', reply: '<joe@example.com> unknown' });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ address, reply });
});

test('level and address detail change while the service runs', () => {
  const { log, lines } = capture();
  log.configure({ level: 'debug', addresses: 'full' });
  log.debug('x', { address: 'joe@example.com' });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'debug', address: 'joe@example.com' });
});

test('warnings and errors are written at once, the rest when the buffer is full or flushed', () => {
  let flushes = 0;
  const { log } = capture({ destination: { write() {}, flushSync: () => flushes++ } });
  log.info('x');
  expect(flushes).toBe(0);
  log.warn('x');
  log.error('x');
  expect(flushes).toBe(2);
  log.flush();
  expect(flushes).toBe(3);
});

test('text is for people, and cannot steer their terminal', () => {
  const { log, lines } = capture({ format: 'text' });
  log.info('delivery.failed', { relay: 'ses', reply: 'no \u001b[31m\u009b31m\u202e\nfoo=bar', none: null });
  expect(lines).toEqual([
    '2026-11-20T11:15:00.123Z info  delivery.failed relay=ses ' +
      'reply="no \\u001b[31m\\u009b31m\\u202e\\nfoo=bar"\n',
  ]);
});

test.each([
  ['joe@example.com', '*@example.com', '*'],
  ['550 5.1.1 <joe@example.com>: unknown', '550 5.1.1 <*@example.com>: unknown', '550 5.1.1 <*>: unknown'],
  ['a@x.org,b@y.org', '*@x.org,*@y.org', '*,*'],
  ["o'brien+tag=home@x.org", '*@x.org', '*'],
  ['"joe smith"@x.org', '*@x.org', '*'],
  ['"a\\"b"@x.org', '*@x.org', '*'],
  ['jürgen@bücher.example', '*@bücher.example', '*'],
  ['joe@[192.0.2.1] refused', '*@[192.0.2.1] refused', '* refused'],
  ['mailto:joe@x.org', 'mailto:*@x.org', 'mailto:*'],
  ['no address here', 'no address here', 'no address here'],
])('%s', (text, domain, none) => {
  expect(hideAddresses(text, 'full')).toBe(text);
  expect(hideAddresses(text, 'domain')).toBe(domain);
  expect(hideAddresses(text, 'none')).toBe(none);
});

test('a long hostile text is searched in linear time', () => {
  for (const piece of ['a', '"', '\\"', 'a@', '@', '"a'])
    expect(hideAddresses(piece.repeat(100_000), 'none').length).toBeLessThanOrEqual(200_000);
});

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
