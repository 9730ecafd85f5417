import { type Feedback, NO_FACTS, NO_MESSAGE } from '../../src/domain/feedback.ts';
import { createIdSource } from '../../src/lib/id.ts';
import { seededRandom } from '../../src/lib/random.ts';
import type { Telling, TellRules } from '../../src/store/telling.ts';

/** What is told to a store, for tests that look at what it keeps. */

/** The usual rules. */
export const TELL_RULES: TellRules = {
  scope: { hard_bounce: 'global', complaint: 'domain', unsubscribe: 'domain' },
  days: { hard: 0, soft: 30, provider: 90, complaint: 0, unsubscribe: 0 },
  softBounces: 5,
  maxEntries: 1_000_000,
  guarded: [],
};

let clock = Date.UTC(2026, 10, 20);
const random = seededRandom(11);
const nextId = createIdSource({ wall: () => clock++ }, random, 'fbk_');
const nextEntryId = createIdSource({ wall: () => clock++ }, random, 'sup_');

/** One thing told of a message by its id, with its evidence; ids rise from call to call. */
export function telling(
  messageId: string | null,
  change: Partial<Feedback> = {},
  more: Partial<Telling> = {},
): Telling {
  const message = { ...NO_MESSAGE, id: messageId };
  const told = { kind: 'delayed', source: 'dsn', recipient: null, bounce: NO_FACTS, at: null } as const;
  return {
    id: nextId(),
    source: 'dsn',
    items: [{ feedback: { ...told, message, ...change }, onceId: null, entryId: nextEntryId() }],
    evidence: { contentType: 'message/rfc822', base64: 'RnJvbTo=' },
    mayBeEarly: false,
    ...more,
  };
}
