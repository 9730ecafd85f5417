import { afterEach, describe, expect, test } from 'vitest';
import type { SmtpClient } from '../../peers/smtp-client.ts';
import { cidrs } from '../../support/cidrs.ts';
import { ENVELOPE, MESSAGE, QUEUED, SmtpWorld, type SmtpWorldOptions, sendMessage } from './world.ts';

/** The PROXY header (versions 1 and 2) of `listener.trusted_proxies`. */

let world: SmtpWorld;
afterEach(() => world.close());

const SOURCE = '198.51.100.7';
const V1 = `PROXY TCP4 ${SOURCE} 192.0.2.1 56324 25\r\n`;
const V2_SIGNATURE = '0d0a0d0a000d0a515549540a';
/** PROXY over TCP and IPv4: source, destination, ports. */
const V2 = Buffer.from(`${V2_SIGNATURE}2111000cc6336407c0000201dc040019`, 'hex');
/** PROXY over UDP and IPv4. */
const V2_DATAGRAM = Buffer.from(`${V2_SIGNATURE}2112000cc6336407c0000201dc040019`, 'hex');
/** LOCAL: the proxy speaks for itself. */
const V2_LOCAL = Buffer.from(`${V2_SIGNATURE}20000000`, 'hex');

/** The tests' own connections are those of a proxy, and nothing may relay but what the header names. */
function start(options: SmtpWorldOptions = {}): Promise<SmtpWorld> {
  const others = { trustedProxies: cidrs('127.0.0.0/8'), allowedCidrs: cidrs(SOURCE), ...options.others };
  return SmtpWorld.start({ ...options, others });
}

const headerOf = (source: string) =>
  `PROXY ${source.includes(':') ? 'TCP6' : 'TCP4'} ${source} ${source.includes(':') ? '2001:db8::1' : '192.0.2.1'} 56324 25\r\n`;

describe.each([
  ['in clear', false],
  ['before implicit TLS', true],
])('a header %s', (_case, implicitTls) => {
  test.each([
    ['version 1', V1],
    ['version 2', V2],
  ])('of %s names the source, which counts for policy', async (_version, first) => {
    world = await start();
    const client = await world.hello({ first, implicitTls });
    expect(await sendMessage(client)).toMatch(QUEUED);
    expect(world.last.sourceAddress).toBe(SOURCE);
  });

  test.each([
    ['of the proxy itself', V2_LOCAL],
    ['of an unknown client', 'PROXY UNKNOWN\r\n'],
    ['of a datagram', V2_DATAGRAM],
  ])('%s opens nothing that the proxy may do, but a key does', async (_whose, first) => {
    const source = { name: 'lab', cidr: '127.0.0.1', senderDomains: [], ratePerMinute: 0, tags: [] };
    const rows = [{ source, cidrs: cidrs('127.0.0.1') }];
    world = await start({ others: { allowedCidrs: cidrs('127.0.0.0/8'), sources: rows } });
    world.options.settings.allowInsecureAuth = true;
    const client = await world.hello({ first, implicitTls });
    expect((await client.askAll(...ENVELOPE))[1]).toMatch(
      /^550 5\.7\.1 The client of 127\.0\.0\.1 may not relay here; let the proxy pass on its address, or authenticate/,
    );
    await client.ask('RSET');
    const password = Buffer.from(`\0\0${await world.key()}`).toString('base64');
    expect(await client.ask(`AUTH PLAIN ${password}`)).toMatch(/^235 /);
    expect(await sendMessage(client)).toMatch(QUEUED);
    expect(world.last.sourceAddress).toBe('127.0.0.1');
  });

  test('may come byte by byte', async () => {
    world = await start();
    const client = await world.reach({ port: implicitTls ? world.tlsPort : world.port });
    for (const byte of V2) await world.write(client, Buffer.of(byte));
    if (implicitTls) await client.secure();
    expect(await world.passing(client.reply())).toMatch(/^220 /);
  });

  test.each(['', V1.slice(0, 10)])(
    'of which only %j comes within seconds ends the connection',
    async (begun) => {
      world = await start();
      const client = await world.reach({ port: implicitTls ? world.tlsPort : world.port });
      if (begun !== '') await world.write(client, begun);
      await world.clock.advance(4000);
      expect(client.ended).toBe(false);
      await world.clock.advance(2000);
      expect(await client.rest()).toMatch(
        implicitTls ? /^$/ : /^421 4\.7\.0 127\.0\.0\.1 must begin with a PROXY/,
      );
      expect(world.denied).toEqual(['proxy_header']);
      // What comes too late is no header any more.
      client.write(V1);
      client.halfClose();
      await world.expectNothingLeft();
    },
  );
});

test.each([
  ['none but a command', 'EHLO client.test\r\n'],
  ['none but HTTP', 'GET /health HTTP/1.1\r\n\r\n'],
  ['one that cannot be read', 'PROXY TCP4 1.2.3.4\r\n'],
  ['one that is too long', `PROXY TCP4 ${'1'.repeat(200)}`],
  ['version 2 of an unknown family', Buffer.from(`${V2_SIGNATURE}21ff0000`, 'hex')],
])('%s gets 421 and the end', async (_case, first) => {
  world = await start();
  const client = await world.reach({ first });
  expect(await client.rest()).toMatch(
    /^421 4\.7\.0 127\.0\.0\.1 must begin with a PROXY header[^\r\n]*\r\n$/,
  );
  expect(world.denied).toEqual(['proxy_header']);
  client.halfClose();
  await world.expectNothingLeft();
});

test('on a port of implicit TLS a connection without a header is ended', async () => {
  world = await start();
  const client = await world.reach({ port: world.tlsPort });
  await expect(client.secure()).rejects.toThrow();
  client.destroy();
  await world.expectNothingLeft();
  expect(world.denied).toEqual(['proxy_header']);
});

test('a header from others than trusted proxies is early talk', async () => {
  world = await SmtpWorld.start();
  const client = await world.reach({ first: V1 });
  expect(await client.rest()).toMatch(/^554 5\.5\.1 /);
});

test('early talk behind the header is heard, be it HTTP or not', async () => {
  world = await start();
  const http = await world.reach({ first: `${V1}GET /health HTTP/1.1\r\nHost: x\r\n\r\n` });
  expect(await world.passing(http.rest())).toMatch(/^HTTP\/1\.1 404 /);
  const other = await world.reach({ first: `${V1}EHLO client.test\r\n` });
  expect(await world.passing(other.rest())).toMatch(/^554 5\.5\.1 /);
  const later = await world.reach({ first: V1 });
  await world.write(later, 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(await world.passing(later.rest())).toMatch(/^HTTP\/1\.1 404 /);
});

test('a client behind a proxy that has closed its side gets all its replies', async () => {
  world = await start();
  const client = await world.greeted({ first: V1 });
  client.say('EHLO client.test', ...ENVELOPE, 'DATA', ...MESSAGE, 'NOOP');
  client.halfClose();
  expect((await client.rest()).match(/^\d{3} /gm)).toEqual(['250 ', '250 ', '250 ', '354 ', '250 ', '250 ']);
  await world.expectNothingLeft();
});

test('the sources behind one proxy have their limits each, IPv6 by /64', async () => {
  world = await start({ settings: { maxConnectionsPerSource: 1 } });
  await world.greeted({ first: headerOf('198.51.100.1') });
  await world.greeted({ first: headerOf('198.51.100.2') });
  const first = await world.greeted({ first: headerOf('2001:db8:1:2::3') });
  const second = await world.reach({ first: headerOf('2001:db8:1:2:ffff::4') });
  expect(await client421(second)).toContain('listener.max_connections_per_source');
  await world.greeted({ first: headerOf('2001:db8:1:3::3') });
  first.destroy();
  await world.until(() => world.listener.connections <= 4);
  await world.until(() => world.sockets <= 4);
  await world.greeted({ first: headerOf('2001:db8:1:2:ffff::4') });
});

async function client421(client: SmtpClient): Promise<string> {
  const reply = await client.reply();
  expect(reply).toMatch(/^421 4\.7\.0 /);
  client.destroy();
  return reply;
}

test('a client that goes away within the header leaves nothing', async () => {
  world = await start();
  for (const leave of ['reset', 'halfClose', 'destroy'] as const) {
    const client = await world.reach({ first: V1.slice(0, 10) });
    client[leave]();
    await world.expectNothingLeft();
  }
});
