import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { startDnsServer } from '../../peers/dns-server.ts';
import { endReceivers, post, receiver } from '../../peers/webhook-receiver.ts';

/** Where the name of an endpoint may lead, and that only its own posts wait for it (contract-2 §B2). */

afterEach(endReceivers);

describe('an address that is not public is not connected to', () => {
  test.each([
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '2130706433',
    '0x7f.1',
    '[::1]',
    '[::]',
    '[fd00::1]',
    '[fe80::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:0:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::10.0.0.1]',
    '[2002:7f00:1::]',
  ])('%s, written in a URL', async (host) => {
    expect(await post(`https://${host}/`, { mayBePrivate: false })).toMatchObject({
      status: null,
      error: expect.stringContaining('not a public address'),
    });
  });

  test.each([
    ['A', ['127.0.0.1', '10.1.2.3']],
    ['AAAA', ['::1']],
    ['AAAA', ['::ffff:a9fe:a9fe']],
    ['AAAA', ['64:ff9b::7f00:1', 'fd00::1']],
  ] as const)('what a name says by %s: %s', async (type, addresses) => {
    const dns = await startDnsServer();
    dns.set('hook.test', type, [...addresses]);
    const dnsServers = [`127.0.0.1:${dns.endpoint.port}`];
    expect(await post('https://hook.test/', { mayBePrivate: false, dnsServers })).toMatchObject({
      status: null,
      error: expect.stringContaining('not a public address'),
    });
  });

  test('nor when the name says something else a moment later: it is asked for once, and that is connected to', async () => {
    const dns = await startDnsServer();
    const dnsServers = [`127.0.0.1:${dns.endpoint.port}`];
    let visits = 0;
    const server = createServer((_, response) => {
      visits++;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `https://hook.test:${(server.address() as AddressInfo).port}/`;
    // Nobody has 240.0.0.1, which is not public either: whichever is believed, nothing may be reached.
    for (const address of ['240.0.0.1', '127.0.0.1', '240.0.0.1']) {
      dns.set('hook.test', 'A', [address], 0);
      const before = dns.asked.filter(({ type }) => type === 'A').length;
      expect(await post(url, { mayBePrivate: false, dnsServers })).toMatchObject({
        status: null,
        error: expect.stringContaining(address),
      });
      expect(dns.asked.filter(({ type }) => type === 'A')).toHaveLength(before + 1);
    }
    expect(visits).toBe(0);
  });
});

test('a name that is never answered is waited for by its own posts alone', async () => {
  const dns = await startDnsServer();
  const dnsServers = [`127.0.0.1:${dns.endpoint.port}`];
  dns.fault('silent.test', () => {});
  dns.set('hook.test', 'A', ['10.0.0.1']);
  const stop = new AbortController();
  let isOver = false;
  const silent = Promise.all(
    Array.from({ length: 20 }, () =>
      post('https://silent.test/', { mayBePrivate: false, dnsServers, signal: stop.signal }),
    ),
  ).finally(() => {
    isOver = true;
  });
  await dns.untilAsked(20);
  expect(await post('https://hook.test/', { mayBePrivate: false, dnsServers })).toMatchObject({
    error: expect.stringContaining('10.0.0.1'),
  });
  // The names of those that may be private are still looked up as ever.
  const url = await receiver((_, response) => response.end());
  expect(await post(url.replace('127.0.0.1', 'localhost'))).toMatchObject({ status: 200 });
  expect(isOver).toBe(false);
  stop.abort();
  expect((await silent).every(({ status, error }) => status === null && error !== null)).toBe(true);
});
