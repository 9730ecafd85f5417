/** A demand of TLS on the way of a message: every attempt, the next relay, and the report on it (RFC 8689). */
import { expect, test } from 'vitest';
import { NO_EVIDENCE } from '../../src/domain/attempt.ts';
import type { TlsDemand } from '../../src/domain/message.ts';
import { localReply, type Outcome } from '../../src/domain/outcome.ts';
import type { ProviderSettings, Relay } from '../../src/domain/relay.ts';
import type { TransportJob } from '../../src/transport/transport.ts';
import { startNode } from './one-node.ts';
import { hand, letter, OURS, SENDER, started } from './reporting.ts';
import { relayNamed, submissionNamed } from './scene.ts';

const PROVIDER: ProviderSettings = {
  type: 'webhook',
  endpoint: 'https://hook.example',
  allowPrivate: false,
  secret: 'x',
};
const TAKEN: Outcome = {
  kind: 'delivered',
  captured: false,
  reply: localReply('smtp_reply', '2.0.0', 'Ok'),
  providerMessageId: null,
  dsnPassed: false,
};
const LATER: Outcome = { kind: 'deferred', reply: localReply('smtp_reply', '4.7.1', 'Greylisted') };
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
  const send = async (tls?: TlsDemand) => {
    const submission = { ...submissionNamed('x', 1), ...(tls !== undefined && { tls }) };
    const [answer] = await node.engine.intake.accept([submission]);
    await node.run(60_000);
    return (await node.views.message(answer?.kind === 'accepted' ? answer.id : ''))?.message;
  };
  return { ...node, asked, send };
}

test.each(['required', 'optional'] as const)('%s: every attempt and every relay hears of it', async (tls) => {
  const node = await startedWith({ out: [LATER, LACKS], other: [LATER] }, relayNamed('out'));
  expect(await node.send(tls)).toMatchObject({ status: 'delivered', tls });
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
  const provider: Relay = { ...relayNamed('out'), type: 'webhook', provider: PROVIDER };
  const node = await startedWith({ out: [], other: [] }, provider);
  expect(await node.send('required')).toMatchObject({ status: 'delivered', relay: 'other' });
  expect(await node.send('optional')).toMatchObject({ status: 'delivered', relay: 'out' });
  expect(node.asked).toEqual([
    ['other', 'required'],
    ['out', 'optional'],
  ]);
});

test('where no relay can, it fails at once, and says why', async () => {
  const provider: Relay = { ...relayNamed('out'), type: 'webhook', provider: PROVIDER };
  const node = await startedWith({ out: [], other: [LACKS] }, provider);
  const message = await node.send('required');
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
