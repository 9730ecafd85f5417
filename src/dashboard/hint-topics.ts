import { OPERATION_NAMES, type OperationName } from '../control/operations.ts';
import type { Event } from '../observe/events.ts';
import type { Topic } from './contract.ts';

/** What may look different after something has happened. */
const OF_EVENTS: Readonly<Record<Event['type'], readonly Topic[]>> = {
  accepted: ['messages', 'queue'],
  attempted: ['messages', 'queue', 'relays'],
  cancelled: ['messages', 'queue'],
  acted: ['messages', 'queue'],
  denied: ['denials'],
  refused: ['denials'],
  probed: ['queue', 'relays', 'health'],
  lane_paused: ['queue', 'relays', 'health'],
  lane_resumed: ['queue', 'relays', 'health'],
  quota: ['relays', 'queue'],
  reclaimed: ['messages', 'queue'],
  reported: ['messages'],
  report_suppressed: [],
  report_unwritten: [],
  rerouted: ['queue'],
  operated: ['activity'],
  fault: ['health'],
};

const MAIL: readonly Topic[] = ['messages', 'queue', 'inbox'];
const ACCOUNTS: readonly Topic[] = ['users'];
const WAYS: readonly Topic[] = ['routes', 'queue'];
const RELAYS: readonly Topic[] = ['relays', 'routes', 'queue', 'settings'];

/** What may look different after an operation; the activity does in every case. */
const OF_OPERATIONS: Readonly<Partial<Record<OperationName, readonly Topic[]>>> = {
  ...{ createKey: ['keys'], updateKey: ['keys'], revokeKey: ['keys', 'queue'], rotateKey: ['keys'] },
  ...{ cancelMessage: MAIL, retryMessage: MAIL, resendMessage: MAIL, actOnMessages: MAIL },
  ...{ deleteCaptured: MAIL, releaseCaptured: MAIL, decideRestored: MAIL },
  ...{ hold: ['queue', 'relays', 'health'], actOnQueue: MAIL },
  ...{ publishRoutes: WAYS, rollbackRoutes: WAYS },
  ...{ addDomain: ['domains'], removeDomain: ['domains'], rotateDomain: ['domains'] },
  ...{ addRelay: RELAYS, updateRelay: RELAYS, removeRelay: RELAYS, switchRelay: RELAYS },
  ...{ createUser: ACCOUNTS, updateUser: ACCOUNTS, removeUser: ACCOUNTS, setupLink: ACCOUNTS },
  ...{ resetPassword: ACCOUNTS, resetSecondFactor: ACCOUNTS, endSession: ACCOUNTS, endSessions: ACCOUNTS },
  ...{ putSettings: ['settings', 'health'], putCertificate: ['settings', 'health'] },
  ...{ renewCertificate: ['settings', 'health'], allowSource: ['settings', 'denials'] },
  ...{ backup: ['health'], removeBackup: ['health'] },
};

const TOPICS: ReadonlySet<string> = new Set<Topic>([
  ...['messages', 'queue', 'inbox', 'relays', 'routes', 'domains'],
  ...['keys', 'settings', 'users', 'activity', 'health', 'denials'],
] as const);

/** Whether it is a topic that pages know; another version may have more of them. */
export function isTopic(text: string): text is Topic {
  return TOPICS.has(text);
}

/** The relay that captures mail instead of sending it. */
const INBOX = 'inbox';
const CAPTURED: readonly Topic[] = [...OF_EVENTS.attempted, 'inbox'];

/** What an event may have changed. */
export function topicsOfEvent(event: Event): readonly Topic[] {
  if (event.type === 'operated') return topicsOfOperation(event.operation);
  return event.type === 'attempted' && event.relay === INBOX ? CAPTURED : OF_EVENTS[event.type];
}

function topicsOfOperation(name: string): readonly Topic[] {
  const operation = OPERATION_NAMES.find((known) => known === name);
  const own = operation === undefined ? undefined : OF_OPERATIONS[operation];
  return [...(own ?? []), ...OF_EVENTS.operated];
}
