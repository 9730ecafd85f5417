import type { RequestOf } from '../../src/operations/table.ts';

/** What is asked for a key that sends and has nothing special about it, but for its name. */
export const PLAIN_KEY: Omit<RequestOf<'createKey'>, 'name'> = {
  test: false,
  scopes: ['messages:send'],
  rateLimit: null,
  expiresAt: null,
  cidrs: [],
  senderDomains: [],
  contentDays: null,
};
