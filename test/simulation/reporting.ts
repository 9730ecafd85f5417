/** A node that reports to senders, whose hop answers as a test says. */
import { NO_EVIDENCE } from '../../src/domain/attempt.ts';
import type { Recipient, Submission } from '../../src/domain/message.ts';
import { localReply, type Outcome } from '../../src/domain/outcome.ts';
import type { EngineSettings } from '../../src/engine/contract.ts';
import type { Event } from '../../src/observe/events.ts';
import type { TransportJob } from '../../src/transport/transport.ts';
import { startNode } from './one-node.ts';
import { relayNamed, SETTINGS, submissionNamed } from './scene.ts';

export const MINUTE = 60_000;
export const OURS: EngineSettings = {
  ...SETTINGS,
  routing: { version: 1, rules: [], defaultRelay: 'out', postmaster: null },
  retry: { firstMs: 10_000, maxMs: 60_000, maxAgeMs: 6 * MINUTE, ambiguous: 'retry' },
  reports: { hostname: 'relay.example', relay: null, delayAfterMs: 2 * MINUTE, perHour: 20 },
};
export const SENDER = 'a@example.com';
export const REJECTED: Outcome = {
  kind: 'rejected',
  reply: localReply('smtp_reply', '5.1.1', 'No such user'),
};
export const DEFERRED: Outcome = { kind: 'deferred', reply: localReply('smtp_reply', '4.7.1', 'Greylisted') };
export const TAKEN: Outcome = {
  kind: 'delivered',
  captured: false,
  reply: localReply('smtp_reply', '2.0.0', 'Ok'),
  providerMessageId: null,
  dsnPassed: false,
};

/** A message that the hop was given. */
export interface Sent {
  readonly from: string;
  readonly to: readonly Recipient[];
  readonly text: string;
  readonly tls: TransportJob['tls'];
}

/** A node whose hop answers by the recipient's name, and takes all that is for the sender. */
function startReporting(answers: Readonly<Record<string, Outcome>>, more: Partial<EngineSettings> = {}) {
  const settings = { ...OURS, ...more };
  const node = startNode(() => settings);
  const sent: Sent[] = [];
  const events: Event[] = [];
  node.events.on((event) => events.push(event));
  const hopNamed = (hop: Sent[]) => ({
    deliver: async (job: TransportJob) => {
      const { reversePath, recipients } = job.envelope;
      const outcomes = recipients.map(({ address }) => answers[address.split('@')[0] ?? ''] ?? TAKEN);
      if (outcomes.some(({ kind }) => kind === 'delivered') && (await job.gate()))
        hop.push({ from: reversePath, to: recipients, text: await textOf(job), tls: job.tls });
      return { outcomes, evidence: NO_EVIDENCE, hopFailed: false, restMs: null };
    },
    connections: () => 0,
    close: async () => {},
  });
  node.engine.relays.put(relayNamed('out'), hopNamed(sent));
  const faults = () => events.flatMap((event) => (event.type === 'fault' ? [event.code] : []));
  const reports = () => sent.filter(({ from }) => from === '');
  const reported = () => events.filter(({ type }) => type === 'reported');
  return { ...node, sent, seen: events, faults, reports, reported, hopNamed };
}

async function textOf(job: TransportJob): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of job.content.chunks()) parts.push(chunk);
  return Buffer.concat(parts).toString('latin1');
}

const MESSAGE = Buffer.from('Message-ID: <1@example.com>\r\nSubject: x\r\n\r\nHello.\r\n');

export function letter(
  names: Readonly<Record<string, string | null>>,
  more: Partial<Submission> = {},
): Submission {
  const recipients = Object.entries(names).map(([name, notify]) => ({
    address: `${name}@example.net`,
    kind: 'to' as const,
    notify,
    orcpt: null,
  }));
  const base = submissionNamed('letter', 1);
  return {
    ...base,
    content: { ...base.content, chunks: [MESSAGE], sizeBytes: MESSAGE.length },
    envelope: { ...base.envelope, recipients },
    source: 'smtp',
    reportable: true,
    ...more,
  };
}

type Node = ReturnType<typeof startReporting>;

export async function hand({ engine }: Pick<Node, 'engine'>, submission: Submission): Promise<string> {
  const [answer] = await engine.intake.accept([submission]);
  if (answer?.kind !== 'accepted') throw new Error(`not accepted: ${answer?.kind}`);
  return answer.id;
}

/** Whom a report names, with what action. */
export function namedIn(report: Sent | undefined): string[] {
  const found = report?.text.matchAll(/^Final-Recipient: rfc822; (.*)\r\nAction: (.*)\r$/gm) ?? [];
  return [...found].map(([, address, action]) => `${address} ${action}`);
}

export async function started(...parts: Parameters<typeof startReporting>): Promise<Node> {
  const node = startReporting(...parts);
  await node.started;
  await node.run(2_000);
  return node;
}
