/** The reverse-paths of an engine's transactions, over a real store in virtual time (contract-2 §A2). */
import { expect, test } from 'vitest';
import { returnPathsOf, tokensOf } from '../../src/config/bounces.ts';
import { resolve } from '../../src/config/resolve.ts';
import { createVault } from '../../src/config/secrets.ts';
import { NO_EVIDENCE } from '../../src/domain/attempt.ts';
import type { Envelope, Submission } from '../../src/domain/message.ts';
import { localReply, type Outcome } from '../../src/domain/outcome.ts';
import type { Relay } from '../../src/domain/relay.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { tokenKeys } from '../../src/lib/recipient-token.ts';
import type { TransportJob } from '../../src/transport/transport.ts';
import { startNode } from './one-node.ts';
import { letter, OURS, SENDER } from './reporting.ts';
import { relayNamed } from './scene.ts';

const { derive } = createVault(new Uint8Array(32), seededRandom(1));
const { config } = resolve({
  environment: { WAYBILL_BOUNCES__DOMAIN: 'bounces.example.com' },
  file: null,
  stored: { settings: new Map(), relays: [] },
  readSecret: () => '',
});
const OURS_NOW = { ...config, tokenKeys: tokenKeys(derive) };
const VERP: Relay = {
  ...relayNamed('out'),
  smtp: {
    host: 'hop.example.net',
    port: 25,
    tls: 'none',
    verify: false,
    username: null,
    password: null,
    helo: null,
    sourceIps: [],
    ipFamily: 'any',
    returnPath: 'verp',
  },
};

function taken(dsnPassed: boolean): Outcome {
  const reply = localReply('smtp_reply', '2.0.0', 'Ok');
  return { kind: 'delivered', captured: false, reply, providerMessageId: null, dsnPassed };
}

/** A node whose hop offers DSN and defers what it hears first. */
async function started(relay: Relay) {
  const node = startNode(() => OURS, { returnPath: returnPathsOf(() => OURS_NOW) });
  const heard: Envelope[] = [];
  const later: Outcome = { kind: 'deferred', reply: localReply('smtp_reply', '4.7.1', 'Greylisted') };
  node.engine.relays.put(relay, {
    deliver: async (job: TransportJob) => {
      const isFirst = heard.length === 0;
      heard.push(job.envelope);
      await job.gate();
      const outcomes = job.envelope.recipients.map(() => (isFirst ? later : taken(true)));
      const steps = ['EHLO', 'MAIL', 'RCPT'].map((verb) => ({ verb, reply: '250 Ok', atMs: 1 }));
      return { outcomes, evidence: { ...NO_EVIDENCE, steps }, hopFailed: false, restMs: null };
    },
    connections: () => 0,
    close: async () => {},
  });
  await node.started;
  const hand = async (submission: Submission) => {
    const [answer] = await node.engine.intake.accept([submission]);
    await node.run(60_000);
    return answer?.kind === 'accepted' ? answer.id : '';
  };
  const verbs = async (id: string) => {
    const { attempts } = await node.views.attempts(id, { after: 0, limit: 10 });
    return attempts.map(({ evidence }) => evidence.steps.map(({ verb }) => verb));
  };
  return { ...node, heard, hand, verbs };
}

test('a message has the same return path in each attempt, and the record shows it', async () => {
  const node = await started(VERP);
  const id = await node.hand(letter({ bob: null }));
  const path = `${tokensOf(OURS_NOW, 'return_path')?.localPart({ id, recipient: 0 })}@bounces.example.com`;
  expect(node.heard.map(({ reversePath }) => reversePath)).toEqual([path, path]);
  expect((await node.views.message(id))?.message.envelopeFrom).toBe(SENDER);
  expect(await node.verbs(id)).toEqual([
    ['EHLO', `MAIL FROM:<${path}>`, 'RCPT'],
    ['EHLO', `MAIL FROM:<${path}>`, 'RCPT'],
  ]);
});

test('a transaction for several recipients has one return path, which names none of them', async () => {
  const node = await started(VERP);
  const id = await node.hand(letter({ bob: null, ann: null }));
  const path = `${tokensOf(OURS_NOW, 'return_path')?.localPart({ id, recipient: null })}@bounces.example.com`;
  expect(node.heard.map(({ reversePath }) => reversePath)).toEqual([path, path]);
});

test('we ask for failures with the header alone, keep ENVID and ORCPT, and tell the sender ourselves', async () => {
  const node = await started(VERP);
  const base = letter({ bob: 'SUCCESS', ann: 'NEVER', eve: 'FAILURE,DELAY' });
  const recipients = base.envelope.recipients.map((recipient) => ({ ...recipient, orcpt: 'rfc822;x@y' }));
  await node.hand({ ...base, envelope: { ...base.envelope, recipients, envid: 'e1', ret: 'FULL' } });
  const [, again, report] = node.heard;
  expect(again).toMatchObject({ envid: 'e1', ret: 'HDRS' });
  expect(again?.recipients.map(({ notify, orcpt }) => [notify, orcpt])).toEqual([
    ['SUCCESS,FAILURE', 'rfc822;x@y'],
    [null, 'rfc822;x@y'],
    ['FAILURE,DELAY', 'rfc822;x@y'],
  ]);
  // The hop takes DSN, but its notifications do not go to the sender.
  expect(report).toMatchObject({ reversePath: '', recipients: [{ address: SENDER }] });
});

test.each<[string, Relay, Partial<Submission>]>([
  ['without a sender', VERP, { envelope: { ...letter({ bob: 'SUCCESS' }).envelope, reversePath: '' } }],
  ['over a smarthost that decides by itself', relayWith('auto'), {}],
  ['over a relay that keeps it', relayWith('keep'), {}],
])('mail %s keeps its reverse-path', async (_, relay, more) => {
  const node = await started(relay);
  const submission = letter({ bob: 'SUCCESS' }, more);
  const id = await node.hand(submission);
  const { reversePath } = submission.envelope;
  expect(node.heard.map((envelope) => envelope.reversePath)).toEqual([reversePath, reversePath]);
  expect(node.heard[1]?.recipients[0]?.notify).toBe('SUCCESS');
  expect((await node.verbs(id))[0]).toEqual(['EHLO', 'MAIL', 'RCPT']);
});

function relayWith(returnPath: 'auto' | 'keep'): Relay {
  if (VERP.smtp === null) throw new Error('not a smarthost');
  return { ...VERP, smtp: { ...VERP.smtp, returnPath } };
}
