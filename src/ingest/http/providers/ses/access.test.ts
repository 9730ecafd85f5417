import { expect, test } from 'vitest';
import { apiKey } from '../../../../../test/contract/store/fixtures.ts';
import { RawClient, serve } from '../../../../../test/peers/http.ts';
import { bodyDigestOf, EXAMPLE_ID, EXAMPLE_SECRET, signed } from '../../../../../test/support/aws-signing.ts';
import { Budget } from '../../../../lib/budget.ts';
import { JSON_WEIGHT } from '../../read-fields.ts';
import { readSignedBody, signedCaller } from './access.ts';

const NOW = Date.UTC(2026, 10, 20, 11, 15);
const LIMITS = { maxMessageBytes: 1024 * 1024 };
const CALLER = { key: apiKey('a'), sources: null };
const BODY = '{"Content":{}}';

test.each([
  ['whose digest is said', [['X-Amz-Content-Sha256', bodyDigestOf(Buffer.from(BODY))]]],
  ['that is read to verify the signature', []],
] as const)('a body %s takes as much of the budget as any message in JSON', async (_, digest) => {
  const budget = new Budget({ capacity: 64 * LIMITS.maxMessageBytes, maxWaiters: 1 });
  const deps = {
    authenticator: { findSigner: async () => ({ secret: EXAMPLE_SECRET, caller: CALLER }) },
    budget,
    clock: { wall: () => NOW },
    options: { limits: LIMITS, publicHosts: [] },
  };
  const { port } = await serve(async (exchange) => {
    await signedCaller(exchange, deps);
    const body = await readSignedBody(exchange, LIMITS, budget.share('a key'));
    exchange.json(200, { body: String(body), taken: budget.taken });
  });
  const request = { method: 'POST', path: '/v2/email/outbound-emails', search: '' };
  const given = [['Host', 'x'], ['X-Amz-Date', '20261120T111500Z'], ...digest] as const;
  const { headers } = signed({ ...request, headers: given }, BODY, {
    accessKeyId: EXAMPLE_ID,
    secret: EXAMPLE_SECRET,
  });
  const lines = [...headers, ['Content-Length', BODY.length]].map(([name, value]) => `${name}: ${value}\r\n`);
  const client = new RawClient(port, `POST ${request.path} HTTP/1.1\r\n${lines.join('')}\r\n${BODY}`);
  const answer = await client.until(/"taken":\d+}|"errors"/);
  expect(answer).toContain(JSON.stringify({ body: BODY, taken: JSON_WEIGHT * BODY.length }));
});
