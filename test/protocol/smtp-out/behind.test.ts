/** A message begins behind the end of the one before, over the same connection, and neither's fate is the other's. */
import { expect, test } from 'vitest';
import type { TransportResult } from '../../../src/transport/transport.ts';
import { HANG, SINK_EXTENSIONS, type SinkAction, type SinkEvent } from '../../peers/smtp-sink-script.ts';
import { advanceUntil, type Mail, only, type Rig, type RigOptions, startRig } from './rig.ts';

const FRONT = 'front@example.net';
const BEHIND = 'behind@example.net';
const numbered = ({ argument }: SinkEvent) => `250 2.0.0 number ${argument}`;

/** Over one connection, whose first message has been answered at once. */
async function quickRig(options: RigOptions = {}): Promise<Rig> {
  const rig = await startRig({ pool: { maxConnections: 1 }, ...options });
  expect(only(await rig.deliver()).kind).toBe('delivered');
  rig.sink.script = { DOT: numbered };
  return rig;
}

/** Delivers two, the second from when the first says that it is sent; if it does not, once it has ended. `then`: done as soon as it is. */
async function two(rig: Rig, second: Mail = {}, then: () => void = () => {}) {
  let behind: Promise<TransportResult> | null = null;
  const begin = () => {
    behind ??= rig.deliver({ to: [BEHIND], ...second });
    return behind;
  };
  let wasEarly = false;
  const sent = () => {
    wasEarly = true;
    void begin();
    then();
  };
  const front = await rig.deliver({ to: [FRONT], sent });
  return { front: only(front), behind: only(await begin()), wasEarly };
}

/** What the sink does at the end of the message in front. */
function atFront(action: SinkAction) {
  return (event: SinkEvent) => (event.session.to.includes(FRONT) ? action : numbered(event));
}

test('each gets its own answer, over one connection', async () => {
  const rig = await quickRig();
  const { front, behind, wasEarly } = await two(rig);
  expect(wasEarly).toBe(true);
  expect([front, behind]).toMatchObject([
    { kind: 'delivered', text: expect.stringContaining('number 2') },
    { kind: 'delivered', text: expect.stringContaining('number 3') },
  ]);
  expect(rig.sink.connections).toBe(1);
  expect(rig.sink.messages.map(({ to }) => to)).toEqual([['one@example.net'], [FRONT], [BEHIND]]);
});

test('one after the other begins behind the one before', async () => {
  const rig = await quickRig();
  const results: Promise<TransportResult>[] = [];
  const next = (): void => {
    if (results.length < 20) results.push(rig.deliver({ sent: next }));
  };
  next();
  while (results.length < 20) await results.at(-1);
  for (const result of await Promise.all(results)) expect(only(result).kind).toBe('delivered');
  expect(rig.sink.connections).toBe(1);
});

test.each<[string, SinkAction, string]>([
  ['is refused', '550 5.7.1 no', 'rejected'],
  ['is put off', '451 4.7.1 later', 'deferred'],
  ['gets no answer, the connection is lost', { close: 'reset' }, 'unknown'],
  ['ends the session', { reply: '421 4.3.2 going', close: 'end' }, 'deferred'],
])('where the one in front %s, the other is sent by another connection', async (_, action, kind) => {
  const rig = await quickRig();
  rig.sink.script = { DOT: atFront(action) };
  const { front, behind, wasEarly } = await two(rig);
  expect([wasEarly, front.kind, behind.kind, behind.hopFailed]).toEqual([true, kind, 'delivered', false]);
  expect(rig.sink.connections).toBe(2);
  expect(rig.sink.messages.filter(({ to }) => to.includes(BEHIND))).toHaveLength(1);
});

test('where the one in front is answered too late, the other is sent by another connection', async () => {
  const rig = await quickRig({ timeouts: { dot: 1000 } });
  rig.sink.script = { DOT: atFront({ after: new Promise(() => {}) }) };
  const { front, behind } = await advanceUntil(rig.clock, 100, two(rig));
  expect([front.kind, front.cause, behind.kind]).toEqual(['unknown', 'timeout_dot', 'delivered']);
  expect(rig.sink.connections).toBe(2);
});

test.each(['signal', 'refused'] as const)(
  'the one behind can be stopped (%s), and the one in front has its answer',
  async (cause) => {
    const rig = await quickRig();
    const stop = new AbortController();
    const { front, behind, wasEarly } = await two(rig, { [cause]: stop.signal }, () => stop.abort());
    expect([wasEarly, front.kind, behind.kind, behind.hopFailed]).toEqual([
      true,
      'delivered',
      'deferred',
      false,
    ]);
    expect(rig.sink.messages.some(({ to }) => to.includes(BEHIND))).toBe(false);
    expect(only(await rig.deliver()).kind).toBe('delivered');
    expect(rig.sink.connections).toBe(2);
  },
);

test('one that may not be sent in the end is not', async () => {
  const rig = await quickRig();
  const { front, behind } = await two(rig, { gate: async () => false });
  expect([front.kind, behind.kind]).toEqual(['delivered', 'deferred']);
  expect(rig.sink.messages.some(({ to }) => to.includes(BEHIND))).toBe(false);
});

test('contents that must be converted first find the connection when they are', async () => {
  const extensions = SINK_EXTENSIONS.filter((keyword) => keyword !== '8BITMIME');
  const rig = await quickRig({ sink: { extensions } });
  const content =
    'MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\nä\r\n';
  const { front, behind } = await two(rig, { content, flags: { eightBit: true } });
  expect([front.kind, behind.kind]).toEqual(['delivered', 'delivered']);
  expect(rig.sink.connections).toBe(1);
});

test('a hop is not written ahead to that knows no PIPELINING', async () => {
  const extensions = SINK_EXTENSIONS.filter((keyword) => keyword !== 'PIPELINING');
  expect((await two(await quickRig({ sink: { extensions } }))).wasEarly).toBe(false);
});

test('nor one that answers late', async () => {
  const rig = await quickRig();
  rig.sink.script = { DOT: { after: rig.clock.sleep(51), reply: '250 2.0.0 late' } };
  await advanceUntil(rig.clock, 51, rig.deliver());
  expect((await two(rig)).wasEarly).toBe(false);
});

test('nor, for a while, one that has refused a message so', async () => {
  const rig = await quickRig();
  rig.sink.script = { DOT: atFront('550 5.7.1 no') };
  await two(rig);
  rig.sink.script = {};
  await rig.deliver();
  expect((await two(rig)).wasEarly).toBe(false);
  await rig.clock.advance(10_000);
  expect((await two(rig)).wasEarly).toBe(true);
});

test.each<[string, SinkAction]>([
  ['ends the session there', { close: 'end' }],
  ['has had as many messages as it takes', '452 4.5.3 Too many messages in this session'],
])('nor, for a while, one that takes the message in front and %s', async (_, action) => {
  const rig = await quickRig();
  const MAIL = ({ session }: SinkEvent) => (session.messages === 2 ? action : undefined);
  rig.sink.script = { DOT: numbered, MAIL };
  const { front, behind } = await two(rig);
  expect([front.kind, behind.kind, rig.sink.connections]).toEqual(['delivered', 'delivered', 2]);
  expect((await two(rig)).wasEarly).toBe(false);
  await rig.clock.advance(10_000);
  expect((await two(rig)).wasEarly).toBe(true);
});

test('nor, for a day, one that throws away what is behind a message', async () => {
  const rig = await quickRig({ timeouts: { mail: 1000 } });
  const MAIL = ({ session }: SinkEvent) => (session.messages === 2 ? HANG : undefined);
  rig.sink.script = { DOT: numbered, MAIL };
  const { front, behind } = await advanceUntil(rig.clock, 100, two(rig));
  expect([front.kind, behind.kind, behind.hopFailed]).toEqual(['delivered', 'delivered', false]);
  rig.sink.script = {};
  await rig.clock.advance(23 * 3_600_000);
  await rig.deliver();
  expect((await two(rig)).wasEarly).toBe(false);
  await rig.clock.advance(3_600_000);
  await rig.deliver();
  expect((await two(rig)).wasEarly).toBe(true);
});

test('a peer that may want content by now is told nothing else', async () => {
  const rig = await quickRig();
  // It refuses DATA here, so that it reads as a command what another would take for content.
  const DATA = ({ session }: SinkEvent) => (session.messages === 2 ? '451 4.3.0 not now' : undefined);
  rig.sink.script = { DOT: atFront('550 5.7.1 no'), DATA };
  await two(rig);
  const heard = rig.sink.commands.filter(({ session }) => session === rig.sink.commands[0]?.session);
  expect(heard.at(-1)?.line).toBe('DATA');
});

test('one that says nothing leaves the connection as it is', async () => {
  const rig = await quickRig({ sink: { extensions: [...SINK_EXTENSIONS, 'SIZE 1000'] } });
  const { front, behind, wasEarly } = await two(rig, { sizeBytes: 1001 });
  expect([wasEarly, front.kind, behind.kind]).toEqual([true, 'delivered', 'rejected']);
  await rig.deliver();
  expect(rig.sink.connections).toBe(1);
});

test('nor by a connection that has had as many messages as it may', async () => {
  const rig = await quickRig({ pool: { maxConnections: 1, maxTransactions: 2 } });
  const { front, behind, wasEarly } = await two(rig);
  expect([front.kind, behind.kind, wasEarly]).toEqual(['delivered', 'delivered', false]);
});

test('nor where there is room for a connection of its own', async () => {
  const rig = await quickRig({ pool: { maxConnections: 2 } });
  expect((await two(rig)).wasEarly).toBe(false);
});
