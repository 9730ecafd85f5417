import { afterEach, describe, expect, test } from 'vitest';
import type { SmtpClient } from '../../peers/smtp-client.ts';
import { MESSAGE, QUEUED, SmtpWorld, sendMessage } from './world.ts';

/** What is said before the greeting, and HTTP behind it (contract §1). */

let world: SmtpWorld;
afterEach(() => world.close());

/** Reads one answer of HTTP/1.1 up to the end of the connection. */
function parseAnswer(text: string) {
  const end = text.indexOf('\r\n\r\n');
  const [status, ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  return { status, headers, body: text.slice(end + 4) };
}

async function expectNotFound(client: SmtpClient): Promise<void> {
  const { status, headers, body } = parseAnswer(await client.rest());
  expect(status).toBe('HTTP/1.1 404 Not Found');
  expect(headers.get('content-length')).toBe(String(body.length));
  expect(headers.get('connection')).toBe('close');
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(headers.get('x-request-id')).toMatch(/^[\w-]{12,64}$/);
  expect(body).toContain('on port 8443 (webui.port)');
  expect(JSON.parse(body)).toMatchObject({
    status: 404,
    code: 'not_found',
    requestId: headers.get('x-request-id'),
  });
}

/** Both kinds of port. */
const PORTS = [
  ['in clear', { implicitTls: false }],
  ['inside TLS', { implicitTls: true }],
] as const;

const GET = 'GET /health HTTP/1.1\r\nHost: localhost:2525\r\nAccept: */*\r\n\r\n';

describe('the greeting', () => {
  test('waits 50 ms at first contact, and 5 ms for a source that has sent a message within ten minutes', async () => {
    world = await SmtpWorld.start();
    const greetedAfter = async (ms: number, from: string) => {
      const client = await world.reach({ from });
      await world.clock.advance(ms - 1);
      expect(client.received).toBe('');
      await world.clock.advance(1);
      expect(await client.reply()).toMatch(/^220 /);
      return client;
    };
    const client = await greetedAfter(50, '127.0.0.2');
    await greetedAfter(50, '127.0.0.2');
    await client.ask('EHLO client.test');
    expect(await sendMessage(client)).toMatch(QUEUED);
    await greetedAfter(5, '127.0.0.2');
    await greetedAfter(50, '127.0.0.3');
    await world.clock.advance(10 * 60_000);
    await greetedAfter(50, '127.0.0.2');
  });

  test('waits 250 ms for a source that speaks HTTP as well, early or late', async () => {
    world = await SmtpWorld.start();
    expect(await sendMessage(await world.hello())).toMatch(QUEUED);
    const browser = await world.greeted();
    expect(await browser.ask('GET / HTTP/1.1')).toMatch(/^554 /);
    const client = await world.reach();
    await world.clock.advance(249);
    expect(client.received).toBe('');
    await world.clock.advance(1);
    expect(await client.reply()).toMatch(/^220 /);
  });

  test('waits 5 ms also for a source whose last message was here already', async () => {
    world = await SmtpWorld.start();
    const authenticate = `AUTH PLAIN ${Buffer.from(`\0\0${await world.key()}`).toString('base64')}`;
    world.options.settings.allowInsecureAuth = true;
    const send = async () => {
      const client = await world.hello();
      expect(await client.ask(authenticate)).toMatch(/^235 /);
      return await sendMessage(client, ['Idempotency-Key: once', ...MESSAGE]);
    };
    const first = await send();
    await world.clock.advance(10 * 60_000);
    expect(await send()).toBe(first);
    const client = await world.reach();
    await world.clock.advance(5);
    expect(await client.reply()).toMatch(/^220 /);
  });

  test('waits as the settings say now', async () => {
    world = await SmtpWorld.start();
    world.options.settings.firstContactDelayMs = 700;
    const client = await world.reach();
    await world.clock.advance(699);
    expect(client.received).toBe('');
    await world.clock.advance(1);
    expect(await client.reply()).toMatch(/^220 /);
  });

  test('of many short connections waits at the same time', async () => {
    world = await SmtpWorld.start();
    const before = world.clock.mono();
    const clients = await Promise.all(Array.from({ length: 50 }, () => world.reach()));
    expect(world.clock.mono()).toBe(before);
    await world.clock.advance(50);
    for (const client of clients) {
      expect(await client.reply()).toMatch(/^220 /);
      expect((await client.askAll('EHLO client.test', 'QUIT'))[1]).toMatch(/^221 /);
      client.halfClose();
    }
    expect(world.clock.mono() - before).toBe(50);
    await world.expectNothingLeft();
  });

  test('is not said to a client that has gone meanwhile', async () => {
    world = await SmtpWorld.start();
    for (const leave of ['reset', 'halfClose', 'destroy'] as const) {
      const client = await world.reach();
      client[leave]();
      await world.expectNothingLeft();
      await world.clock.advance(100);
    }
  });

  test('is not said over bytes that came in the same turn of the loop as its time', async () => {
    world = await SmtpWorld.start();
    const client = await world.reach();
    const socket = world.serverEnd(client);
    client.write(GET);
    // What the client wrote lies in the server's kernel while the loop is busy; then time is up.
    const moved = world.clock.advance(50);
    await moved;
    await expectNotFound(client);
    expect(socket.bytesWritten).toBe(client.received.length);
  });
});

describe.each(PORTS)('HTTP %s', (_case, port) => {
  test.each([
    ['GET /health', GET],
    ['GET /metrics', 'GET /metrics HTTP/1.0\r\n\r\n'],
    ['another method and path', 'PROPFIND /a/b?c=d HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a request line alone', 'DELETE / HTTP/1.1\r\n'],
  ])('%s before the greeting gets a complete 404', async (_request, bytes) => {
    world = await SmtpWorld.start();
    const client = await world.reach(port);
    client.write(bytes);
    await expectNotFound(client);
    client.halfClose();
    await world.expectNothingLeft();
  });

  test('HEAD gets the header of it alone', async () => {
    world = await SmtpWorld.start();
    const client = await world.reach(port);
    client.write('HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n');
    const { status, headers, body } = parseAnswer(await client.rest());
    expect([status, body]).toEqual(['HTTP/1.1 404 Not Found', '']);
    expect(Number(headers.get('content-length'))).toBeGreaterThan(100);
  });

  test('a request gets its answer though the client has closed its side', async () => {
    world = await SmtpWorld.start();
    const client = await world.reach(port);
    client.write(GET);
    client.halfClose();
    await expectNotFound(client);
    await world.expectNothingLeft();
  });

  test('a request line that comes in pieces is awaited, however long the greeting is overdue', async () => {
    world = await SmtpWorld.start();
    const client = await world.reach(port);
    for (const piece of ['G', 'ET /hea', 'lth HT', 'TP/1.1\r', '\n']) {
      await world.write(client, piece);
      await world.clock.advance(1000);
    }
    await expectNotFound(client);
  });

  test('a body behind the request is read away, so that no reset destroys the answer', async () => {
    world = await SmtpWorld.start();
    const client = await world.reach(port);
    client.stopReading();
    const body = Buffer.alloc(1_000_000, 'x');
    const { bytesWritten } = world.serverEnd(client);
    client.write(`POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`);
    await world.until(() => world.serverEnd(client).bytesWritten > bytesWritten);
    for (let rest = body; rest.length > 0; rest = rest.subarray(50_000))
      client.write(rest.subarray(0, 50_000));
    await new Promise((resolve) => client.socket.write('\r\n', resolve));
    client.readOn();
    await expectNotFound(client);
    expect(client.error).toBe(null);
    client.halfClose();
    await world.expectNothingLeft();
  });

  test('a client that has its answer and goes on sending is ended at last', async () => {
    world = await SmtpWorld.start();
    const client = await world.reach(port);
    client.write(GET);
    await expectNotFound(client);
    for (let second = 0; second < 40 && world.sockets > 0; second++) {
      client.write('x');
      await world.clock.advance(1000);
    }
    await world.expectNothingLeft();
  });

  test('a request line behind the greeting ends the connection at once, and nothing behind it is read', async () => {
    world = await SmtpWorld.start();
    const client = await world.greeted(port);
    client.say('POST / HTTP/1.1', 'Host: localhost:2525', '', 'EHLO evil.test', 'MAIL FROM:<a@example.com>');
    expect(await client.rest()).toMatch(/^554 5\.5\.1 [^\r\n]*\r\n$/);
    expect(world.denied).toEqual(['http_after_greeting']);
  });

  test('a header line behind the greeting does so too', async () => {
    world = await SmtpWorld.start();
    const client = await world.greeted(port);
    client.say('Host: localhost:2525', 'EHLO evil.test');
    expect(await client.rest()).toMatch(/^554 5\.5\.1 [^\r\n]*\r\n$/);
  });
});

describe.each(PORTS)('other early talk %s', (_case, port) => {
  test.each([
    ['a command', 'EHLO client.test\r\n'],
    [
      'a whole dialogue',
      'EHLO client.test\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.org>\r\nDATA\r\n',
    ],
    ['noise', '\0\xff\x01 hello'],
    ['an empty line', '\r\n'],
  ])('%s gets 554 and the end', async (_talk, bytes) => {
    world = await SmtpWorld.start();
    const client = await world.reach(port);
    client.write(bytes);
    expect(await client.rest()).toMatch(/^554 5\.5\.1 [^\r\n]*\r\n$/);
    expect(world.denied).toEqual(['early_talk']);
    client.halfClose();
    await world.expectNothingLeft();
  });

  test('the beginning of a request line without an end gets 554 when it was silent too long', async () => {
    world = await SmtpWorld.start({ settings: { commandTimeoutSeconds: 30 } });
    const client = await world.reach(port);
    await world.write(client, 'GET /health');
    await world.clock.advance(29_000);
    expect(client.received).toBe('');
    await world.clock.advance(2000);
    expect(await client.rest()).toMatch(/^554 5\.5\.1 /);
  });
});
