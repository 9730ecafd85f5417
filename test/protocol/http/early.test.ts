import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { RawClient } from '../../peers/http.ts';
import { startResettingProxy } from '../../peers/resetting-proxy.ts';
import { cidrs } from '../../support/cidrs.ts';
import { World } from './world.ts';

/** Refusals that come while the client is still sending reach it (contract §1). */

const MIB = 1024 * 1024;
const BODY = Buffer.alloc(30 * MIB, 'x');
const JSON_TYPE = 'Content-Type: application/json\r\n';

let world: World;
let key: string;
let tired: string;

beforeAll(async () => {
  world = await World.start({ trustedProxies: cidrs('127.0.0.1') });
  key = await world.key();
  tired = await world.key({ rateLimit: 1 });
  await world.ask({ method: 'POST', key: tired });
});
afterAll(() => world.close());

const head = (fields: string, target = 'POST /api/v1/messages') =>
  `${target} HTTP/1.1\r\nHost: x\r\n${fields}Content-Length: ${BODY.length}\r\n\r\n`;
const withKey = (fields: string) => head(`Authorization: Bearer ${key}\r\n${fields}`);

const REFUSALS: readonly (readonly [status: number, code: string, head: () => string])[] = [
  [404, 'not_found', () => head('', 'POST /api/v1/nothing')],
  [403, 'source_not_allowed', () => head('X-Forwarded-For: 198.51.100.7\r\n')],
  [405, 'method_not_allowed', () => head('', 'PUT /api/v1/messages')],
  [401, 'unauthorized', () => head(JSON_TYPE)],
  [429, 'rate_limited', () => head(`Authorization: Bearer ${tired}\r\n`)],
  [415, 'unsupported_media_type', () => withKey('Content-Type: text/plain\r\n')],
  [415, 'unsupported_content_encoding', () => withKey(`${JSON_TYPE}Content-Encoding: gzip\r\n`)],
  [413, 'content_too_large', () => withKey(JSON_TYPE)],
  [417, 'expectation_failed', () => withKey('Expect: a-miracle\r\n')],
];

/** Sends everything before it reads anything, as simple clients do; resolves to what it then can read. */
function sendThenRead(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  return new Promise((resolve, reject) => {
    socket.on('error', reject).pause().write(request);
    socket.write(BODY, () => {
      let received = '';
      socket.setEncoding('utf8').on('data', (text: string) => {
        received += text;
        if (received.includes('"requestId"') && received.endsWith('}')) resolve(received);
      });
      socket.on('close', () => resolve(received)).resume();
    });
  });
}

describe.each([
  ['directly', (port: number) => Promise.resolve(port)],
  ['behind a proxy that resets', startResettingProxy],
])('%s', (_, through) => {
  test.each(REFUSALS)('%i %s reaches a client that sends 30 MB first', async (status, code, request) => {
    const answer = await sendThenRead(await through(world.port), request());
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*"code":"${code}"`, 's'));
    expect(answer).toMatch(/^connection: close/im);
  });

  test('a body that goes on for ever is answered, and ended', async () => {
    const client = new RawClient(
      await through(world.port),
      'POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const pump = () => {
      while (client.socket.writable && client.socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`));
    };
    client.socket.on('drain', pump);
    pump();
    await client.until(/"unauthorized"/);
    await client.closed;
  });
});

test('a client that waits to be told gets the refusal instead, and never sends its body', async () => {
  for (const [status, , request] of REFUSALS) {
    if (status === 417) continue;
    const expecting = request().replace('Content-Length', 'Expect: 100-continue\r\nContent-Length');
    const client = new RawClient(world.port, expecting);
    expect(await client.until(/"code"/)).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} .*Connection: close`, 's'),
    );
    client.socket.destroy();
  }
});
