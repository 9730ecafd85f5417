import { afterEach, beforeEach, expect, test } from 'vitest';
import { endReceivers, receiver } from '../../test/peers/webhook-receiver.ts';
import { alert } from '../../test/support/alerts.ts';
import { inShape } from '../../test/support/in-shape.ts';
import { createVault } from '../config/secrets.ts';
import { CHANNEL_KINDS, MAX_CHANNELS, MAX_SILENCES } from '../domain/alert-channel.ts';
import { systemClock } from '../lib/clock.ts';
import { seededRandom } from '../lib/random.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import { alertChannelOperations } from './alert-channels.ts';
import { alertOperations } from './alerts.ts';
import type { LocalDeps } from './deps.ts';

let stores: SqliteStores;
let operations: ReturnType<typeof alertOperations> & ReturnType<typeof alertChannelOperations>;
let privateUrls = ['*'];
const vault = createVault(new Uint8Array(32), seededRandom(1));
const SLACK = 'https://hooks.slack.com/services/T0/B0/secret';

beforeEach(() => {
  privateUrls = ['*'];
  stores = openSqlite(':memory:');
  const config = {
    webhooks: {
      get privateUrls() {
        return privateUrls;
      },
    },
    relays: [{ name: 'out', disabled: false }],
    server: { hostname: 'mail.example.com' },
    dns: { servers: null },
  };
  // Of the configuration nothing else is read.
  const deps = {
    ...stores,
    clock: systemClock,
    random: seededRandom(2),
    server: () => null,
    resolution: () => ({ config, vault }),
  } as unknown as LocalDeps;
  operations = inShape({ ...alertOperations(deps), ...alertChannelOperations(deps) });
});
afterEach(async () => {
  await stores.store.close();
  await endReceivers();
});

const MAIL = { name: 'ops', kind: 'mail', to: ['ops@example.com'] } as const;

test.each([
  ['mail to nobody', { kind: 'mail' }, 'to: Must have a recipient.'],
  ['mail to no address', { ...MAIL, to: ['ops'] }, 'to/0: Must be a mail address.'],
  ['mail from no address', { ...MAIL, from: 'x' }, 'from: Must be a mail address.'],
  ['mail by a relay that is none', { ...MAIL, relay: 'gone' }, 'relay: There is no relay gone.'],
  ['mail to a URL', { ...MAIL, url: 'https://a.example' }, 'url: Mail has none.'],
  ['mail with a secret', { ...MAIL, secret: 'x' }, 'secret: Mail has none.'],
  ['a webhook to nowhere', { kind: 'webhook' }, 'url: Must be where to post.'],
  ['a webhook to no URL', { kind: 'webhook', url: 'ops' }, 'url: Must be a URL'],
  ['a webhook with a user', { kind: 'webhook', url: 'https://a:b@x.example' }, 'url: Must be a URL'],
  ['a webhook by file', { kind: 'webhook', url: 'file:///etc/passwd' }, 'url: Must begin with https://'],
  [
    'a webhook with another secret',
    { kind: 'webhook', url: 'https://a.example', secret: 'x' },
    'secret: Must be whsec_',
  ],
  ['Slack without its URL', { kind: 'slack' }, 'secret: Must be the webhook URL.'],
  ['Slack whose URL is no secret', { kind: 'slack', url: SLACK }, 'url: Give it as the secret'],
  ['Slack with a word', { kind: 'slack', secret: 'x' }, 'secret: Must be a URL'],
  [
    'Slack with recipients',
    { kind: 'slack', secret: SLACK, to: ['a@b.example'] },
    'to: Belongs to a channel',
  ],
  ['PagerDuty without its key', { kind: 'pagerduty' }, 'secret: Must be the integration key.'],
  ['PagerDuty with a line break', { kind: 'pagerduty', secret: 'a\nb' }, 'secret: Must be printable'],
  ['ntfy without a topic', { kind: 'ntfy', url: 'https://ntfy.sh/' }, 'url: Must name a topic'],
  ['ntfy without a URL', { kind: 'ntfy' }, 'url: Must be the URL of a topic.'],
] as const)('%s is refused by name', async (_, change, message) => {
  const request = { name: 'ops', ...change, to: 'to' in change ? [...change.to] : [] };
  await expect(operations.addAlertChannel(request)).rejects.toThrow(message);
  expect(await operations.alertChannels({})).toEqual([]);
});

test('a channel is shown without its secret, which stays where none is given', async () => {
  const { channel, secret } = await operations.addAlertChannel({
    name: 'chat',
    kind: 'slack',
    secret: SLACK,
  });
  expect(secret).toBeNull();
  expect(channel).toMatchObject({ name: 'chat', hasSecret: true, severity: 'warning', url: null });
  await operations.changeAlertChannel({ which: 'chat', name: 'talk', severity: 'critical' });
  const shown = await operations.alertChannels({});
  expect(shown).toMatchObject([{ name: 'talk', severity: 'critical', hasSecret: true }]);
  expect(JSON.stringify(shown)).not.toContain('secret"');
  const [stored] = (await stores.alerts.alertSettings()).channels;
  expect(stored?.secret).not.toContain('hooks.slack.com');
  expect(vault.open(stored?.secret ?? '', `alert channel ${channel.id}`)).toBe(SLACK);
  expect(await operations.enableAlertChannel({ which: channel.id, enabled: false })).toMatchObject({
    enabled: false,
    name: 'talk',
  });
  await expect(operations.removeAlertChannel({ which: 'chat' })).rejects.toThrow('There is no channel chat.');
  expect(await operations.removeAlertChannel({ which: 'talk' })).toEqual({ removed: 'talk' });
});

test('the secret of a webhook is made, and shown once', async () => {
  const request = { name: 'ops', kind: 'webhook', url: 'https://ops.example.com/' } as const;
  expect((await operations.addAlertChannel(request)).secret).toMatch(/^whsec_/);
  const own = `whsec_${'A'.repeat(44)}`;
  expect((await operations.addAlertChannel({ ...request, name: 'own', secret: own })).secret).toBeNull();
  await expect(operations.addAlertChannel(request)).rejects.toThrow('There is another channel ops already.');
});

test('there are twenty channels, and no more', async () => {
  for (let count = 0; count < MAX_CHANNELS; count++)
    await operations.addAlertChannel({ ...MAIL, to: [...MAIL.to], name: `ops-${count}` });
  await expect(operations.addAlertChannel({ ...MAIL, to: [...MAIL.to] })).rejects.toThrow(
    '20 channels already',
  );
});

test('a test says whether the channel took it', async () => {
  let status = 200;
  const got: string[] = [];
  const url = await receiver((_request, response, body) => {
    got.push(JSON.parse(body.toString()).type);
    response.writeHead(status).end('no');
  });
  await operations.addAlertChannel({ name: 'ops', kind: 'webhook', url });
  expect(await operations.testAlertChannel({ which: 'ops' })).toEqual({
    channel: 'ops',
    ok: true,
    error: null,
  });
  status = 404;
  const refused = await operations.testAlertChannel({ which: 'ops' });
  expect(refused).toEqual({ channel: 'ops', ok: false, error: 'It answered 404: no' });
  expect(got).toEqual(['alert.test', 'alert.test']);
});

test('a topic of ntfy that webhooks.private_urls lists is told of, though posts go to the root of its server', async () => {
  const url = (await receiver((_request, response) => response.writeHead(200).end())).replace(
    '/hook?a=b',
    '/topic',
  );
  privateUrls = [url];
  await operations.addAlertChannel({ name: 'phone', kind: 'ntfy', url });
  expect(await operations.testAlertChannel({ which: 'phone' })).toMatchObject({ ok: true, error: null });
});

test('a rule is changed within its bounds, keeps what is not given, and is as declared again', async () => {
  const rule = 'mail_late';
  expect(await operations.changeAlertRule({ rule, threshold: 300 })).toMatchObject({
    when: 'A delivery has been due for more than 5 minutes.',
    threshold: { value: 300, unit: 'seconds' },
    changed: true,
  });
  const both = await operations.changeAlertRule({ rule, enabled: false, coolDownSeconds: 0 });
  expect(both).toMatchObject({ enabled: false, coolDownSeconds: 0, threshold: { value: 300 } });
  await expect(operations.changeAlertRule({ rule, threshold: 59 })).rejects.toThrow(
    'Must be from 60 to 604800.',
  );
  await expect(operations.changeAlertRule({ rule: 'disk', threshold: 1 })).rejects.toThrow(
    'has no threshold',
  );
  expect(await operations.changeAlertRule({ rule, reset: true, severity: 'info' })).toMatchObject({
    enabled: true,
    severity: 'info',
    threshold: { value: 900 },
  });
  await operations.changeAlertRule({ rule, reset: true });
  expect((await operations.alertRules({})).every(({ changed }) => !changed)).toBe(true);
});

test('alerts are shown with the names of their channels, in pages', async () => {
  const { channel } = await operations.addAlertChannel({ ...MAIL, to: [...MAIL.to] });
  const notice = { kind: 'fired', state: 'sent', tries: 1, at: 0, error: null } as const;
  const notices = [
    { ...notice, channel: channel.id },
    { ...notice, channel: 'alc_gone' },
  ];
  await stores.alerts.writeAlerts([alert(), alert({ subject: 'relay:b', notices, toldAt: 0 })], []);
  const page = await operations.listAlerts({ limit: 1 });
  expect(page.alerts).toMatchObject([
    { subject: 'relay:b', title: 'A relay fails', notices: [{ channel: 'ops' }, { channel: 'alc_gone' }] },
  ]);
  const rest = await operations.listAlerts({ limit: 1, cursor: page.nextCursor ?? null });
  expect(rest).toMatchObject({ alerts: [{ subject: 'relay:out', silenced: false }] });
  expect(rest.nextCursor).toBeUndefined();
});

test('silences say what they silence, last their time, and are bounded', async () => {
  await stores.alerts.writeAlerts([alert()], []);
  const one = await operations.silenceAlerts({ rule: 'relay_resting', minutes: 60, note: 'Moving' });
  expect(one).toMatchObject({ rule: 'relay_resting', subject: null, note: 'Moving' });
  expect((await operations.listAlerts({ open: true })).alerts).toMatchObject([{ silenced: true }]);
  expect(await operations.endAlertSilence({ id: one.id })).toEqual({ ended: one.id });
  await expect(operations.endAlertSilence({ id: one.id })).rejects.toThrow('There is no silence');
  for (let count = 0; count < MAX_SILENCES; count++) await operations.silenceAlerts({ minutes: 1 });
  await expect(operations.silenceAlerts({ minutes: 1 })).rejects.toThrow('100 silences already');
});

test('each kind can be added', async () => {
  const given = {
    mail: { to: ['ops@example.com'], relay: 'out', from: 'Ops <ops@example.com>' },
    webhook: { url: 'https://ops.example.com/' },
    slack: { secret: SLACK },
    discord: { secret: 'https://discord.com/api/webhooks/1/x' },
    teams: { secret: 'https://prod-1.westeurope.logic.azure.com/workflows/x' },
    ntfy: { url: 'https://ntfy.sh/our-topic', secret: 'tk_x' },
    pagerduty: { secret: 'x'.repeat(32), url: 'https://events.eu.pagerduty.com/v2/enqueue' },
  };
  for (const kind of CHANNEL_KINDS) await operations.addAlertChannel({ name: kind, kind, ...given[kind] });
  expect((await operations.alertChannels({})).map(({ kind }) => kind)).toEqual([...CHANNEL_KINDS]);
});

test.each([
  ['a webhook', { kind: 'webhook', url: 'http://ops.example.com/x' }],
  ['ntfy', { kind: 'ntfy', url: 'http://ntfy.example.com/x' }],
  ['Slack', { kind: 'slack', secret: 'http://hooks.example.com/x' }],
] as const)('%s is told over https, unless its URL is listed', async (_name, channel) => {
  privateUrls = [];
  const add = () => operations.addAlertChannel({ name: 'ops', ...channel });
  await expect(add()).rejects.toThrow('Must begin with https://, unless webhooks.private_urls lists it.');
  privateUrls = ['url' in channel ? channel.url : channel.secret];
  expect((await add()).channel.name).toBe('ops');
});
