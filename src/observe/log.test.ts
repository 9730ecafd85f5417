import { expect, test } from 'vitest';
import { createLog, type LogOptions } from './log.ts';

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
