import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Suspension } from '../../../../src/engine/contract.ts';
import { type Ask, World } from '../world.ts';
import { BODY, caught, MAIL, type Mail, Sendgrid } from './sendgrid-sdk.ts';

/** What is refused to applications that speak SendGrid's API, in its shape (contract-2 §C4). */

const INVALID_GRANT = 'The provided authorization grant is invalid, expired, or revoked';

let world: World;
let key: string;
let sendgrid: Sendgrid;

beforeAll(async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  world = await World.start();
  key = await world.key({ id: 'shop' });
  sendgrid = new Sendgrid(world, key);
});
afterAll(async () => {
  vi.restoreAllMocks();
  await world.close();
});
afterEach(() => {
  world.intake.suspension = null;
  world.intake.limits = undefined;
});

const ask = (given: Ask) => world.ask({ method: 'POST', path: '/v3/mail/send', key, body: BODY, ...given });

describe('what an application catches', () => {
  test.each<[string, Partial<Mail>, string]>([
    ['an address that is none', { to: 'nobody' }, 'personalizations.0.to.0.email'],
    ['a sender that is none', { from: { email: 'nobody' } }, 'from.email'],
    ['a header that is ours', { headers: { 'X-Waybill-Tag': 'x' } }, 'headers.X-Waybill-Tag'],
    ['a reply address that is none', { replyTo: 'nobody@' }, 'reply_to.email'],
    ['a text that is empty', { text: '' }, 'content'],
    ['a template that is not here', { templateId: 'd-1', text: '' }, 'template_id'],
    ['sections', { sections: { a: 'b' } }, 'sections'],
    ['a footer', { mailSettings: { footer: { enable: true } } }, 'mail_settings.footer'],
    ['a copy for all', { mailSettings: { bcc: { enable: true, email: 'x@y.z' } } }, 'mail_settings.bcc'],
    [
      'a way around a part of the list',
      { mailSettings: { bypassSpamManagement: { enable: true } } },
      'mail_settings.bypass_spam_management',
    ],
    [
      'a link to unsubscribe',
      { trackingSettings: { subscriptionTracking: { enable: true } } },
      'tracking_settings.subscription_tracking',
    ],
    ['another type of text', { content: [{ type: 'text/x-amp-html', value: 'x' }] }, 'content.0.type'],
    ['a category that is too long', { categories: ['x'.repeat(200)] }, 'categories.0'],
    ['a name of an argument that is none', { customArgs: { 'a b': 'c' } }, 'custom_args.a b'],
    ['a time that is too far ahead', { sendAt: 9_999_999_999 }, 'send_at'],
  ])('of %s', async (_, fields, field) => {
    const error = await caught(sendgrid.send({ ...MAIL, ...fields } as Mail));
    expect(error).toMatchObject({
      code: 400,
      response: { body: { errors: [{ message: expect.any(String), field, help: null }] } },
    });
  });

  test.each<[string, object, string | null]>([
    ['a field that does not exist', { ...BODY, subjekt: 'x' }, 'subjekt'],
    ['no personalizations', { ...BODY, personalizations: [] }, 'personalizations'],
    ['no recipient', { ...BODY, personalizations: [{}] }, 'personalizations.0.to'],
    ['no sender', { ...BODY, from: undefined }, 'from.email'],
    ['two ways to reply', { ...BODY, reply_to: {}, reply_to_list: [] }, 'reply_to_list'],
    [
      'a switch that is neither',
      { ...BODY, mail_settings: { sandbox_mode: { enable: 'yes' } } },
      'mail_settings.sandbox_mode.enable',
    ],
    ['two texts', { ...BODY, content: [...BODY.content, ...BODY.content] }, 'content.1.type'],
    ['a list', [BODY], null],
  ])('of %s', async (_, body, field) => {
    const { status, json } = await ask({ body });
    expect([status, json]).toEqual([400, { errors: [{ message: expect.any(String), field, help: null }] }]);
  });

  const told = (message: unknown, field: string | null = null, help: unknown = null) => ({
    errors: [{ message, field, help }],
  });

  test('of keys, scopes and senders', async () => {
    for (const secret of ['wb_live_nothing', 'SG.nothing'])
      expect((await ask({ key: secret })).json).toEqual(told(INVALID_GRANT));
    const bare = await world.ask({ method: 'POST', path: '/v3/mail/send', body: BODY });
    expect([bare.status, bare.json]).toEqual([401, told(INVALID_GRANT)]);
    expect(await caught(new Sendgrid(world, 'wb_live_nothing').send(MAIL))).toMatchObject({
      code: 401,
      response: { body: told(INVALID_GRANT) },
    });
    const reader = await world.key({ id: 'reader', scopes: ['messages:read'] });
    expect(await caught(new Sendgrid(world, reader).send(MAIL))).toMatchObject({
      code: 403,
      response: { body: told('access forbidden', null, expect.stringContaining('messages:send')) },
    });
    const bound = await world.key({ id: 'bound', senderDomains: ['example.net'] });
    expect(await caught(new Sendgrid(world, bound).send(MAIL))).toMatchObject({
      code: 403,
      response: { body: told('access forbidden', 'from.email', expect.stringContaining('example.com')) },
    });
    const own = { ...BODY, personalizations: [{ ...BODY.personalizations[0], from: BODY.from }] };
    expect((await ask({ key: bound, body: own })).json).toMatchObject(
      told('access forbidden', 'personalizations.0.from.email', expect.any(String)),
    );
  });

  const FULL: Suspension = { code: 'disk_full', detail: 'There is no room.', retryAfterSeconds: 30 };

  test.each<[number, string, () => Ask]>([
    [400, 'JSON that is none', () => ({ headers: { 'Content-Type': 'application/json' }, body: '{' })],
    [400, 'an Idempotency-Key that is none', () => ({ headers: { 'Idempotency-Key': 'ü' } })],
    [400, 'a parameter', () => ({ path: '/v3/mail/send?x=1' })],
    [404, 'another path', () => ({ path: '/v3/mail/batch' })],
    [404, 'another path below the name', () => ({ path: '/sendgrid/v3/templates' })],
    [405, 'another method', () => ({ method: 'PUT' })],
    [413, 'a body that is too large', () => ({ body: { ...BODY, subject: 'x'.repeat(200_000) } })],
    [415, 'another type', () => ({ headers: { 'Content-Type': 'text/plain' }, body: 'x' })],
    [
      503,
      'an intake that takes nothing',
      () => {
        world.intake.suspension = FULL;
        return {};
      },
    ],
    [
      503,
      'a queue that is full',
      () => {
        world.intake.limits = { maxBytes: 0, maxMessagesPerKey: 0 };
        return {};
      },
    ],
    [
      500,
      'a bug of ours',
      () => {
        vi.spyOn(world.intake, 'accept').mockRejectedValueOnce(new Error('a bug'));
        return {};
      },
    ],
  ])('%i of %s', async (status, _, prepare) => {
    const answer = await ask(prepare());
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({
      errors: [expect.objectContaining({ message: expect.any(String), help: null })],
    });
    expect(Number(answer.headers['retry-after'] ?? 0) > 0).toBe(status === 503);
  });

  test('of a mail that is too large', async () => {
    const error = await caught(sendgrid.send({ ...MAIL, text: 'x'.repeat(200_000) }));
    expect(error).toMatchObject({ code: 413, response: { body: told(expect.any(String)) } });
  });

  test('of a rate, with the time to wait', async () => {
    const slow = await world.key({ id: 'slow', rateLimit: 1 });
    await new Sendgrid(world, slow).send(MAIL);
    expect(await caught(new Sendgrid(world, slow).send(MAIL))).toMatchObject({
      code: 429,
      response: {
        body: told('too many requests', null, expect.any(String)),
        headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      },
    });
  });
});

test("any JSON is answered, in SendGrid's shape", async () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const names = [...Object.keys(BODY), 'attachments', 'headers', 'mail_settings', 'send_at', 'reply_to'];
  const parts = fc.dictionary(fc.constantFrom(...names), value);
  const personalizations = fc.array(
    fc.dictionary(fc.constantFrom('to', 'cc', 'substitutions', 'headers', 'custom_args'), value),
  );
  const bodies = fc.oneof(
    value,
    parts.map((given) => ({ ...BODY, ...given })),
    personalizations.map((given) => ({ ...BODY, personalizations: given })),
    fc.dictionary(fc.string(), fc.string()).map((substitutions) => ({
      ...BODY,
      personalizations: [{ ...BODY.personalizations[0], substitutions }],
    })),
  );
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const headers = { 'Content-Type': 'application/json' };
      const { status, text, json } = await ask({ headers, body: JSON.stringify(body) });
      expect(status).toBeLessThan(500);
      if (status === 202) expect(text).toBe('');
      else expect(json.errors?.every((error) => 'field' in error && 'message' in error)).toBe(true);
    }),
    { numRuns: 150 },
  );
});
