import { HEALTHY, type WebhookEndpoint, type WebhookTry } from '../../src/domain/webhook.ts';
import { createIdSource } from '../../src/lib/id.ts';
import { seededRandom } from '../../src/lib/random.ts';
import type { StoredEndpoint } from '../../src/store/webhooks.ts';

/** Endpoints and tries for tests. */

const T0 = Date.UTC(2026, 10, 20);
const nextId = createIdSource({ wall: () => T0 }, seededRandom(12), 'whe_');

/** An endpoint of a key, told of all that becomes of messages. */
export function endpointOf(change: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  return {
    id: nextId(),
    keyId: 'key_one',
    inFile: null,
    url: 'https://hooks.example.com/waybill',
    types: ['message.*'],
    keys: [],
    tags: [],
    description: '',
    includesSubject: false,
    enabled: true,
    headers: {},
    createdAt: T0,
    updatedAt: T0,
    ...change,
  };
}

/** As stored. */
export function storedEndpoint(change: Partial<WebhookEndpoint> = {}): StoredEndpoint {
  return { endpoint: endpointOf(change), secrets: 'sealed', health: HEALTHY, keyEndsAt: null };
}

/** A try that was answered so. */
export function tryOf(change: Partial<WebhookTry> = {}): WebhookTry {
  return { at: T0, durationMs: 5, status: 200, error: null, answer: 'ok', retryAfterMs: null, ...change };
}
