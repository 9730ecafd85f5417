import { expect, test } from 'vitest';
import { rateHeaders } from './call.ts';

test('headers: the plain three and the structured two', () => {
  const verdict = { window: 'read', allowed: true, limit: 100, remaining: 7, resetSeconds: 12 } as const;
  expect(rateHeaders(verdict)).toEqual({
    'ratelimit-limit': '100',
    'ratelimit-remaining': '7',
    'ratelimit-reset': '12',
    'RateLimit-Policy': '"read";q=100;w=60',
    RateLimit: '"read";r=7;t=12',
  });
});
