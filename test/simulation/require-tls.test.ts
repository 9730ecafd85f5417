/** A demand of TLS on the way of a message: every attempt, the next relay, and the report on it (RFC 8689). */
import { expect, test } from 'vitest';
import { NO_EVIDENCE } from '../../src/domain/attempt.ts';
import type { Submission, TlsDemand } from '../../src/domain/message.ts';
import { localReply, type Outcome } from '../../src/domain/outcome.ts';
import type { Relay } from '../../src/domain/relay.ts';
import type { TransportJob } from '../../src/transport/transport.ts';
import { startNode } from './one-node.ts';
import { DEFERRED, hand, letter, OURS, SENDER, started, TAKEN } from './reporting.ts';
import { relayNamed, submissionNamed } from './scene.ts';

const PROVIDER: Relay = {
  ...relayNamed('out'),
  type: 'webhook',
  provider: { type: 'webhook', endpoint: 'https://hook.example', allowPrivate: false, secret: 'x' },
};
const LACKS: Outcome = {
  kind: 'rejected',
  reply: localReply('no_requiretls', '5.7.30', 'No'),
  hopBound: true,
};

/** A node whose two relays answer, in turn, what they are given; what each was asked to do. */
async function startedWith(answers: Readonly<Record<'out' | 'other', readonly Outcome[]>>, out: Relay) {
  const rule = {
    name: 'both',
    match: {},
    via: [
      { relay: 'out', weight: 1 },
      { relay: 'other', weight: 1 },
    ],
    order: 'given' as const,
  };
  const node = startNode(() => ({ ...OURS, routing: { ...OURS.routing, rules: [rule] } }));
  const asked: (readonly [relay: string, tls: TlsDemand | undefined])[] = [];
  const hop = (name: 'out' | 'other') => ({
    deliver: async ({ envelope, tls, gate }: TransportJob) => {
      const answer = answers[name][asked.filter(([relay]) => relay === name).length] ?? TAKEN;
      asked.push([name, tls]);
      await gate();
      const outcomes = envelope.recipients.map(() => answer);
      return { outcomes, evidence: NO_EVIDENCE, hopFailed: false, restMs: null };
    },
    connections: () => 0,
    close: async () => {},
  });
  node.engine.relays.put(out, hop('out'));
  node.engine.relays.put(relayNamed('other'), hop('other'));
  await node.started;
  const send = async (more: Partial<Submission> = {}) => {
    const id = await hand(node, { ...submissionNamed('x', 1), ...more });
    await node.run(60_000);
    return (await node.views.message(id))?.message;
  };
  return { ...node, asked, send };
}

test.each(['required', 'optional'] as const)('%s: every attempt and every relay hears of it', async (tls) => {
  const node = await startedWith({ out: [DEFERRED, LACKS], other: [DEFERRED] }, relayNamed('out'));
  expect(await node.send({ tls })).toMatchObject({ status: 'delivered', tls });
  expect(node.asked).toEqual([
    ['out', tls],
    ['other', tls],
    ['out', tls],
    ['other', tls],
  ]);
});

test('other mail demands nothing', async () => {
  const node = await startedWith({ out: [], other: [] }, relayNamed('out'));
  expect(await node.send()).toMatchObject({ status: 'delivered', tls: null });
  expect(node.asked).toEqual([['out', undefined]]);
});

test('a provider is not asked: the next relay is, and mail without the demand goes as ever', async () => {
  const node = await startedWith({ out: [], other: [] }, PROVIDER);
  expect(await node.send({ tls: 'required' })).toMatchObject({ status: 'delivered', relay: 'other' });
  expect(await node.send({ tls: 'optional' })).toMatchObject({ status: 'delivered', relay: 'out' });
  expect(node.asked).toEqual([
    ['other', 'required'],
    ['out', 'optional'],
  ]);
});

test('a provider is asked to take a report, which would be lost', async () => {
  const node = await startedWith({ out: [], other: [] }, PROVIDER);
  const envelope = { ...submissionNamed('x', 1).envelope, reversePath: '' };
  expect(await node.send({ tls: 'required', envelope })).toMatchObject({ status: 'delivered', relay: 'out' });
});

test('where no relay can, it fails at once, and says why', async () => {
  const node = await startedWith({ out: [], other: [LACKS] }, PROVIDER);
  const message = await node.send({ tls: 'required' });
  expect(message).toMatchObject({ status: 'failed', outcome: 'rejected', attempts: 2 });
  expect(message?.lastError).toMatchObject({ code: 'no_requiretls', enhancedCode: '5.7.30' });
});

test('the report on it demands the same, and returns the header alone', async () => {
  const node = await started({ bob: LACKS });
  const full = { envelope: { ...letter({ bob: null }).envelope, ret: 'FULL' as const } };
  await hand(node, letter({}, { ...full, tls: 'required' }));
  await hand(node, letter({}, { ...full, tls: 'optional' }));
  await node.run(10_000);
  const [demanding, plain] = node.reports();
  expect(demanding).toMatchObject({ to: [{ address: SENDER }], tls: 'required' });
  expect(demanding?.text).not.toContain('Hello.');
  expect(plain).toMatchObject({ tls: undefined });
  expect(plain?.text).toContain('Hello.');
});
