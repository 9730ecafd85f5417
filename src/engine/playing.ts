import { type Feedback, NO_MESSAGE } from '../domain/feedback.ts';
import type { Submission } from '../domain/message.ts';
import { localReply, type Outcome } from '../domain/outcome.ts';
import { suppressedOf } from '../domain/suppressed-address.ts';
import type { Suppression } from '../domain/suppression.ts';
import { type PlayedFeedback, playAttempt, testOutcomeOf } from '../domain/test-outcome.ts';
import type { Unit } from '../store/store.ts';
import type { TransportResult } from '../transport/transport.ts';
import type { FeedbackRoom } from './feedback.ts';

/** Outcomes on demand (contract-2 §G1): what becomes of captured mail whose recipients ask for something. */

/** Plays what the recipients of captured mail ask for: the outcomes in place of the captures. Never rejects. */
export type Play = (unit: Unit, captured: TransportResult) => Promise<TransportResult>;

/** What is told later is on disk before the attempt ends, so that nothing is forgotten in a restart. */
export function createPlay(
  feedback: Pick<FeedbackRoom, 'plan'>,
  fault: (code: string, error: unknown) => void,
): Play {
  return async (unit, captured) => {
    if (!unit.deliveries.some(({ recipient }) => testOutcomeOf(recipient.address) !== null)) return captured;
    const outcomes: Outcome[] = [...captured.outcomes];
    const places: number[] = [];
    const told: Feedback[] = [];
    for (const [place, { index, attempts, recipient }] of unit.deliveries.entries()) {
      const asked = testOutcomeOf(recipient.address);
      if (asked === null || outcomes[place]?.kind !== 'delivered') continue;
      const played = playAttempt(asked, attempts);
      outcomes[place] = played.outcome;
      if (played.told === null) continue;
      places.push(place);
      told.push(feedbackOf(unit.messageId, index, played.told));
    }
    const planned = told.length === 0 ? [] : await planOf(told);
    for (const [which, place] of places.entries()) if (planned[which] !== true) outcomes[place] = NOT_PLANNED;
    return { ...captured, outcomes };
  };

  async function planOf(told: readonly Feedback[]): Promise<readonly boolean[]> {
    try {
      return await feedback.plan(told);
    } catch (error) {
      fault('not_planned', error);
      return [];
    }
  }
}

function feedbackOf(id: string, recipient: number, { kind, source, bounce }: PlayedFeedback): Feedback {
  return {
    kind,
    source,
    message: { ...NO_MESSAGE, token: { id, recipient } },
    recipient: null,
    bounce,
    at: null,
  };
}

const NOT_PLANNED: Outcome = {
  kind: 'deferred',
  reply: localReply('not_planned', '4.3.2', 'Too many outcomes on demand wait to be played'),
  ofRecipient: true,
};

/** How long an entry lasts that a recipient asked for; every message to it renews the entry. */
const ENTRY_MS = 86_400_000;

/**
 * The entries, of its key's scope, of those recipients of a test key's mail that ask to be suppressed: with them in the
 * list, everything else is as ever.
 */
export function playedEntries(
  { test, keyId, envelope }: Pick<Submission, 'test' | 'keyId' | 'envelope'>,
  nextId: () => string,
  now: number,
): Suppression[] {
  if (!test || keyId === null) return [];
  return envelope.recipients
    .filter(({ address }) => testOutcomeOf(address) === 'suppressed')
    .map(({ address }) => ({
      id: nextId(),
      address: suppressedOf(address).address,
      scope: `key:${keyId}`,
      stream: null,
      reason: 'hard_bounce',
      source: 'smtp',
      evidence: { messageId: null, at: now, code: 550, enhancedCode: '5.1.1', text: 'Played for a test' },
      note: '',
      createdAt: now,
      updatedAt: now,
      expiresAt: now + ENTRY_MS,
    }));
}
