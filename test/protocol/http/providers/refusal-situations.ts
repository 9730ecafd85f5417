import { expect, vi } from 'vitest';
import type { ProviderName } from '../../../../src/domain/drop-in.ts';
import { FIXED } from '../../../../src/ingest/http/providers/sendgrid/refusals.ts';
import { cidrs } from '../../../support/cidrs.ts';
import type { Answer } from '../world.ts';
import { ANY, APIS, type ProviderClients } from './provider-clients.ts';

/** What any provider's API may refuse, and what each says then (contract-2 §C2 to §C6). */

/** A status, and the name or number of the error. */
export type Told = readonly [status: number, told: unknown];
/** Something that is refused. */
export interface Situation {
  readonly what: string;
  /** The status that our own API would answer with. */
  readonly ours: number;
  readonly provoke: (provider: ProviderName, clients: ProviderClients) => Promise<Answer>;
  readonly waits?: true;
  readonly told: Readonly<Record<ProviderName, Told>>;
}

/** What any of them may refuse. */
export const SITUATIONS: readonly Situation[] = [
  {
    what: 'no key',
    ours: 401,
    provoke: (provider, clients) => clients.ask(provider, null),
    told: {
      resend: [401, 'missing_api_key'],
      postmark: [401, 10],
      sendgrid: [401, FIXED[401]],
      mailgun: [401, ANY],
      ses: [403, 'MissingAuthenticationTokenException'],
    },
  },
  {
    what: 'a key that nobody has',
    ours: 401,
    provoke: (provider, clients) => clients.ask(provider, provider === 'ses' ? 'WBNOBODY' : 'wb_live_nobody'),
    told: {
      resend: [403, 'invalid_api_key'],
      postmark: [401, 10],
      sendgrid: [401, FIXED[401]],
      mailgun: [401, ANY],
      ses: [403, 'UnrecognizedClientException'],
    },
  },
  {
    what: 'a key that was revoked',
    ours: 401,
    provoke: async (provider, clients) =>
      clients.ask(provider, await clients.keyOf({ revokedAt: clients.world.clock.wall() })),
    told: {
      resend: [403, 'invalid_api_key'],
      postmark: [401, 10],
      sendgrid: [401, FIXED[401]],
      mailgun: [401, ANY],
      ses: [403, 'UnrecognizedClientException'],
    },
  },
  {
    what: 'a scope that the key has not',
    ours: 403,
    provoke: async (provider, clients) =>
      clients.ask(provider, await clients.keyOf({ scopes: ['messages:read'] })),
    told: {
      resend: [401, 'restricted_api_key'],
      postmark: [403, 10],
      sendgrid: [403, FIXED[403]],
      mailgun: [403, ANY],
      ses: [403, 'AccessDeniedException'],
    },
  },
  {
    what: 'a source that the key may not be used from',
    ours: 403,
    provoke: async (provider, clients) =>
      clients.ask(provider, await clients.keyOf({ cidrs: ['192.0.2.0/24'] })),
    told: {
      resend: [403, 'invalid_api_key'],
      postmark: [403, 10],
      sendgrid: [403, FIXED[403]],
      mailgun: [403, ANY],
      ses: [403, 'AccessDeniedException'],
    },
  },
  {
    what: 'a source that the API may not be used from',
    ours: 403,
    provoke: async (provider, clients) => {
      clients.world.options.allowedCidrs = cidrs('192.0.2.0/24');
      return clients.ask(provider, await clients.keyOf());
    },
    told: {
      resend: [403, 'invalid_api_key'],
      postmark: [403, 10],
      sendgrid: [403, FIXED[403]],
      mailgun: [403, ANY],
      ses: [403, 'AccessDeniedException'],
    },
  },
  {
    what: 'a sender that the key may not use',
    ours: 403,
    provoke: async (provider, clients) =>
      clients.ask(provider, await clients.keyOf({ senderDomains: ['example.net'] })),
    told: {
      resend: [403, 'validation_error'],
      postmark: [422, 400],
      sendgrid: [403, FIXED[403]],
      mailgun: [403, ANY],
      ses: [400, 'MessageRejected'],
    },
  },
  {
    what: 'a field that does not exist',
    ours: 400,
    provoke: async (provider, clients) => {
      const isForm = provider === 'mailgun';
      const body = isForm
        ? 'from=a%40b.cd&subjekt=x'
        : APIS[provider].message('Hi.').replace('{', '{"subjekt":1,');
      return clients.ask(provider, await clients.keyOf(), { body });
    },
    told: {
      resend: [422, 'validation_error'],
      postmark: [422, 300],
      sendgrid: [400, ANY],
      mailgun: [400, ANY],
      ses: [400, 'BadRequestException'],
    },
  },
  {
    what: 'what is not there',
    ours: 404,
    provoke: async (provider, clients) =>
      clients.ask(provider, await clients.keyOf(), { method: 'GET', path: APIS[provider].nowhere }),
    told: {
      resend: [404, 'not_found'],
      postmark: [404, 701],
      sendgrid: [404, ANY],
      mailgun: [404, ANY],
      ses: [404, 'NotFoundException'],
    },
  },
  {
    what: 'a method that is not offered',
    ours: 405,
    provoke: async (provider, clients) => clients.ask(provider, await clients.keyOf(), { method: 'PUT' }),
    told: {
      resend: [405, 'method_not_allowed'],
      postmark: [405, 0],
      sendgrid: [405, ANY],
      mailgun: [405, ANY],
      ses: [405, 'UnknownOperationException'],
    },
  },
  {
    what: 'an Idempotency-Key that was used for another body',
    ours: 409,
    provoke: async (provider, clients) => {
      const [key, headers] = [await clients.keyOf(), { 'Idempotency-Key': `twice-${provider}` }];
      await clients.ask(provider, key, { headers });
      return clients.ask(provider, key, { headers, body: APIS[provider].message('Another.') });
    },
    told: {
      resend: [409, 'invalid_idempotent_request'],
      postmark: [409, 300],
      sendgrid: [409, ANY],
      mailgun: [409, ANY],
      ses: [409, 'ConflictException'],
    },
  },
  {
    what: 'an Idempotency-Key whose first use is under way',
    ours: 409,
    waits: true,
    provoke: async (provider, clients) => {
      const [key, headers] = [await clients.keyOf(), { 'Idempotency-Key': `at-once-${provider}` }];
      const before = clients.world.intake.handed;
      const letGo = clients.world.intake.holdAnswers();
      const first = clients.ask(provider, key, { headers });
      await expect.poll(() => clients.world.intake.handed).toBe(before + 1);
      const second = await clients.ask(provider, key, { headers });
      letGo();
      await first;
      return second;
    },
    told: {
      resend: [409, 'concurrent_idempotent_requests'],
      postmark: [409, 300],
      sendgrid: [409, ANY],
      mailgun: [409, ANY],
      ses: [429, 'TooManyRequestsException'],
    },
  },
  {
    what: 'a body that is too large',
    ours: 413,
    provoke: async (provider, clients) =>
      clients.ask(provider, await clients.keyOf(), { body: APIS[provider].message('x'.repeat(400_000)) }),
    told: {
      resend: [413, 'validation_error'],
      postmark: [413, 413],
      sendgrid: [413, ANY],
      mailgun: [413, ANY],
      ses: [413, 'BadRequestException'],
    },
  },
  {
    what: 'another type of body',
    ours: 415,
    provoke: async (provider, clients) =>
      clients.ask(provider, await clients.keyOf(), { headers: { 'Content-Type': 'text/plain' } }),
    told: {
      resend: [415, 'validation_error'],
      postmark: [415, 409],
      sendgrid: [415, ANY],
      mailgun: [415, ANY],
      ses: [415, 'BadRequestException'],
    },
  },
  {
    what: 'more than the rate allows',
    ours: 429,
    waits: true,
    provoke: async (provider, clients) => {
      const key = await clients.keyOf({ rateLimit: 1 });
      await clients.ask(provider, key);
      return clients.ask(provider, key);
    },
    told: {
      resend: [429, 'rate_limit_exceeded'],
      postmark: [429, 429],
      sendgrid: [429, FIXED[429]],
      mailgun: [429, ANY],
      ses: [429, 'TooManyRequestsException'],
    },
  },
  {
    what: 'while nothing can be taken',
    ours: 503,
    waits: true,
    provoke: async (provider, clients) => {
      clients.world.intake.suspension = { code: 'disk_full', detail: 'No room.', retryAfterSeconds: 30 };
      return clients.ask(provider, await clients.keyOf());
    },
    told: {
      resend: [503, 'application_error'],
      postmark: [503, 100],
      sendgrid: [503, ANY],
      mailgun: [503, ANY],
      ses: [503, 'ServiceUnavailable'],
    },
  },
  {
    what: 'because of a fault of ours',
    ours: 500,
    provoke: async (provider, clients) => {
      vi.spyOn(clients.world.intake, 'accept').mockRejectedValueOnce(new Error('a bug'));
      return clients.ask(provider, await clients.keyOf());
    },
    told: {
      resend: [500, 'application_error'],
      postmark: [500, 0],
      sendgrid: [500, ANY],
      mailgun: [500, ANY],
      ses: [500, 'InternalServiceErrorException'],
    },
  },
];
