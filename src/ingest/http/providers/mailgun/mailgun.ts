import { Problem } from '../../../../http/problem.ts';
import type { Access } from '../../call.ts';
import type { Provider, ProviderEndpoint } from '../provider.ts';
import { EVENT_ENDPOINTS } from './events.ts';
import { refuseAsMailgun } from './refusals.ts';
import { send, sendFinished } from './sending.ts';
import { SUPPRESSION_ENDPOINTS } from './suppressions.ts';

/** Mailgun's API (contract-2 §C5). The domain in the path selects no sender: the key decides which it may use. */

const SEND: Access = { scheme: 'basic', scopes: ['messages:send'], window: 'send' };

// biome-ignore format: a table
const ENDPOINTS: readonly ProviderEndpoint[] = [
  { method: 'POST', path: '/v3/{domain}/messages',      access: SEND, handle: send },
  { method: 'POST', path: '/v3/{domain}/messages.mime', access: SEND, handle: sendFinished },
  ...EVENT_ENDPOINTS,
  ...SUPPRESSION_ENDPOINTS,
];

/** See contract-2 §C5. */
export const MAILGUN: Provider = {
  name: 'mailgun',
  refuse: refuseAsMailgun,
  owns: (path) => OWN.test(path),
  endpoints: ENDPOINTS.map(ofDomain),
};

/** Everything below a domain, which has a dot, and what Mailgun has for domains. */
const OWN = /^\/v3\/(?:domains|[^/]*\.[^/]*)(?:\/|$)/;

/** Answers for a domain with a dot alone: other paths are not Mailgun's. */
function ofDomain({ handle, ...endpoint }: ProviderEndpoint): ProviderEndpoint {
  return {
    ...endpoint,
    handle: async (call, deps) => {
      if (call.params['domain']?.includes('.') !== true)
        throw new Problem(404, 'not_found', 'There is no such domain: it needs a dot.');
      await handle(call, deps);
    },
  };
}
