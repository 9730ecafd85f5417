import type { Access } from '../../call.ts';
import type { Provider } from '../provider.ts';
import { EVENT_ENDPOINTS } from './events.ts';
import { refuseAsMailgun } from './refusals.ts';
import { send, sendFinished } from './sending.ts';
import { SUPPRESSION_ENDPOINTS } from './suppressions.ts';

/** Mailgun's API (contract-2 §C5). The domain in the path selects no sender: the key decides which it may use. */

const SEND: Access = { scheme: 'basic', scopes: ['messages:send'], window: 'send' };

/** See contract-2 §C5. */
// biome-ignore format: a table
export const MAILGUN: Provider = {
  name: 'mailgun',
  refuse: refuseAsMailgun,
  owns: (path) => OWN.test(path),
  endpoints: [
    { method: 'POST', path: '/v3/{domain}/messages',      access: SEND, handle: send },
    { method: 'POST', path: '/v3/{domain}/messages.mime', access: SEND, handle: sendFinished },
    ...EVENT_ENDPOINTS,
    ...SUPPRESSION_ENDPOINTS,
  ],
};

/** Everything below a domain, which has a dot, and what Mailgun has for domains. */
const OWN = /^\/v3\/(?:domains|[^/]*\.[^/]*)(?:\/|$)/;
