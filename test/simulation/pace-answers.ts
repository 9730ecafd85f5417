/** Hops of a pace world that answer as a test says, attempt by attempt. */
import { NO_EVIDENCE } from '../../src/domain/attempt.ts';
import { localReply, type Outcome, type Reply } from '../../src/domain/outcome.ts';
import type { TransportResult } from '../../src/transport/transport.ts';
import type { PaceWorld } from './pace-world.ts';

/** An attempt, as whoever answers it sees it. */
export interface Tried {
  readonly relay: string;
  readonly token: string;
  /** How many began before, over all relays. */
  readonly number: number;
  /** ms of world time. */
  readonly at: number;
}

/** What an attempt comes to, and how long it takes, in ms. */
export interface Answer extends Partial<TransportResult> {
  readonly takesMs?: number;
  readonly outcome: Outcome;
}

/** It is taken. */
export const TAKEN: Answer = {
  outcome: {
    kind: 'delivered',
    captured: false,
    reply: { code: 250, enhanced: null, cause: 'smtp_reply', text: '' },
    providerMessageId: null,
    dsnPassed: false,
  },
};
/** The relay cannot express it: nothing was sent. */
export const NO_FORM: Answer = {
  unspoken: true,
  outcome: { kind: 'rejected', hopBound: true, reply: localReply('no_8bitmime', '5.6.3', '') },
};

/** It is put off; `hopFailed` and `restMs` as the answer has them. */
export function putOff(code: number, rest: Omit<Partial<Answer>, 'outcome'> = {}): Answer {
  return {
    ...rest,
    outcome: { kind: 'deferred', reply: { code, enhanced: null, cause: 'later', text: '' } },
  };
}

/**
 * Lets `answer` speak for all hops of relays that are put from now on; returns the attempts, in the order in which they
 * began. With `troubleOf` hops can be asked without mail; null: it is well.
 */
export function answerBy(
  world: PaceWorld,
  answer: (tried: Tried) => Answer,
  troubleOf?: () => Reply | null,
): Tried[] {
  const all: Tried[] = [];
  world.hop.transportOf = (_node, life, relay) => ({
    deliver: async (job) => {
      const parts: Uint8Array[] = [];
      const number = all.length;
      const at = world.time.now;
      const place = all.push({ relay, token: '', number, at }) - 1;
      for await (const chunk of job.content.chunks()) parts.push(chunk);
      const tried = { relay, token: Buffer.concat(parts).toString('latin1'), number, at };
      all[place] = tried;
      const { takesMs = 100, outcome, ...result } = answer(tried);
      const isOpen = await job.gate();
      await world.time.sleep(takesMs);
      await life.running();
      const outcomes = job.envelope.recipients.map(() => (isOpen ? outcome : CLOSED));
      return { evidence: { ...NO_EVIDENCE }, hopFailed: false, restMs: null, ...result, outcomes };
    },
    ...(troubleOf === undefined ? {} : { probe: async () => ({ host: relay, trouble: troubleOf() }) }),
    connections: () => 0,
    close: async () => {},
  });
  return all;
}

const CLOSED: Outcome = { kind: 'deferred', reply: localReply('gate_closed', '4.0.0', '') };
