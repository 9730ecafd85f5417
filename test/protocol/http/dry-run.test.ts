import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Suspension } from '../../../src/engine/contract.ts';
import { signedDomain } from '../../support/signed-domain.ts';
import { encodeForm, formOf, MAIL, World } from './world.ts';

/** Dry runs (contract §2): everything is checked, nothing is stored. */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key();
});
afterAll(() => world.close());

const DRY = { ...MAIL, dryRun: true };

/** How mail of a domain that nobody added aligns. */
const UNSIGNED = {
  verdict: 'aligned',
  dkim: 'none',
  dkimDomain: null,
  spf: 'aligned',
  spfDomain: 'example.com',
  detail: 'Only SPF can align, and forwarding breaks that: waybill domains add example.com.',
};

const SIGNED = signedDomain('example.com');

/** What the store knows, to be compared before and after. */
async function stored(): Promise<number> {
  const page = await world.stores.views.list({ owner: 'all', statuses: [], before: null, limit: 200 });
  return page.messages.length;
}

test('the verdict tells what would be sent and the way each copy would take, but not how relays do', async () => {
  const answer = await world.post(key, { ...DRY, cc: ['c@example.org'], bcc: ['d@example.org'] });
  expect([answer.status, answer.headers.location]).toEqual([200, undefined]);
  expect(answer.json).toEqual({
    findings: [
      {
        code: 'dkim-not-aligned',
        severity: 'hint',
        where: 'header:From',
        detail: 'Through the relay out: Only SPF can align, and forwarding breaks that.',
        fix: 'To have it signed: waybill domains add example.com.',
      },
    ],
    dryRun: true,
    message: 'Valid. Nothing was stored, nothing will be sent.',
    captured: false,
    sizeBytes: expect.any(Number),
    from: 'jane@example.com',
    recipients: [
      { address: 'bob@example.org', type: 'to', relay: 'out', rule: null, alignment: UNSIGNED },
      { address: 'c@example.org', type: 'cc', relay: 'out', rule: null, alignment: UNSIGNED },
      { address: 'd@example.org', type: 'bcc', relay: 'out', rule: null, alignment: UNSIGNED },
    ],
  });
});

describe('alignment', () => {
  let before: World['sending'];
  beforeEach(() => {
    before = world.sending;
  });
  afterEach(() => {
    world.sending = before;
  });

  async function alignment(asked: object = {}, secret = key): Promise<unknown> {
    const { json } = await world.post(secret, { ...DRY, ...asked });
    const [first] = json['recipients'] as { alignment: unknown }[];
    return first?.alignment;
  }

  test('is by a signature once the domain has a key that signs', async () => {
    world.sending = { ...before, domains: [SIGNED] };
    expect(await alignment()).toMatchObject({
      verdict: 'aligned',
      dkim: 'aligned',
      dkimDomain: 'example.com',
    });
  });

  test('is by the nearest domain that signs', async () => {
    world.sending = { ...before, domains: [signedDomain('other.example'), SIGNED] };
    const bound = await world.key({ senderDomains: ['sub.example.com'] });
    const from = 'Jane <jane@sub.example.com>';
    expect(await alignment({ from }, bound)).toMatchObject({ dkimDomain: 'example.com' });
    expect(await alignment({ from: 'j@other.example' })).toMatchObject({ dkimDomain: 'other.example' });
  });

  test('is by the return path that the mail gets', async () => {
    const mx = {
      port: 25,
      tls: 'opportunistic' as const,
      allowPrivate: false,
      maxPerDomain: 20,
      presets: true,
      helo: null,
      sourceIps: [],
      ipFamily: 'any' as const,
      returnPath: 'auto' as const,
    };
    const relays = [{ name: 'out', type: 'mx' as const, mx }];
    const usual = 'bounces.example.net';
    world.sending = { ...before, relays, bounceDomains: { usual, own: new Map() } };
    expect(await alignment()).toMatchObject({ spf: 'not_aligned', spfDomain: usual });
    const own = new Map([['example.com', 'b.example.com']]);
    world.sending = { ...before, relays, bounceDomains: { usual, own } };
    expect(await alignment()).toMatchObject({ spf: 'aligned', spfDomain: 'b.example.com' });
    world.sending = { ...before, relays: [{ name: 'out', type: 'smtp' }], bounceDomains: { usual, own } };
    expect(await alignment()).toMatchObject({ spfDomain: 'example.com' });
  });

  test('depends on a provider that writes the message anew', async () => {
    world.sending = { ...before, relays: [{ name: 'out', type: 'resend' }], domains: [SIGNED] };
    expect(await alignment()).toMatchObject({ verdict: 'depends_on_provider', dkim: 'by_provider' });
    // Nor can it promise TLS for the rest of the way.
    const { json } = await world.post(key, { ...DRY, requireTls: true });
    expect(json['findings']).toMatchObject([{ code: 'requiretls-refused', severity: 'error' }]);
  });

  test('is asked for finished messages by their own From', async () => {
    const answer = await world.ask({
      method: 'POST',
      path: '/api/v1/messages/raw?from=bounces@example.net&to=bob@example.org&dryRun=true',
      key,
      headers: { 'Content-Type': 'message/rfc822' },
      body: 'From: jane@example.com\r\nTo: bob@example.org\r\nSubject: x\r\n\r\nHello.\r\n',
    });
    expect(answer.json).toMatchObject({
      recipients: [
        { alignment: { verdict: 'not_aligned', dkim: 'none', spf: 'not_aligned', spfDomain: 'example.net' } },
      ],
    });
  });

  test('is unknown without a way', async () => {
    world.sending = { ...before, relays: [], domains: [] };
    expect(await alignment()).toBeNull();
  });
});

test('nothing is stored, nothing handed over', async () => {
  const before = [await stored(), world.intake.submissions.length];
  await world.post(key, DRY);
  expect([await stored(), world.intake.submissions.length]).toEqual(before);
});

test('the size is that of the message when it is sent', async () => {
  const verdict = await world.post(key, DRY);
  const { content } = await world.accept(key, {});
  expect(verdict.json['sizeBytes']).toBe(content.sizeBytes);
});

test.each([
  ['a test key', { mode: 'test' } as const],
  ['a route to the inbox', {}],
])('%s: captured', async (_, facts) => {
  world.intake.relay = 'inbox';
  const answer = await world.post(await world.key(facts), DRY);
  world.intake.relay = 'out';
  expect(answer.json).toMatchObject({ captured: true, recipients: [{ relay: 'inbox' }] });
});

test('every fault is told as for a submission', async () => {
  const [dry, wet] = await Promise.all([
    world.post(key, { ...DRY, from: 'jane', priority: 'x' }),
    world.post(key, { ...MAIL, from: 'jane', priority: 'x' }),
  ]);
  expect(dry.status).toBe(400);
  expect(dry.json.errors).toEqual(wet.json.errors);
});

test('sender domains bind, and limits of size', async () => {
  const bound = await world.key({ senderDomains: ['example.net'] });
  expect((await world.post(bound, DRY)).json['code']).toBe('sender_not_allowed');
  const large = [{ filename: 'a', content: Buffer.alloc(112_000).toString('base64') }];
  expect((await world.post(key, { ...DRY, attachments: large })).json['code']).toBe('message_too_large');
});

test('while intake is suspended it is refused as any submission', async () => {
  const suspension: Suspension = { code: 'disk_full', detail: 'The disk is full.', retryAfterSeconds: 9 };
  world.intake.suspension = suspension;
  const answer = await world.post(key, DRY);
  world.intake.suspension = null;
  expect([answer.status, answer.json['code'], answer.headers['retry-after']]).toEqual([
    503,
    'disk_full',
    '9',
  ]);
});

test('an idempotency key is neither used up nor looked at, but its form is', async () => {
  const headers = { 'Idempotency-Key': 'dry' };
  expect((await world.post(key, DRY, headers)).status).toBe(200);
  expect((await world.post(key, MAIL, headers)).headers['idempotency-replayed']).toBeUndefined();
  expect((await world.post(key, { ...DRY, subject: 'Other' }, headers)).status).toBe(200);
  expect((await world.post(key, DRY, { 'Idempotency-Key': '' })).status).toBe(400);
});

test('it counts as a request', async () => {
  const limited = await world.key({ rateLimit: 1 });
  expect((await world.post(limited, DRY)).status).toBe(200);
  expect((await world.post(limited, DRY)).status).toBe(429);
});

test('a form asks with o:dry-run, on the Mailgun path too', async () => {
  const { headers, body } = await encodeForm(
    formOf([
      ['from', MAIL.from],
      ['to', 'bob@example.org'],
      ['text', 'x'],
      ['o:dry-run', 'yes'],
    ]),
  );
  const answer = await world.ask({ method: 'POST', key, headers, body });
  expect([answer.status, answer.json['dryRun']]).toEqual([200, true]);
  const before = world.intake.submissions.length;
  const mailgun = await world.ask({
    method: 'POST',
    path: '/v3/example.com/messages',
    headers: { ...headers, Authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}` },
    body,
  });
  expect([mailgun.status, mailgun.json['message']]).toEqual([200, answer.json['message']]);
  expect(world.intake.submissions).toHaveLength(before);
});

describe('POST /api/v1/preflight', () => {
  const PATH = '/api/v1/preflight';
  const HASTY = { ...MAIL, subject: '', html: '<p>Hello {{name}}</p>' };
  const codesOf = ({ json }: { readonly json: Readonly<Record<string, unknown>> }) =>
    (json['findings'] as { readonly code: string }[]).map(({ code }) => code);

  test('judges what would be submitted, and stores nothing', async () => {
    const before = await stored();
    const answer = await world.ask({ method: 'POST', path: PATH, key, body: { ...HASTY, dryRun: false } });
    expect([answer.status, answer.json['dryRun']]).toEqual([200, true]);
    expect(codesOf(answer)).toEqual(['placeholder', 'subject-empty', 'dkim-not-aligned']);
    expect(await stored()).toBe(before);
  });

  test('is asked for by the key, so that keys take turns', async () => {
    const secret = await world.key({ id: 'key_asker' });
    await world.ask({ method: 'POST', path: PATH, key: secret, body: HASTY });
    expect(world.checkedFor.at(-1)).toBe('key_asker');
  });

  test('takes forms, and finished messages with their parameters', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ from: 'a@example.com', to: 'b@example.org', text: 'x' }))
      form.append(name, value);
    const { headers, body } = await encodeForm(form);
    expect(codesOf(await world.ask({ method: 'POST', path: PATH, key, headers, body }))).toContain(
      'subject-empty',
    );
    const finished = await world.ask({
      method: 'POST',
      path: `${PATH}?from=a@example.com&to=b@example.org`,
      key,
      headers: { 'Content-Type': 'message/rfc822' },
      body: 'From: a@example.com\r\nSubject: Hello %recipient.name%\r\n\r\nHi.\r\n',
    });
    expect(codesOf(finished)).toContain('placeholder');
  });

  test('names a file where the client gave it, whatever its place in the message', async () => {
    const file = (filename: string, more = {}) => ({ filename, content: 'AAAA', ...more });
    const shown = { contentId: 'logo', disposition: 'inline' };
    const attachments = [file('setup.exe'), file('logo.png', shown)];
    const inJson = await world.ask({ method: 'POST', path: PATH, key, body: { ...HASTY, attachments } });
    expect(inJson.json['findings']).toContainEqual(
      expect.objectContaining({ code: 'attachment-refused', where: '/attachments/0' }),
    );
    const form = new FormData();
    const { from, to, text } = MAIL;
    for (const [name, value] of Object.entries({ from, to: String(to), text }))
      form.append(name, String(value));
    form.append('attachment', new File(['x'], 'a.pdf'));
    form.append('attachment', new File(['x'], 'setup.exe'));
    const { headers, body } = await encodeForm(form);
    const inForm = await world.ask({ method: 'POST', path: PATH, key, headers, body });
    expect(inForm.json['findings']).toContainEqual(expect.objectContaining({ where: '/attachment/1' }));
  });

  test('refuses what a submission is refused for, and other types', async () => {
    const wrong = await world.ask({ method: 'POST', path: PATH, key, body: { ...HASTY, to: ['x'] } });
    expect([wrong.status, wrong.json['code']]).toEqual([400, 'invalid_submission']);
    const headers = { 'Content-Type': 'text/plain' };
    const other = await world.ask({ method: 'POST', path: PATH, key, headers, body: 'x' });
    expect([other.status, other.headers.accept]).toEqual([
      415,
      'application/json, multipart/form-data, message/rfc822',
    ]);
    const parameters = await world.ask({ method: 'POST', path: `${PATH}?from=x`, key, body: HASTY });
    expect(parameters.json['code']).toBe('invalid_query');
  });

  test('tells a test key how its mail would align if it were sent', async () => {
    const secret = await world.key({ mode: 'test' });
    const answer = await world.ask({ method: 'POST', path: PATH, key: secret, body: HASTY });
    expect(answer.json['captured']).toBe(true);
    expect(codesOf(answer)).toContain('dkim-not-aligned');
  });
});

test('a test key’s dry run tells of a recipient that asks to be suppressed, and lists nobody', async () => {
  const tester = await world.key({ id: 'key_tester', name: 'tester', mode: 'test' });
  const mail = { ...DRY, to: ['suppressed@shop.test'] };
  expect((await world.post(tester, mail)).json).toMatchObject({
    message: 'Not sent: every recipient is suppressed.',
    suppressed: ['suppressed@shop.test'],
  });
  expect((await world.post(key, mail)).json['suppressed']).toBeUndefined();
  expect(await world.stores.suppressions.suppressionsUnder(['suppressed@shop.test'])).toEqual([]);
});
