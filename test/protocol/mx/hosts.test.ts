/** Which hosts a domain's mail is taken to, in which order, and what is said when there is none. */
import { expect, test } from 'vitest';
import { createCertificate } from '../../peers/certificate.ts';
import { writeResponse } from '../../peers/dns-message.ts';
import type { DnsFault } from '../../peers/dns-server.ts';
import { advanceUntil, kinds, only } from '../smtp-out/rig.ts';
import { startMxRig } from './rig.ts';

const DOWN = '127.0.0.99';

test('mail goes to the host of the lowest preference, and the answers used are kept', async () => {
  const rig = await startMxRig({ sinks: { '127.0.0.1': {}, '127.0.0.2': {} } });
  rig.route('example.net', { 'mx1.example.net': '127.0.0.1', 'mx2.example.net': '127.0.0.2' });
  const result = await rig.deliver({ to: ['one@example.net', 'two@example.net'] });
  expect(kinds(result)).toEqual(['delivered', 'delivered']);
  expect(rig.sink().messages).toMatchObject([{ to: ['one@example.net', 'two@example.net'] }]);
  expect(rig.sink('127.0.0.2').connections).toBe(0);
  expect(result.evidence).toMatchObject({
    host: 'mx1.example.net',
    address: '127.0.0.1',
    localAddress: '127.0.0.1',
  });
  expect(result.evidence.security).toEqual({ verdict: 'none', mtaSts: 'none', dane: null });
  expect(result.evidence.timings.dnsMs).not.toBeNull();
  expect(result.evidence.dns).toEqual([
    {
      name: 'example.net',
      type: 'MX',
      result: 'found',
      authenticated: false,
      answers: ['10 mx1.example.net', '20 mx2.example.net'],
    },
    { name: '_mta-sts.example.net', type: 'TXT', result: 'nxdomain', answers: [], authenticated: false },
    { name: 'mx1.example.net', type: 'AAAA', result: 'nodata', answers: [], authenticated: false },
    { name: 'mx1.example.net', type: 'A', result: 'found', answers: ['127.0.0.1'], authenticated: false },
  ]);
});

test('a domain without MX is its own host; an alias as MX is followed', async () => {
  const rig = await startMxRig();
  rig.dns.set('example.net', 'A', ['127.0.0.1']);
  expect(only(await rig.deliver()).kind).toBe('delivered');
  rig.dns.set('alias.test', 'MX', [{ preference: 0, exchange: 'mx.alias.test' }]);
  rig.dns.set('mx.alias.test', 'CNAME', ['real.test']);
  rig.dns.set('real.test', 'A', ['127.0.0.1']);
  const result = await rig.deliver({ to: ['a@alias.test'] });
  expect(only(result).kind).toBe('delivered');
  expect(result.evidence.host).toBe('mx.alias.test');
});

test('an address literal is gone straight to, without a question', async () => {
  const rig = await startMxRig();
  const result = await rig.deliver({ to: ['one@[127.0.0.1]'] });
  expect(only(result).kind).toBe('delivered');
  expect(result.evidence).toMatchObject({ host: '[127.0.0.1]', address: '127.0.0.1', dns: [] });
  expect(rig.dns.asked).toEqual([]);
});

test('an address literal is no name to ask for in the handshake (RFC 6066 §3)', async () => {
  const certificate = createCertificate({ hosts: ['mx.test'] });
  const rig = await startMxRig({ sinks: { '127.0.0.1': { tls: 'starttls', certificate } } });
  rig.route('example.test', { 'mx.test': '127.0.0.1' });
  await rig.deliver({ to: ['one@example.test'] });
  expect(only(await rig.deliver({ to: ['one@[127.0.0.1]'] })).kind).toBe('delivered');
  expect(rig.sink().serverNames).toEqual(['mx.test', false]);
  expect(rig.sink().messages).toMatchObject([{ tls: true }, { tls: true }]);
});

test('an address literal is not reached over a family that the relay may not use', async () => {
  const rig = await startMxRig({ mx: { ipFamily: 'ipv6' } });
  const refused = { kind: 'rejected', cause: 'dns_no_address', enhanced: '5.4.4', hopFailed: false };
  expect(only(await rig.deliver({ to: ['one@[127.0.0.1]'] }))).toMatchObject(refused);
  expect(rig.sink().connections).toBe(0);
});

test('the first host refuses connections, the second takes the mail', async () => {
  const rig = await startMxRig();
  rig.route('example.net', { 'mx1.example.net': DOWN, 'mx2.example.net': '127.0.0.1' });
  const result = await rig.deliver();
  expect(only(result)).toMatchObject({ kind: 'delivered', hopFailed: false });
  expect(result.evidence.host).toBe('mx2.example.net');
  expect(result.evidence.steps.map(({ verb }) => verb)).toContain('FAILED');
});

test.each([
  ['554 at the greeting', { CONNECT: '554 5.7.1 not you' }],
  ['421 at the greeting', { CONNECT: '421 4.3.2 busy' }],
  ['4xx to EHLO', { EHLO: '451 4.3.0 later' }],
  ['421 to MAIL', { MAIL: { reply: '421 4.3.2 going down', close: 'end' } }],
  ['421 to the message', { DOT: { reply: '421 4.3.2 going down', close: 'end' } }],
  ['gone before an answer to MAIL', { MAIL: { close: 'reset' } }],
] as const)('%s: the next host is tried', async (_what, script) => {
  const rig = await startMxRig({ sinks: { '127.0.0.1': { script }, '127.0.0.2': {} } });
  rig.route('example.net', { 'mx1.example.net': '127.0.0.1', 'mx2.example.net': '127.0.0.2' });
  expect(only(await rig.deliver())).toMatchObject({ kind: 'delivered', hopFailed: false });
  expect(rig.sink('127.0.0.2').messages).toHaveLength(1);
});

test.each([
  ['550 to RCPT', { RCPT: '550 5.1.1 nobody' }, 'rejected'],
  ['450 to RCPT', { RCPT: '450 4.2.0 greylisted' }, 'deferred'],
  ['552 to the message', { DOT: '552 5.3.4 too large' }, 'rejected'],
  ['gone after the message', { DOT: { close: 'reset' } }, 'unknown'],
] as const)('%s is the answer: no other host is asked', async (_what, script, kind) => {
  const rig = await startMxRig({ sinks: { '127.0.0.1': { script }, '127.0.0.2': {} } });
  rig.route('example.net', { 'mx1.example.net': '127.0.0.1', 'mx2.example.net': '127.0.0.2' });
  expect(only(await rig.deliver())).toMatchObject({ kind, hopFailed: false });
  expect(rig.sink('127.0.0.2').connections).toBe(0);
});

test('the next host gets only those whom the first has not decided', async () => {
  const script = {
    RCPT: ({ argument }: { readonly argument: string }) =>
      argument.includes('bad') ? '550 5.1.1 nobody' : undefined,
    DOT: { reply: '421 4.3.2 going down', close: 'end' },
  } as const;
  const rig = await startMxRig({ sinks: { '127.0.0.1': { script }, '127.0.0.2': {} } });
  rig.route('example.net', { 'mx1.example.net': '127.0.0.1', 'mx2.example.net': '127.0.0.2' });
  const result = await rig.deliver({ to: ['a@example.net', 'bad@example.net', 'c@example.net'] });
  expect(kinds(result)).toEqual(['delivered', 'rejected', 'delivered']);
  expect(rig.sink('127.0.0.2').messages).toMatchObject([{ to: ['a@example.net', 'c@example.net'] }]);
});

test('of 50 hosts five are tried, and then the hop has failed', async () => {
  const rig = await startMxRig();
  rig.route(
    'example.net',
    Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`mx${i}.example.net`, DOWN])),
  );
  const result = await rig.deliver();
  expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'connect_refused', hopFailed: true });
  expect(only(result).text).toContain('mx4.example.net');
  const asked = rig.dns.asked.filter(({ type }) => type === 'A').map(({ name }) => name.toLowerCase());
  expect(asked).toEqual([0, 1, 2, 3, 4].map((i) => `mx${i}.example.net`));
  expect(result.evidence.dns[0]?.answers).toHaveLength(9);
});

test('hosts of equal preference take turns', async () => {
  const rig = await startMxRig({ sinks: { '127.0.0.1': {}, '127.0.0.2': {} }, pool: { maxTransactions: 1 } });
  rig.route('example.net', { 'a.example.net': '127.0.0.1', 'b.example.net': '127.0.0.2' });
  const equal = ['a.example.net', 'b.example.net'].map((exchange) => ({ preference: 5, exchange }));
  rig.dns.set('example.net', 'MX', equal);
  for (let i = 0; i < 12; i++) await rig.deliver();
  expect(rig.sink('127.0.0.1').taken).toBeGreaterThan(1);
  expect(rig.sink('127.0.0.2').taken).toBeGreaterThan(1);
});

test('an address that leads nowhere is given up for the next of the same host', async () => {
  const rig = await startMxRig();
  rig.dns.set('example.net', 'MX', [{ preference: 0, exchange: 'mx.example.net' }]);
  rig.dns.set('mx.example.net', 'AAAA', ['::1']);
  rig.dns.set('mx.example.net', 'A', ['127.0.0.1']);
  const result = await rig.deliver();
  expect(only(result).kind).toBe('delivered');
  expect(result.evidence).toMatchObject({ host: 'mx.example.net', address: '127.0.0.1' });
  const v4 = await startMxRig({ mx: { ipFamily: 'ipv4' } });
  v4.route('example.net', { 'mx.example.net': '127.0.0.1' });
  expect(only(await v4.deliver()).kind).toBe('delivered');
  expect(v4.dns.asked.map(({ type }) => type)).not.toContain('AAAA');
});

test.each([
  [
    'null MX',
    (rig: Rig) => rig.dns.set('example.net', 'MX', [{ preference: 0, exchange: '' }]),
    'null_mx',
    '5.1.10',
  ],
  ['no such domain', () => {}, 'dns_nxdomain', '5.1.2'],
  [
    'neither MX nor address',
    (rig: Rig) => rig.dns.set('example.net', 'TXT', ['x']),
    'dns_no_address',
    '5.4.4',
  ],
  [
    'an MX that does not exist',
    (rig: Rig) => rig.dns.set('example.net', 'MX', [{ preference: 0, exchange: 'gone.example.net' }]),
    'dns_nxdomain',
    '5.4.4',
  ],
] as const)('%s: rejected at once', async (_what, publish, cause, enhanced) => {
  const rig = await startMxRig();
  publish(rig);
  expect(only(await rig.deliver())).toMatchObject({ kind: 'rejected', cause, enhanced, hopFailed: false });
});

type Rig = Awaited<ReturnType<typeof startMxRig>>;

test('SERVFAIL and silence of the DNS: later', async () => {
  const rig = await startMxRig();
  rig.dns.fault('example.net', SERVFAIL);
  expect(only(await rig.deliver())).toMatchObject({
    kind: 'deferred',
    cause: 'dns_servfail',
    enhanced: '4.4.3',
    hopFailed: true,
  });
  rig.dns.fault('silent.test', () => {});
  const delivery = rig.deliver({ to: ['a@silent.test'] });
  const result = only(await advanceUntil(rig.clock, 1000, delivery));
  expect(result).toMatchObject({
    kind: 'deferred',
    cause: 'dns_timeout',
    enhanced: '4.4.3',
    hopFailed: true,
  });
});

const SERVFAIL: DnsFault = ({ query, send }) =>
  send(writeResponse(query, { code: 2, answers: [], authorities: [] }));

test('a host that is down and one that has no address: later, for the first may come back', async () => {
  const rig = await startMxRig();
  rig.route('example.net', { 'mx1.example.net': DOWN });
  rig.dns.set('example.net', 'MX', [
    { preference: 1, exchange: 'mx1.example.net' },
    { preference: 2, exchange: 'gone.example.net' },
  ]);
  expect(only(await rig.deliver())).toMatchObject({
    kind: 'deferred',
    cause: 'connect_refused',
    hopFailed: true,
  });
});

test('this server among the hosts, by name or address: only nearer ones are tried', async () => {
  const rig = await startMxRig({ isOwn: (address) => address === '127.0.0.5' });
  rig.route('near.test', { 'mx.near.test': '127.0.0.1', 'client.example': DOWN, 'far.test': '127.0.0.1' });
  expect(only(await rig.deliver({ to: ['a@near.test'] })).kind).toBe('delivered');
  rig.route('self.test', { 'client.example': '127.0.0.1', 'far.test': '127.0.0.1' });
  const loop = { kind: 'rejected', cause: 'mx_loop', enhanced: '5.4.6', hopFailed: false };
  expect(only(await rig.deliver({ to: ['a@self.test'] }))).toMatchObject(loop);
  rig.route('address.test', { 'other.name.test': '127.0.0.5', 'far.test': '127.0.0.1' });
  expect(only(await rig.deliver({ to: ['a@address.test'] }))).toMatchObject(loop);
  rig.route('down.test', { 'mx.down.test': DOWN, 'other.name.test': '127.0.0.5', 'far.test': '127.0.0.1' });
  expect(only(await rig.deliver({ to: ['a@down.test'] }))).toMatchObject({
    kind: 'deferred',
    cause: 'connect_refused',
  });
  expect(rig.sink().taken).toBe(1);
});

test('private addresses are not connected to unless allowed: later by name, never as a literal', async () => {
  const rig = await startMxRig({ mx: { allowPrivate: false } });
  rig.route('example.net', { 'mx.example.net': '127.0.0.1' });
  expect(only(await rig.deliver())).toMatchObject({
    kind: 'deferred',
    cause: 'private_address',
    enhanced: '4.4.4',
  });
  for (const literal of ['[127.0.0.1]', '[IPv6:::ffff:127.0.0.1]', '[IPv6:::1]', '[0.0.0.0]'])
    expect(only(await rig.deliver({ to: [`a@${literal}`] }))).toMatchObject({
      kind: 'rejected',
      cause: 'private_address',
      enhanced: '5.4.4',
      hopFailed: false,
    });
  expect(rig.sink().connections).toBe(0);
});

test('connections come from source_ips in turn, and say helo', async () => {
  const rig = await startMxRig({
    mx: { sourceIps: ['127.0.0.11', '127.0.0.12', '::1'], helo: 'out.example.net', ipFamily: 'ipv4' },
    pool: { maxTransactions: 1 },
  });
  rig.route('example.net', { 'mx.example.net': '127.0.0.1' });
  const from: unknown[] = [];
  for (let i = 0; i < 3; i++) from.push((await rig.deliver()).evidence.localAddress);
  expect(from).toEqual(['127.0.0.11', '127.0.0.12', '127.0.0.11']);
  expect(rig.sink().commands[0]?.line).toBe('EHLO out.example.net');
});

test('where only IPv4 is named to connect from, IPv6 is not asked for', async () => {
  const rig = await startMxRig({ mx: { sourceIps: ['127.0.0.11'] } });
  rig.route('example.net', { 'mx.example.net': '127.0.0.1' });
  expect((await rig.deliver()).evidence.localAddress).toBe('127.0.0.11');
  expect(rig.dns.asked.map(({ type }) => type)).not.toContain('AAAA');
});

test('a source address that is not ours is named', async () => {
  const rig = await startMxRig({ mx: { sourceIps: ['192.0.2.77'] } });
  rig.route('example.net', { 'mx.example.net': '127.0.0.1' });
  const end = only(await rig.deliver());
  expect(end).toMatchObject({ kind: 'deferred', cause: 'source_ip_unusable', enhanced: '4.3.5' });
  expect(end.text).toContain('192.0.2.77');
});

test('a host that could not be connected to comes last for a minute, and is then the first again', async () => {
  const rig = await startMxRig({ sinks: { '127.0.0.1': {}, '127.0.0.2': {} }, pool: { maxTransactions: 1 } });
  rig.route('example.net', { 'mx1.example.net': DOWN, 'mx2.example.net': '127.0.0.1' });
  const verbs = async () => (await rig.deliver()).evidence.steps.map(({ verb }) => verb);
  expect(await verbs()).toContain('FAILED');
  expect(await verbs()).not.toContain('FAILED');
  await rig.clock.advance(60_000);
  expect(await verbs()).toContain('FAILED');
  // It is still tried where nothing else is left.
  rig.route('only.test', { 'mx.only.test': DOWN });
  expect(only(await rig.deliver({ to: ['a@only.test'] }))).toMatchObject({ cause: 'connect_refused' });
});

test('told to stop, it asks and connects no further', async () => {
  const rig = await startMxRig();
  rig.route('example.net', { 'mx1.example.net': DOWN, 'mx2.example.net': '127.0.0.1' });
  const signal = AbortSignal.abort();
  expect(only(await rig.deliver({ signal }))).toMatchObject({ kind: 'deferred', hopFailed: false });
  expect(only(await rig.deliver({ refused: AbortSignal.abort() }))).toMatchObject({
    kind: 'deferred',
    hopFailed: false,
  });
  expect(rig.sink().connections).toBe(0);
});
