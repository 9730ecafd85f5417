/** Connections are reused while they are good, bounded, and never mistaken for one another. */
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { HANG, SINK_EXTENSIONS, type SinkEvent } from '../../peers/smtp-sink-script.ts';
import { kinds, only, startRig } from './rig.ts';

const verbs = (commands: readonly { line: string }[]) => commands.map(({ line }) => line.split(/[ :]/)[0]);

test('one connection serves one message after another, without RSET between them', async () => {
  const rig = await startRig();
  for (let i = 0; i < 3; i++) expect(only(await rig.deliver()).kind).toBe('delivered');
  expect(rig.sink.connections).toBe(1);
  expect(verbs(rig.sink.commands)).not.toContain('RSET');
  expect(rig.transport.connections()).toBe(1);
});

test('RSET comes after a failure, and the connection is used again', async () => {
  const RCPT = ({ argument }: SinkEvent) => (argument.includes('bad') ? '550 5.1.1 no' : undefined);
  const rig = await startRig({ sink: { script: { RCPT } }, pool: { maxConnections: 1 } });
  await rig.deliver({ to: ['bad@x.test'] });
  expect(only(await rig.deliver()).kind).toBe('delivered');
  expect(verbs(rig.sink.commands)).toEqual(['EHLO', 'MAIL', 'RCPT', 'DATA', 'RSET', 'MAIL', 'RCPT', 'DATA']);
  expect(rig.sink.connections).toBe(1);
});

test('a connection whose RSET is refused is not used again', async () => {
  const rig = await startRig({
    sink: { script: { RSET: '500 5.5.1 no', RCPT: '550 5.1.1 no' } },
    pool: { maxConnections: 1 },
  });
  await rig.deliver();
  await rig.deliver();
  expect(rig.sink.connections).toBe(2);
});

test('never more connections than allowed; the rest waits its turn', async () => {
  const rig = await startRig({ pool: { maxConnections: 2 } });
  let most = 0;
  rig.sink.script.MAIL = () => {
    most = Math.max(most, rig.sink.open);
    return undefined;
  };
  const results = await Promise.all(Array.from({ length: 12 }, () => rig.deliver()));
  expect(results.map((result) => only(result).kind)).toEqual(Array(12).fill('delivered'));
  expect(rig.sink.connections).toBe(2);
  expect(most).toBe(2);
});

test('one that waits for its turn can be stopped', async () => {
  const rig = await startRig({ pool: { maxConnections: 1 } });
  const gate = Promise.withResolvers<boolean>();
  const first = rig.deliver({ gate: () => gate.promise });
  const stop = new AbortController();
  const second = rig.deliver({ signal: stop.signal });
  stop.abort();
  expect(only(await second)).toMatchObject({ kind: 'deferred', cause: 'aborted', hopFailed: false });
  gate.resolve(true);
  expect(only(await first).kind).toBe('delivered');
});

test('one that waits opens its own connection when the one before it breaks', async () => {
  const rig = await startRig({ pool: { maxConnections: 1 }, sink: { script: { DOT: { close: 'reset' } } } });
  const results = await Promise.all([rig.deliver(), rig.deliver()]);
  expect(results.map((result) => only(result).kind)).toEqual(['unknown', 'unknown']);
  expect(rig.sink.connections).toBe(2);
});

test('a connection is closed with QUIT after its share of messages', async () => {
  const rig = await startRig({ pool: { maxTransactions: 2 } });
  for (let i = 0; i < 3; i++) await rig.deliver();
  expect(rig.sink.messages.map(({ session }) => session)).toEqual([1, 1, 2]);
  expect(rig.sink.commands.filter(({ line }) => line === 'QUIT')).toEqual([{ session: 1, line: 'QUIT' }]);
});

test('an idle connection is closed with QUIT when its time is over', async () => {
  const rig = await startRig({ timeouts: { idle: 5000 } });
  await rig.deliver();
  await rig.clock.advance(4999);
  expect(rig.transport.connections()).toBe(1);
  await rig.clock.advance(1);
  await rig.sink.until(() => rig.sink.open === 0);
  expect(rig.sink.commands.at(-1)?.line).toBe('QUIT');
});

test('a server that does not answer QUIT is left', async () => {
  const rig = await startRig({ sink: { script: { QUIT: HANG } } });
  await rig.deliver();
  const closed = rig.transport.close();
  await rig.clock.advance(10_000);
  await closed;
  expect(rig.transport.connections()).toBe(0);
});

test('closing waits for what is at work', async () => {
  const rig = await startRig();
  const gate = Promise.withResolvers<boolean>();
  const asked = Promise.withResolvers<void>();
  const delivery = rig.deliver({
    gate: () => {
      asked.resolve();
      return gate.promise;
    },
  });
  await asked.promise;
  const closed = rig.transport.close();
  gate.resolve(true);
  expect(only(await delivery).kind).toBe('delivered');
  await closed;
  expect(rig.transport.connections()).toBe(0);
});

test.each([SINK_EXTENSIONS, []])(
  'a reused connection that turns out dead is replaced once, silently (%j)',
  async (...extensions: string[]) => {
    const rig = await startRig({ sink: { extensions } });
    await rig.deliver();
    rig.sink.script.MAIL = ({ session }) => (session.number === 1 ? { close: 'reset' } : undefined);
    const result = await rig.deliver();
    expect(only(result)).toMatchObject({ kind: 'delivered', hopFailed: false });
    expect(result.evidence.reused).toBe(false);
    expect(rig.sink.messages.map(({ session }) => session)).toEqual([1, 2]);
  },
);

test('a reused connection that says 421 first is replaced too; a fresh one that does is ill', async () => {
  const rig = await startRig();
  await rig.deliver();
  rig.sink.script.MAIL = ({ session }) =>
    session.number === 1 ? { reply: '421 4.4.2 idle too long', close: 'end' } : undefined;
  expect(only(await rig.deliver())).toMatchObject({ kind: 'delivered', hopFailed: false });
  rig.sink.script.MAIL = { reply: '421 4.3.2 going down', close: 'end' };
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', code: 421, hopFailed: true });
  expect(rig.sink.connections).toBe(3);
});

test.each([SINK_EXTENSIONS, []])(
  'a connection that has had all the messages it takes is left, and the next one gets the message (%j)',
  async (...extensions: string[]) => {
    const rig = await startRig({ sink: { extensions }, pool: { maxConnections: 1 } });
    rig.sink.script.MAIL = ({ session }) =>
      session.messages >= 2 ? '452 4.5.3 Too many messages in this session' : undefined;
    for (let message = 1; message <= 5; message++)
      expect(only(await rig.deliver())).toMatchObject({ kind: 'delivered', hopFailed: false });
    expect(rig.sink.messages.map(({ session }) => session)).toEqual([1, 1, 2, 2, 3]);
    expect(rig.sink.commands.filter(({ line }) => line === 'QUIT').length).toBe(2);
  },
);

test.each([
  [0, '452 4.5.3 Too many'],
  [1, '452 4.3.1 Insufficient system storage'],
])('after %i messages, %j is about the message, and the connection stays', async (before, reply) => {
  const rig = await startRig();
  for (let message = 0; message < before; message++) await rig.deliver();
  rig.sink.script.MAIL = reply;
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', code: 452, hopFailed: false });
  expect(rig.sink.connections).toBe(1);
  expect(rig.transport.connections()).toBe(1);
});

test('a replacement has room though all connections are taken by idle ones', async () => {
  const rig = await startRig({ pool: { maxConnections: 2 } });
  await Promise.all([rig.deliver(), rig.deliver()]);
  expect(rig.transport.connections()).toBe(2);
  rig.sink.script.MAIL = ({ session }) => (session.number <= 2 ? { close: 'reset' } : undefined);
  expect(only(await rig.deliver()).kind).toBe('delivered');
  expect(rig.sink.messages.map(({ session }) => session)).toContain(3);
});

test('it is replaced only once', async () => {
  const rig = await startRig();
  await rig.deliver();
  rig.sink.script.MAIL = { close: 'reset' };
  expect(only(await rig.deliver())).toMatchObject({
    kind: 'deferred',
    cause: 'connection_lost',
    hopFailed: true,
  });
  expect(rig.sink.connections).toBe(2);
});

test('a connection lost after an answer is not tried again', async () => {
  const rig = await startRig({ sink: { extensions: [] } });
  await rig.deliver();
  rig.sink.script.RCPT = { close: 'reset' };
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'connection_lost' });
  expect(rig.sink.connections).toBe(1);
});

test('a connection that speaks out of turn is not used again', async () => {
  const rig = await startRig({ sink: { script: { DOT: '250 2.0.0 ok\r\n250 2.0.0 and again' } } });
  for (let i = 0; i < 2; i++) expect(only(await rig.deliver()).kind).toBe('delivered');
  expect(rig.sink.connections).toBe(2);
});

test('an idle connection that the server closes is forgotten', async () => {
  const rig = await startRig();
  await rig.deliver();
  rig.sink.cut();
  await rig.sink.until(() => rig.sink.open === 0);
  expect(kinds(await rig.deliver())).toEqual(['delivered']);
  expect(rig.sink.connections).toBe(2);
});

test('nothing is left on a signal that many attempts share', async () => {
  const rig = await startRig({ pool: { maxConnections: 2 } });
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 6 }, () => rig.deliver({ signal })));
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
