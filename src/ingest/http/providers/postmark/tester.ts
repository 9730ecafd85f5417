import type { Caller } from '../../../authenticator.ts';

/**
 * Whoever tries the API out with the token that Postmark has for this: what is sent is checked, and nothing is stored.
 * Nobody can have a key of this id. A file of its own: those who authenticate requests know it too.
 */

/** The token in place of a key. Everybody knows it. */
export const POSTMARK_TEST_TOKEN = 'POSTMARK_API_TEST';

/** Requests a minute, of all who use the token together. */
const PER_MINUTE = 600;

/** The caller with that token. */
export const POSTMARK_TESTER: Caller = {
  key: {
    id: 'postmark api test',
    name: POSTMARK_TEST_TOKEN,
    mode: 'test',
    prefix: '',
    scopes: ['messages:send'],
    createdAt: 0,
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
    rateLimit: PER_MINUTE,
    cidrs: [],
    senderDomains: [],
    contentDays: null,
    recordDays: null,
  },
  sources: null,
};
