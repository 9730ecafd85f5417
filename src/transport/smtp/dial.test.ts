import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { type DialTarget, dial, type Family, type LookUp, SourceAddresses } from './dial.ts';
import { HopFailure } from './failure.ts';
import { Trace } from './trace.ts';

/** No host has it (RFC 5737): a connection to it is refused by the way there, or never answered. */
const NOWHERE = '192.0.2.1';
/** Of this machine, where nobody listens. */
const REFUSES = '127.0.0.9';
const HERE = '127.0.0.1';

type Origin = ConstructorParameters<typeof SourceAddresses>[0];

/** Dials a name that has these addresses, while time goes by. */
async function dialled(
  addresses: Partial<Record<Family, readonly string[]>>,
  origin: Partial<Origin>,
  signal = new AbortController().signal,
) {
  const server = createServer((socket) => void socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, HERE, resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const sources = new SourceAddresses({ sourceIps: [], ipFamily: 'any', ...origin });
  const target: DialTarget = { host: 'mail.test', address: null, port, sources };
  const lookUp: LookUp = (_host, family) => {
    const found = addresses[family];
    const unknown = Object.assign(new Error('unknown'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' });
    return found === undefined ? Promise.reject(unknown) : Promise.resolve(found);
  };
  const clock = new ManualClock();
  const trace = new Trace('mail.test', clock);
  const dialling = dial(target, clock, trace, signal, lookUp);
  let ended = false;
  const end = () => {
    ended = true;
  };
  dialling.then(end, end);
  while (!ended) await clock.advance(100);
  return dialling.then(
    (socket) => {
      socket.destroy();
      return trace.address;
    },
    (error: unknown) => (error instanceof HopFailure ? error.reply.cause : error),
  );
}

test.each([
  ['refuses', REFUSES],
  ['never answers', NOWHERE],
])('over one family a host whose first address %s is reached at the next', async (_what, first) => {
  expect(await dialled({ 4: [first, HERE] }, { ipFamily: 'ipv4' })).toBe(HERE);
});

test('an address of the one family that never answers leaves time for the other', async () => {
  const origin = { sourceIps: ['127.0.0.21', '::1'] };
  expect(await dialled({ 6: ['2001:db8::1'], 4: [NOWHERE, HERE] }, origin)).toBe(HERE);
});

test('a name that has no address of a family is reached over the other', async () => {
  expect(await dialled({ 4: [HERE] }, { sourceIps: ['127.0.0.21', '::1'] })).toBe(HERE);
});

test('what the last address says is what is told, or that the name is unknown', async () => {
  expect(await dialled({ 4: ['127.0.0.8', REFUSES] }, { ipFamily: 'ipv4' })).toBe('connect_refused');
  expect(await dialled({}, { ipFamily: 'ipv4' })).toBe('dns_failed');
});

test('told to stop before it began it asks nobody', async () => {
  const reason = new Error('enough');
  expect(await dialled({ 4: [HERE] }, { ipFamily: 'ipv4' }, AbortSignal.abort(reason))).toBe(reason);
});
