/** When a message goes on to the next host, and how far: what one host lacks another may have, and there is an end. */
import { expect, test } from 'vitest';
import { HANG, SINK_EXTENSIONS, type SmtpSinkOptions } from '../../peers/smtp-sink-script.ts';
import { kinds, only } from '../smtp-out/rig.ts';
import { type MxRig, startMxRig } from './rig.ts';

const DOWN = '127.0.0.99';
const MINUTE = 60_000;
const PLAIN: SmtpSinkOptions = { extensions: SINK_EXTENSIONS.filter((offered) => offered !== 'SMTPUTF8') };

/** Hosts mx1, mx2, … of `example.net`, at these addresses. */
async function startWith(
  sinks: Readonly<Record<string, SmtpSinkOptions>>,
  ...addresses: string[]
): Promise<MxRig> {
  const rig = await startMxRig({ sinks });
  rig.route('example.net', named(addresses));
  return rig;
}

const named = (addresses: readonly string[]) =>
  Object.fromEntries(addresses.map((address, i) => [`mx${i + 1}.example.net`, address]));

test.each([
  ['SMTPUTF8', PLAIN, { to: ['josé@example.net'] }],
  ['room for it', { extensions: ['SIZE 10'] }, {}],
] as const)('a host without %s is passed over for one that has it', async (_what, lacking, mail) => {
  const rig = await startWith({ '127.0.0.1': lacking, '127.0.0.2': {} }, '127.0.0.1', '127.0.0.2');
  const result = await rig.deliver(mail);
  expect(only(result)).toMatchObject({ kind: 'delivered', hopFailed: false });
  expect(result.evidence).toMatchObject({ host: 'mx2.example.net' });
  expect(result.evidence.steps.map(({ verb }) => verb)).toContain('SKIP');
  expect([rig.sink('127.0.0.1').taken, rig.sink('127.0.0.2').taken]).toEqual([0, 1]);
});

test('where no host has it the mail is refused for good, by what the last one lacks', async () => {
  const rig = await startWith({ '127.0.0.1': PLAIN, '127.0.0.2': PLAIN }, '127.0.0.1', '127.0.0.2');
  const result = await rig.deliver({ to: ['josé@example.net'] });
  expect(only(result)).toMatchObject({
    kind: 'rejected',
    cause: 'no_smtputf8',
    enhanced: '5.6.7',
    hopBound: true,
    hopFailed: false,
  });
  expect(result.evidence.host).toBe('mx2.example.net');
});

test('a host without any address has no say in that', async () => {
  const rig = await startWith({ '127.0.0.1': PLAIN }, '127.0.0.1');
  const exchanges = ['mx1.example.net', 'gone.example.net'];
  rig.dns.set(
    'example.net',
    'MX',
    exchanges.map((exchange, preference) => ({ preference, exchange })),
  );
  expect(only(await rig.deliver({ to: ['josé@example.net'] }))).toMatchObject({
    kind: 'rejected',
    cause: 'no_smtputf8',
    hopBound: true,
  });
});

test('while a host that may have it is down the mail waits', async () => {
  const rig = await startWith({ '127.0.0.1': PLAIN }, '127.0.0.1', DOWN);
  expect(only(await rig.deliver({ to: ['josé@example.net'] }))).toMatchObject({
    kind: 'deferred',
    cause: 'connect_refused',
    hopFailed: true,
  });
});

test('a host that lacks something is asked at one of its addresses', async () => {
  const rig = await startMxRig({ sinks: { '127.0.0.1': PLAIN, '127.0.0.2': PLAIN, '127.0.0.3': {} } });
  rig.route('example.net', { 'mx1.example.net': '127.0.0.1', 'mx2.example.net': '127.0.0.3' });
  rig.dns.set('mx1.example.net', 'A', ['127.0.0.1', '127.0.0.2']);
  expect(only(await rig.deliver({ to: ['josé@example.net'] })).kind).toBe('delivered');
  expect(rig.sink('127.0.0.1').connections + rig.sink('127.0.0.2').connections).toBe(1);
});

test('only those go on to the next host who are left', async () => {
  const script = {
    RCPT: ({ argument }: { readonly argument: string }) =>
      argument.includes('bad') ? '550 5.1.1 nobody' : undefined,
    DOT: { reply: '421 4.3.2 going down', close: 'end' },
  } as const;
  const lacking = { extensions: ['SIZE 10'] };
  const rig = await startWith(
    { '127.0.0.1': { script }, '127.0.0.2': lacking, '127.0.0.3': {} },
    ...['127.0.0.1', '127.0.0.2', '127.0.0.3'],
  );
  const result = await rig.deliver({ to: ['ann@example.net', 'bad@example.net', 'bob@example.net'] });
  expect(kinds(result)).toEqual(['delivered', 'rejected', 'delivered']);
  expect(rig.sink('127.0.0.3').messages).toMatchObject([{ to: ['ann@example.net', 'bob@example.net'] }]);
});

test('of six hosts the policy names the last: it gets the mail, and no other is looked up', async () => {
  const rig = await startMxRig({
    policies: { 'example.net': 'version: STSv1\nmode: testing\nmx: mx6.example.net\nmax_age: 86400\n' },
  });
  rig.route('example.net', named([DOWN, DOWN, DOWN, DOWN, DOWN, '127.0.0.1']));
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'connect_refused' });
  const enforced = await startMxRig({
    policies: { 'example.net': 'version: STSv1\nmode: enforce\nmx: mx6.example.net\nmax_age: 86400\n' },
  });
  enforced.route('example.net', named([DOWN, DOWN, DOWN, DOWN, DOWN, '127.0.0.1']));
  const result = await enforced.deliver();
  // It offers no TLS; what matters is that it was reached.
  expect(only(result)).toMatchObject({ cause: 'tls_failed', enhanced: '4.7.4' });
  expect(result.evidence.host).toBe('mx6.example.net');
  expect(enforced.sink().connections).toBe(1);
  expect(enforced.dns.asked.filter(({ type }) => type === 'A')).toHaveLength(1);
  expect(result.evidence.steps[0]).toMatchObject({ verb: 'SKIP' });
  expect(result.evidence.steps[0]?.reply).toContain('mx5.example.net are not in the MTA-STS policy');
});

test('hosts that cannot be connected to for what the DNS says do not count among the five', async () => {
  const rig = await startMxRig();
  const hosts = Array.from({ length: 30 }, (_, i) => ({ preference: i, exchange: `mx${i}.example.net` }));
  rig.dns.set('example.net', 'MX', hosts);
  rig.dns.set('mx19.example.net', 'A', ['127.0.0.1']);
  expect(only(await rig.deliver()).kind).toBe('delivered');
  // Though there is an end to that as well.
  rig.dns.set('far.test', 'MX', [...hosts.map((host) => ({ ...host, exchange: `x${host.exchange}` }))]);
  rig.dns.set('xmx20.example.net', 'A', ['127.0.0.1']);
  expect(only(await rig.deliver({ to: ['a@far.test'] }))).toMatchObject({
    kind: 'rejected',
    enhanced: '5.4.4',
  });
});

test('an attempt opens connections for a quarter of an hour, over all hosts and addresses', async () => {
  const addresses = [1, 2, 3, 4, 5].map((last) => `127.0.0.${last}`);
  const silent = { script: { CONNECT: HANG } };
  const rig = await startMxRig({
    sinks: Object.fromEntries(addresses.map((address) => [address, silent])),
    timeouts: { greeting: 4 * MINUTE },
  });
  rig.route('example.net', named(addresses));
  const delivery = rig.deliver();
  for (const address of addresses.slice(0, 4)) {
    await rig.sink(address).until(() => rig.sink(address).connections === 1);
    await rig.clock.advance(address === '127.0.0.4' ? 3 * MINUTE : 4 * MINUTE);
  }
  const result = await delivery;
  expect(only(result)).toMatchObject({
    kind: 'deferred',
    cause: 'timeout_opening',
    enhanced: '4.4.1',
    hopFailed: true,
  });
  expect(result.evidence.timings.totalMs).toBe(15 * MINUTE);
  expect(rig.sink('127.0.0.5').connections).toBe(0);
  expect(rig.transport.connections()).toBe(0);
});

test('a transaction that has begun by then goes on', async () => {
  let reach = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  let answer = () => {};
  const after = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const script = {
    DOT: () => {
      reach();
      return { after, reply: '250 2.0.0 taken' };
    },
  };
  const rig = await startMxRig({ sinks: { '127.0.0.1': { script } }, timeouts: { dot: 60 * MINUTE } });
  rig.route('example.net', named(['127.0.0.1']));
  const delivery = rig.deliver();
  await reached;
  await rig.clock.advance(20 * MINUTE);
  answer();
  expect(only(await delivery).kind).toBe('delivered');
});
