import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { PROVIDER_NAMES, type ProviderName } from '../../../../src/domain/drop-in.ts';
import { Authenticator } from '../../../../src/ingest/authenticator.ts';
import * as postmark from '../../../../src/ingest/http/providers/postmark/refusals.ts';
import * as resend from '../../../../src/ingest/http/providers/resend/refusals.ts';
import * as sendgrid from '../../../../src/ingest/http/providers/sendgrid/refusals.ts';
import * as ses from '../../../../src/ingest/http/providers/ses/answers.ts';
import { cidrs } from '../../../support/cidrs.ts';
import { type Answer, World } from '../world.ts';
import { APIS, ProviderClients, TO } from './provider-clients.ts';
import { SITUATIONS, type Told } from './refusal-situations.ts';

/** Each row of each provider's table of errors, provoked over HTTP (contract-2 §C2 to §C6). */

let world: World;
let clients: ProviderClients;

beforeAll(async () => {
  world = await World.start({ epoch: Date.now() });
  clients = new ProviderClients(world);
});
afterEach(() => {
  world.intake.suspension = null;
  world.options.allowedCidrs = cidrs('127.0.0.0/8', '::1/128');
  vi.restoreAllMocks();
});
afterAll(() => world.close());

describe.each(SITUATIONS)('$what', ({ ours, provoke, told, waits }) => {
  test.each(PROVIDER_NAMES)('is refused as %s does', async (provider) => {
    const answer = await clients.refused(provider, ours, () => provoke(provider, clients));
    expect(answer.told).toEqual(told[provider]);
    if (waits) expect(answer.retryAfter).toBeGreaterThan(0);
  });
});

interface OwnRow {
  readonly code: string;
  readonly ours: number;
  readonly told: Told;
  readonly provoke: () => Promise<Answer>;
}

const postmarkBody = (code: string, body: string | Buffer): OwnRow => ({
  code,
  ours: 400,
  told: [422, 402],
  provoke: async () => clients.ask('postmark', await clients.keyOf(), { body }),
});
/** What only one of them refuses so. */
const OWN: Readonly<Partial<Record<ProviderName, readonly OwnRow[]>>> = {
  resend: [
    {
      code: 'not_cancellable',
      ours: 409,
      told: [422, 'validation_error'],
      provoke: async () => {
        const key = await clients.keyOf();
        const { json } = await clients.ask('resend', key);
        const cancel = { path: `/emails/${String(json['id'])}/cancel`, body: '{}' };
        await clients.ask('resend', key, cancel);
        return clients.ask('resend', key, cancel);
      },
    },
    {
      code: 'not_reschedulable',
      ours: 409,
      told: [422, 'validation_error'],
      provoke: async () => {
        const key = await clients.keyOf();
        const { json } = await clients.ask('resend', key);
        const path = `/emails/${String(json['id'])}`;
        const body = JSON.stringify({ scheduled_at: 'in 5 min' });
        return clients.ask('resend', key, { method: 'PATCH', path, body });
      },
    },
    {
      code: 'complaint',
      ours: 409,
      told: [422, 'validation_error'],
      provoke: async () => {
        const key = await clients.keyOf({ scopes: ['suppressions:read', 'suppressions:write'] });
        const body = 'address,reason\nangry@example.org,complaint\n';
        const headers = { 'Content-Type': 'text/csv' };
        await world.ask({ method: 'POST', path: '/api/v1/suppressions/import', key, body, headers });
        return clients.ask('resend', key, { method: 'DELETE', path: '/suppressions/angry@example.org' });
      },
    },
  ],
  postmark: [
    postmarkBody('malformed_json', '{'),
    postmarkBody('invalid_utf8', Buffer.from([0x22, 0xff, 0x22])),
    postmarkBody('json_too_complex', '['.repeat(100)),
    postmarkBody('duplicate_name', '{"To": "a@b.cd", "To": "b@b.cd"}'),
    postmarkBody('forbidden_name', '{"__proto__": 1}'),
    postmarkBody('lone_surrogate', '{"Subject": "\\ud800"}'),
    {
      code: 'too_many_messages',
      ours: 400,
      told: [422, 410],
      provoke: async () => {
        const body = JSON.stringify(Array.from({ length: 501 }, () => ({})));
        return clients.ask('postmark', await clients.keyOf(), { path: '/email/batch', body });
      },
    },
    {
      code: 'template_missing',
      ours: 400,
      told: [422, 1101],
      provoke: async () =>
        clients.ask('postmark', await clients.keyOf(), { path: '/email/withTemplate', body: '{}' }),
    },
    {
      code: 'bounce_not_found',
      ours: 404,
      told: [404, 407],
      provoke: async () =>
        clients.ask('postmark', await clients.keyOf(), { method: 'GET', path: '/bounces/1' }),
    },
    {
      code: 'inactive_recipients',
      ours: 400,
      told: [422, 406],
      provoke: async () => {
        const key = await clients.keyOf({ scopes: ['messages:send', 'suppressions:write'] });
        const body = { address: TO };
        const added = await world.ask({ method: 'POST', path: '/api/v1/suppressions', key, body });
        expect(added.status).toBe(201);
        return clients.ask('postmark', key);
      },
    },
  ],
  ses: [
    {
      code: 'signature_expired',
      ours: 403,
      told: [403, 'RequestExpired'],
      provoke: async () => {
        const headers = { 'X-Amz-Date': '20200101T000000Z' };
        return clients.ask('ses', await clients.keyOf(), { headers });
      },
    },
    {
      code: 'signature_incomplete',
      ours: 403,
      told: [403, 'IncompleteSignatureException'],
      provoke: () =>
        clients.ask('ses', null, { headers: { Authorization: 'AWS4-HMAC-SHA256 Credential=x' } }),
    },
    {
      code: 'signature_wrong',
      ours: 403,
      told: [403, 'SignatureDoesNotMatch'],
      provoke: async () => {
        const key = await clients.keyOf();
        vi.spyOn(world.shared.authenticator, 'findSigner').mockImplementationOnce(async (id) => {
          const signer = await Authenticator.prototype.findSigner.call(world.shared.authenticator, id);
          return signer && { ...signer, secret: 'another' };
        });
        return clients.ask('ses', key);
      },
    },
    {
      code: 'body_not_signed',
      ours: 400,
      told: [400, 'InvalidSignatureException'],
      provoke: async () => clients.ask('ses', await clients.keyOf(), { signedBody: 'another' }),
    },
    {
      code: 'address_invalid',
      ours: 400,
      told: [400, 'MessageRejected'],
      provoke: async () => {
        const body = APIS.ses.message('Hi.').replace(TO, 'bob@b.invalid');
        return clients.ask('ses', await clients.keyOf(), { body });
      },
    },
  ],
};

describe.each(PROVIDER_NAMES.filter((name) => OWN[name] !== undefined))('what only %s says', (provider) => {
  test.each(OWN[provider] ?? [])('$code', async ({ code, ours, told, provoke }) => {
    expect((await clients.refused(provider, ours, provoke)).told).toEqual(told);
    expect([...(clients.met.get(provider) ?? [])]).toContain(code);
  });
});

/** Rows that need a history, and where they have it. */
const ELSEWHERE: Readonly<Partial<Record<ProviderName, Readonly<Record<string, string>>>>> = {
  postmark: { complaint: 'postmark-reading.test.ts', suppression_not_found: 'postmark-reading.test.ts' },
};

test.each([
  ['resend', [resend.BY_CODE, resend.BY_STATUS]],
  ['postmark', [postmark.BY_CODE, postmark.BY_STATUS]],
  ['sendgrid', [sendgrid.FIXED]],
  ['ses', [ses.BY_CODE, ses.BY_STATUS]],
] as const)('every row of the table of %s was provoked', (provider, tables) => {
  const rows = tables.flatMap((table) => Object.keys(table));
  const elsewhere = Object.keys(ELSEWHERE[provider] ?? {});
  const missing = rows.filter((row) => !clients.met.get(provider)?.has(row) && !elsewhere.includes(row));
  expect(missing).toEqual([]);
});
