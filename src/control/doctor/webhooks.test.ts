import { expect, test } from 'vitest';
import { premises } from '../../../test/support/premises.ts';
import { storedEndpoint } from '../../../test/support/webhooks.ts';
import { sealedSecrets } from '../../config/webhook-secrets.ts';
import { HEALTHY, type WebhookEndpoint, type WebhookHealth } from '../../domain/webhook.ts';
import { webhooksCheck } from './webhooks.ts';

const FILE = `
server: { hostname: mail.example.com }
webhooks:
  endpoints: [{ name: shop, url: "https://shop.example.com/", secret_file: /run/secrets/shop }]
`;

async function look(
  endpoints: readonly (Partial<WebhookEndpoint> & { health?: Partial<WebhookHealth>; secrets?: string })[],
  file?: string,
) {
  const { loaded } = premises();
  const stored = endpoints.map(({ health, secrets, ...change }) => {
    const one = storedEndpoint({ id: 'whe_1', url: 'https://a.example/', ...change });
    const sealed = loaded.vault === null ? '' : sealedSecrets('whsec_x', 'whe_1', loaded.vault);
    return { ...one, secrets: secrets ?? sealed, health: { ...HEALTHY, ...health } };
  });
  const webhooks = { webhookEndpoints: async () => stored };
  const given = premises({ webhooks, ...(file === undefined ? { loaded } : { file }) });
  const found = await webhooksCheck(given, new AbortController().signal);
  return found.map(({ name, status, found: text }) => `${name} ${status}: ${text}`);
}

test.each<[string, Parameters<typeof look>[0], string]>([
  ['none', [], 'webhooks skipped: Nobody is told of events.'],
  ['one that is well', [{}], 'webhooks ok: 1 of 1 endpoints take what they are told, or are switched off.'],
  [
    'one that is off and failed',
    [{ enabled: false, health: { state: 'disabled' } }],
    'webhooks ok: 1 of 1 endpoints take what they are told, or are switched off.',
  ],
  [
    'one that is disabled',
    [{ health: { state: 'disabled', reason: 'It answered 410.' } }],
    'webhook whe_1 warn: https://a.example/ is told of nothing. It answered 410.',
  ],
  [
    'one that fails',
    [{ health: { state: 'failing', failingSince: 0, reason: 'It answered 500.' } }],
    'webhook whe_1 warn: https://a.example/ has taken nothing since 1970-01-01T00:00:00.000Z. It answered 500.',
  ],
  [
    'one whose secret cannot be opened',
    [{ secrets: 'sealed elsewhere' }],
    'webhook whe_1 warn: The secret that signs what https://a.example/ is told was sealed with another secret.key.',
  ],
])('of %s', async (_, endpoints, line) => {
  expect(await look(endpoints)).toEqual([line]);
});

test('many that are not well are told of in part', async () => {
  const found = await look(Array.from({ length: 25 }, () => ({ health: { state: 'disabled' as const } })));
  expect([found.length, found.at(-1)]).toEqual([21, 'webhooks warn: 5 more are not well.']);
});

test('one of the file that was not taken over is named', async () => {
  expect(await look([], FILE)).toEqual([
    expect.stringMatching(
      /^webhook shop warn: It stands in the configuration file, but could not be taken over/,
    ),
  ]);
});

test('without the database nothing is known', async () => {
  const found = await webhooksCheck(premises(), new AbortController().signal);
  expect(found.map(({ status }) => status)).toEqual(['skipped']);
});
