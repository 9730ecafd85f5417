import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endReceivers, receiver, SECRET } from '../../test/peers/webhook-receiver.ts';
import { alert, alertChannel } from '../../test/support/alerts.ts';
import type { AlertChannel, ChannelKind } from '../domain/alert-channel.ts';
import type { Submission } from '../domain/message.ts';
import type { IntakeAnswer } from '../engine/contract.ts';
import { systemClock } from '../lib/clock.ts';
import { seededRandom } from '../lib/random.ts';
import { type MailRelay, relayFor } from './mail.ts';
import type { Telling } from './shapes.ts';
import { createTell } from './telling.ts';

interface Got {
  readonly request: IncomingMessage;
  readonly body: string;
  /** In a provider's own shape: see {@link at}. */
  readonly json: unknown;
}

let got: Got[] = [];
let accepted: Submission[] = [];
let answer: IntakeAnswer = { kind: 'accepted', id: 'msg_1', captured: false };
let relays: MailRelay[] = [];

beforeEach(() => {
  got = [];
  accepted = [];
  answer = { kind: 'accepted', id: 'msg_1', captured: false };
  relays = [
    { name: 'out', isWell: true, isDisabled: false },
    { name: 'backup', isWell: true, isDisabled: false },
    { name: 'inbox', isWell: true, isDisabled: false },
  ];
});
afterEach(() => endReceivers());

const NOW = Date.UTC(2026, 10, 28, 5);
const HOSTILE =
  'The relay out rests: 535 <!channel> [x](http://evil.example) @everyone *bold* \u202e\r\nBcc: a@b.';

function telling(change: Partial<Telling> = {}): Telling {
  return { kind: 'fired', alert: alert({ text: HOSTILE }), server: 'mail.example.com', now: NOW, ...change };
}

/** What lies at a place in JSON; undefined: nothing does. */
function at(json: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => new Map<string, unknown>(Object.entries(inner ?? {})).get(`${name}`),
    json,
  );
}

/** The text that lies there; throws where none does. */
function textAt(json: unknown, ...path: readonly (string | number)[]): string {
  const text = at(json, ...path);
  if (typeof text !== 'string') throw new Error(`there is no text at ${path.join('.')}`);
  return text;
}

/** A provider that answers so; its URL. */
async function provider(status: number, said = ''): Promise<string> {
  return await receiver((request, response, body) => {
    got.push({ request, body: body.toString(), json: JSON.parse(body.toString()) });
    response.writeHead(status).end(said);
  });
}

async function tell(
  kind: ChannelKind,
  secret: string | null,
  change: Partial<AlertChannel> = {},
  said = telling(),
): Promise<string | null> {
  const send = createTell({
    clock: systemClock,
    random: seededRandom(3),
    version: '1.2.3',
    open: (stored) => (stored.secret === 'lost' ? null : stored.secret),
    mayBePrivate: (url) => !url.includes('refused'),
    dnsServers: () => null,
    intake: {
      newId: () => 'msg_1',
      accept: async (submissions) => {
        accepted.push(...submissions);
        return [answer];
      },
    },
    relays: () => relays,
    postmaster: () => 'postmaster@mail.example.com',
  });
  const channel = alertChannel({ kind, ...change });
  return await send(said, { channel, secret }, new AbortController().signal);
}

test('Slack gets blocks whose text neither links, nor mentions anybody', async () => {
  const url = await provider(200, 'ok');
  expect(await tell('slack', url)).toBeNull();
  const [{ json, request } = { json: null, request: null }] = got;
  expect(request?.headers['content-type']).toBe('application/json');
  // Mattermost shows it alone, mentions by `@` and reads Markdown.
  expect(at(json, 'text')).toContain(
    'Alert: A relay fails (mail.example.com)\nThe relay out rests: 535 &lt;!channel&gt;',
  );
  expect(textAt(json, 'text')).not.toMatch(/@everyone|\]\(/);
  // In plain text, `<!channel>` is those ten characters.
  const plain = { type: 'plain_text', emoji: false };
  expect(at(json, 'blocks')).toMatchObject([
    { type: 'header' },
    { type: 'section', text: plain },
    { type: 'context', elements: [plain] },
  ]);
  expect(textAt(json, 'blocks', 1, 'text', 'text')).not.toMatch(/\r|\u202e/);
});

test('no text is too long for Slack, whatever a next hop says', async () => {
  const said = telling({ alert: { ...telling().alert, text: '<&>😀'.repeat(10_000) } });
  expect(await tell('slack', await provider(200, 'ok'), {}, said)).toBeNull();
  const lengthOf = (block: number) => textAt(got[0]?.json, 'blocks', block, 'text', 'text').length;
  expect(lengthOf(0)).toBeLessThanOrEqual(150);
  expect(lengthOf(1)).toBeLessThanOrEqual(3_000);
});

test('no text is too long for the others, either, and none ends within a character', async () => {
  const url = (await provider(200)).replace('/hook?a=b', '/topic');
  for (const letter of ['😀', '*', 'ü']) {
    const said = telling({
      alert: { ...telling().alert, text: letter.repeat(10_000) },
      server: letter.repeat(300),
    });
    for (const kind of ['discord', 'teams', 'pagerduty'] as const)
      expect(await tell(kind, url, kind === 'pagerduty' ? { url } : {}, said)).toBeNull();
    expect(await tell('ntfy', null, { url }, said)).toBeNull();
    const [discord, teams, pagerduty, ntfy] = got.splice(0);
    expect(textAt(discord?.json, 'embeds', 0, 'title').length).toBeLessThanOrEqual(256);
    expect(textAt(discord?.json, 'embeds', 0, 'description').length).toBeLessThanOrEqual(4_096);
    expect(Buffer.byteLength(teams?.body ?? '')).toBeLessThan(28_000);
    expect(textAt(pagerduty?.json, 'payload', 'summary').length).toBeLessThanOrEqual(1_024);
    expect(Buffer.byteLength(textAt(ntfy?.json, 'message'))).toBeLessThanOrEqual(4_096);
    for (const one of [discord, teams, pagerduty, ntfy]) expect(one?.body).not.toMatch(/\\ud[89ab]|\ufffd/i);
  }
});

test('Discord gets an embed that mentions nobody, and answers 204', async () => {
  const url = await provider(204);
  expect(await tell('discord', url, {}, telling({ kind: 'resolved' }))).toBeNull();
  const { json } = got[0] ?? { json: null };
  expect(at(json, 'allowed_mentions')).toEqual({ parse: [] });
  expect(at(json, 'embeds')).toMatchObject([
    {
      title: 'Resolved: A relay fails (mail.example.com)',
      color: 0x16a34a,
      timestamp: '2026-11-28T05:00:00.000Z',
      description: expect.stringContaining('\\[x\\]\\(http\\://evil.example\\)'),
    },
  ]);
});

test('Teams gets an Adaptive Card in the envelope of workflows, and answers 202', async () => {
  const url = await provider(202);
  expect(await tell('teams', url)).toBeNull();
  const { json } = got[0] ?? { json: null };
  // Text runs have no Markdown, and so nothing to escape.
  const line = { inlines: [{ type: 'TextRun' }] };
  const quoted = expect.stringContaining('[x](http://evil.example) @everyone *bold*');
  expect(json).toMatchObject({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          type: 'AdaptiveCard',
          version: '1.4',
          body: [line, { inlines: [{ type: 'TextRun', text: quoted }] }, line, line],
        },
      },
    ],
  });
});

test('ntfy gets JSON at the root of its server, with the topic in it and the token as bearer', async () => {
  const url = (await provider(200, '{"id":"x"}')).replace('/hook?a=b', '/base/our-topic');
  expect(await tell('ntfy', 'tk_secret', { url })).toBeNull();
  const { json, request } = got[0] ?? { json: null, request: null };
  expect([request?.method, request?.url]).toEqual(['POST', '/base']);
  expect(request?.headers.authorization).toBe('Bearer tk_secret');
  expect(json).toMatchObject({ topic: 'our-topic', priority: 4, tags: ['warning'] });
  expect(at(json, 'message')).toContain('The relay out rests');
  expect(at(json, 'message')).toContain('`waybill relays test out` says where');
  expect(await tell('ntfy', null, { url })).toBeNull();
  expect(got[1]?.request.headers.authorization).toBeUndefined();
});

test('PagerDuty is triggered and resolved under one key; a test is resolved at once', async () => {
  const url = await provider(202, '{"status":"success"}');
  const key = 'a'.repeat(32);
  const said = telling();
  expect(await tell('pagerduty', key, { url }, said)).toBeNull();
  expect(await tell('pagerduty', key, { url }, { ...said, kind: 'resolved' })).toBeNull();
  const under = { routing_key: key, dedup_key: said.alert.id };
  expect(got.map(({ json }) => json)).toMatchObject([
    { ...under, event_action: 'trigger' },
    { ...under, event_action: 'resolve' },
  ]);
  const payload = at(got[0]?.json, 'payload');
  expect(payload).toMatchObject({
    source: 'mail.example.com',
    severity: 'warning',
    timestamp: '2026-11-20T12:00:30.000Z',
    component: 'relay:out',
    class: 'relay_resting',
  });
  expect(textAt(payload, 'summary').length).toBeLessThanOrEqual(1_024);
  expect(await tell('pagerduty', key, { url }, { ...said, kind: 'test' })).toBeNull();
  expect(got.slice(2).map(({ json }) => at(json, 'event_action'))).toEqual(['trigger', 'resolve']);
});

test('a webhook is signed by Standard Webhooks, as those of events are', async () => {
  const url = await provider(200);
  const said = telling();
  expect(await tell('webhook', SECRET, { url }, said)).toBeNull();
  const { body, json, request } = got[0] ?? { body: '', json: null, request: null };
  const [id, at] = [request?.headers['webhook-id'], request?.headers['webhook-timestamp']];
  expect(id).toBe(`${said.alert.id}_fired`);
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  expect(request?.headers['webhook-signature']).toBe(`v1,${signature}`);
  expect(json).toMatchObject({
    type: 'alert.fired',
    timestamp: '2026-11-28T05:00:00.000Z',
    data: { rule: 'relay_resting', subject: 'relay:out', severity: 'warning', resolvedAt: null },
  });
});

test('why a channel was not told says the answer, and never the secret', async () => {
  const url = await provider(403, 'invalid_token: tk_secret\r\n\u202e');
  const topic = url.replace('/hook?a=b', '/topic');
  expect(await tell('ntfy', 'tk_secret', { url: topic })).toBe(
    'It answered 403: invalid_token: (access token)',
  );
  expect(await tell('slack', 'http://127.0.0.1:1/refused')).toContain('127.0.0.1');
  const repeats = await provider(404, 'No route /hook?a=b here');
  expect(await tell('discord', repeats)).toBe('It answered 404: No route (webhook URL) here');
  expect(await tell('slack', 'lost')).toBe('Its secret was sealed with another secret.key; give it again.');
  const long = await provider(500, 'x'.repeat(5_000));
  expect((await tell('slack', long))?.length).toBe(300);
});

test('mail goes by the chosen relay, unless it is the ill one, or fails', async () => {
  const to = ['ops@example.com', 'Night Watch <night@example.com>'];
  expect(await tell('mail', null, { to, relay: 'backup' })).toBeNull();
  expect(accepted[0]).toMatchObject({
    via: 'backup',
    source: 'report',
    priority: 'high',
    envelope: {
      reversePath: '',
      recipients: [{ address: 'ops@example.com' }, { address: 'night@example.com' }],
    },
    header: { subject: 'Alert: A relay fails (mail.example.com)' },
  });
  const text = Buffer.concat(accepted[0]?.content.chunks ?? []).toString();
  expect(text).toContain('From: Waybill <postmaster@mail.example.com>\r\n');
  expect(text).toContain('Auto-Submitted: auto-generated\r\n');
  expect(text).not.toMatch(/^Bcc:/m);
  expect(await tell('mail', null, { to, relay: 'out', from: 'alerts@example.com' })).toBeNull();
  expect(accepted[1]).toMatchObject({ via: 'backup', header: { from: 'alerts@example.com' } });
  relays = [{ name: 'out', isWell: false, isDisabled: false }];
  expect(await tell('mail', null, { to })).toBe(
    'There is no relay besides the one that fails that could send it.',
  );
});

test.each([
  ['only the inbox', { name: 'inbox', isWell: true, isDisabled: false }],
  ['a disabled one, too', { name: 'out', isWell: true, isDisabled: true }],
])('where no relay sends, %s, none is said to fail', async (_, relay) => {
  relays = [relay];
  expect(await tell('mail', null, { to: ['ops@example.com'] })).toBe(
    'There is no relay that could send it: add one (waybill relays add); the inbox does not count.',
  );
});

test('mail that nobody gets is no telling', async () => {
  const to = ['ops@example.com'];
  answer = {
    kind: 'accepted',
    id: 'msg_1',
    captured: false,
    suppressed: [{ address: 'ops@example.com', reason: 'hard_bounce' }],
  };
  expect(await tell('mail', null, { to })).toBe('Every recipient is on the suppression list.');
  answer = {
    kind: 'suspended',
    suspension: { code: 'disk_full', detail: 'The disk is full.', retryAfterSeconds: 9 },
  };
  expect(await tell('mail', null, { to })).toBe('The disk is full.');
});

test.each([
  ['backup', null, 'backup'],
  ['backup', 'backup', 'out'],
  [null, null, 'out'],
  [null, 'out', 'backup'],
  ['sick', null, 'out'],
  ['gone', 'out', 'backup'],
  ['inbox', null, 'inbox'],
])('of out, backup and a sick one, chosen %s with %s ill: %s', (chosen, ill, used) => {
  expect(relayFor(chosen, ill, [...relays, { name: 'sick', isWell: false, isDisabled: false }])).toBe(used);
});

test('where none is well, mail waits for one that is not the ill one', () => {
  const sick = relays.map((relay) => ({ ...relay, isWell: false, isDisabled: false }));
  expect(relayFor(null, 'out', sick)).toBe('backup');
  expect(relayFor(null, 'out', sick.slice(0, 1))).toBeNull();
  expect(relayFor(null, null, [])).toBeNull();
  const off = { name: 'off', isWell: false, isDisabled: true };
  expect(relayFor('off', 'out', [off, ...sick])).toBe('backup');
  expect(relayFor('off', 'out', [off])).toBeNull();
});
