import { ANY_MAIL } from '../../../../domain/query.ts';
import { MAX_COUNTED } from '../../../../store/views.ts';
import type { Access, Call } from '../../call.ts';
import { NO_PARAMETERS, readParameters } from '../../query.ts';
import type { Provider, ProviderDeps, ProviderEndpoint } from '../provider.ts';
import { answerAsSes, refuseAsSes } from './answers.ts';
import { sendBulk } from './bulk.ts';
import { send } from './sending.ts';
import { listSuppressed, showSuppressed, suppress, unsuppress } from './suppressions.ts';

/** SES's API, version 2 (contract-2 §C6): requests are signed. */

// biome-ignore format: a table
const ACCESS = {
  send:       { scheme: 'aws4', scopes: ['messages:send'],                  window: 'send' },
  read:       { scheme: 'aws4', scopes: ['messages:send', 'messages:read'], window: 'read' },
  suppressed: { scheme: 'aws4', scopes: ['suppressions:read', 'admin'],     window: 'read' },
  suppress:   { scheme: 'aws4', scopes: ['suppressions:write', 'admin'],    window: 'send' },
} satisfies Record<string, Access>;

const SUPPRESSIONS = '/v2/email/suppression/addresses';

// biome-ignore format: a table
const ENDPOINTS: readonly ProviderEndpoint[] = [
  { method: 'POST',   path: '/v2/email/outbound-emails',         access: ACCESS.send,       handle: send },
  { method: 'POST',   path: '/v2/email/outbound-bulk-emails',    access: ACCESS.send,       handle: sendBulk },
  { method: 'GET',    path: '/v2/email/account',                 access: ACCESS.read,       handle: showAccount },
  { method: 'GET',    path: SUPPRESSIONS,                        access: ACCESS.suppressed, handle: listSuppressed },
  { method: 'PUT',    path: SUPPRESSIONS,                        access: ACCESS.suppress,   handle: suppress },
  { method: 'GET',    path: `${SUPPRESSIONS}/{EmailAddress}`,    access: ACCESS.suppressed, handle: showSuppressed },
  { method: 'DELETE', path: `${SUPPRESSIONS}/{EmailAddress}`,    access: ACCESS.suppress,   handle: unsuppress },
];

/** See contract-2 §C6. */
export const SES: Provider = {
  name: 'ses',
  refuse: refuseAsSes,
  endpoints: ENDPOINTS,
};

const DAY_MS = 24 * 60 * 60 * 1000;
/** What SES says where there is no limit. */
const NO_QUOTA = -1;

/** Answers with what the key may send, and how many messages it has sent within a day: those that a search counts. */
async function showAccount({ exchange, caller: { key } }: Call, deps: ProviderDeps): Promise<void> {
  readParameters(exchange.query, NO_PARAMETERS);
  const perMinute = key.rateLimit ?? deps.options.limits.rateLimitPerKey;
  const query = { ...ANY_MAIL, keys: [key.id], since: deps.clock.wall() - DAY_MS };
  const sent = await deps.views.countFound({ query, after: null, before: null, limit: MAX_COUNTED });
  answerAsSes(exchange, {
    DedicatedIpAutoWarmupEnabled: false,
    EnforcementStatus: 'HEALTHY',
    ProductionAccessEnabled: true,
    SendingEnabled: deps.intake.suspended(key.id) === null,
    SendQuota: {
      Max24HourSend: NO_QUOTA,
      MaxSendRate: perMinute === 0 ? NO_QUOTA : perMinute / 60,
      SentLast24Hours: sent.count,
    },
    SuppressionAttributes: { SuppressedReasons: ['BOUNCE', 'COMPLAINT'] },
  });
}
