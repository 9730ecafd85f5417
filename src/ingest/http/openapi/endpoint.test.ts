import { expect, test } from 'vitest';
import type { Exchange } from '../../../http/exchange.ts';
import { descriptionEndpoint } from './endpoint.ts';

test('the description is encoded once, however often anybody asks for it', async () => {
  const endpoint = descriptionEndpoint();
  const bodies: unknown[] = [];
  const send = (_status: number, _type: string, body: unknown) => void bodies.push(body);
  const exchange = { query: new URLSearchParams(), headers: {}, send } as unknown as Exchange;
  for (let times = 0; times < 3; times++) await endpoint(exchange);
  expect(bodies[0]).toBeInstanceOf(Uint8Array);
  expect(new Set(bodies).size).toBe(1);
});
