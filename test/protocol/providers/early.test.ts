/** Answers that come before the request is whole: what says that it took a message must have had all of it. */
import { createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { yieldToLoop } from '../../../src/lib/clock.ts';
import { advanceUntil, linesOf, only } from '../smtp-out/rig.ts';
import { startPlain } from './plain.ts';
import type { ProviderRig, ProviderRigOptions } from './rig.ts';

/** More than any socket takes at once. */
const LARGE = [linesOf(8_000_000)];
const LENGTH = LARGE[0]?.length ?? 0;
const NO_BODY = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const TAKEN = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{"id":1}';
const LAST = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
/** Turns of the loop in which whoever sends has seen all that there is to see. */
const TURNS = 50;

describe('a 2xx on the head of a request', () => {
  test.each([
    ['nothing', NO_BODY],
    ['a body', TAKEN],
    ['the end of the connection', LAST],
    ['its body after a while', `${TAKEN.slice(0, -4)}`],
  ])('with %s: the rest is sent all the same', async (what, answer) => {
    const server = await startEarly(answer, async (socket) => {
      await turns();
      socket.resume();
      if (what !== 'its body after a while') return;
      await server.whole;
      socket.write(TAKEN.slice(-4));
    });
    const rig = await startTo(server);
    expect(only(await rig.deliver({ content: LARGE }))).toMatchObject({ kind: 'delivered', code: 200 });
    await server.whole;
    expect(server.received()).toBe(LENGTH);
  });

  test('leaves the connection usable', async () => {
    const server = await startEarly(NO_BODY, (socket) => void socket.resume());
    const rig = await startTo(server);
    await rig.deliver({ content: LARGE });
    expect(rig.transport.connections()).toBe(1);
  });

  test.each([
    ['closes', (socket: Socket) => void socket.destroy()],
    ['says that it writes no more, and closes', (socket: Socket) => void socket.end(() => socket.destroy())],
  ])('from a server that %s: nothing was taken', async (_what, then) => {
    for (const answer of [NO_BODY, TAKEN, LAST]) {
      const rig = await startTo(await startEarly(answer, (socket) => turns().then(() => then(socket))));
      const result = await rig.deliver({ content: LARGE });
      expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'connection_lost', hopFailed: true });
      expect(rig.transport.connections()).toBe(0);
    }
  });

  test('from a server that reads no more: nothing was taken', async () => {
    const server = await startEarly(NO_BODY, () => undefined);
    const rig = await startTo(server, { timeouts: { send: 1000 } });
    const result = await advanceUntil(rig.clock, 100, rig.deliver({ content: LARGE }));
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'timeout_send', hopFailed: true });
  });

  test('from a server that closes when it has all, in the middle of its answer: nobody knows', async () => {
    const server = await startEarly(TAKEN.slice(0, -4), async (socket) => {
      socket.resume();
      await server.whole;
      socket.destroy();
    });
    const rig = await startTo(server);
    expect(only(await rig.deliver({ content: LARGE }))).toMatchObject({
      kind: 'unknown',
      cause: 'connection_lost',
    });
  });

  test('when we are told to stop: nothing was taken', async () => {
    const stop = new AbortController();
    const server = await startEarly(NO_BODY, () => turns().then(() => stop.abort()));
    const rig = await startTo(server);
    const result = await rig.deliver({ content: LARGE, signal: stop.signal });
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'aborted', hopFailed: false });
  });
});

/** A server that answers on a request's head. */
interface EarlyServer {
  readonly url: string;
  /** Bytes of bodies that arrived. */
  received(): number;
  /** Resolves when the body is there, or nothing more will be. */
  readonly whole: Promise<void>;
}

/** Reads nothing after the head, until `then` has it read on. */
async function startEarly(
  answer: string,
  then: (socket: Socket) => void | Promise<void>,
): Promise<EarlyServer> {
  let received = 0;
  const whole = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    let head: string | null = '';
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', whole.resolve);
    socket.on('data', (bytes) => {
      received += bytes.length;
      if (received >= LENGTH) whole.resolve();
      if (head === null) return;
      head += bytes.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      received = head.length - end - 4;
      head = null;
      socket.pause();
      socket.write(answer, () => void then(socket));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, received: () => received, whole: whole.promise };
}

/** Takes any 2xx for a good answer, whatever its body, as a webhook does. */
function startTo({ url }: EarlyServer, options: ProviderRigOptions = {}): Promise<ProviderRig> {
  const read = () => ({ code: null, text: null, messageId: null, understood: true });
  return startPlain({ settings: { endpoint: url }, ...options }, { read });
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await yieldToLoop();
}
