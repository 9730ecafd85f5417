import type { Tell } from '../alerts/telling.ts';
import { serverName } from '../config/names.ts';
import { newWebhookSecret } from '../config/webhook-secrets.ts';
import type { Alert } from '../domain/alert.ts';
import { type AlertChannel, CHANNEL_SECRETS, MAX_CHANNELS } from '../domain/alert-channel.ts';
import { parseMailbox } from '../domain/mailbox.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { createIdSource } from '../lib/id.ts';
import type { AlertChannelOperations, AlertChannelView } from '../operations/alert-channels.ts';
import { OperationError } from '../operations/call.ts';
import type { RequestOf } from '../operations/table.ts';
import type { StoredChannel } from '../store/alerts.ts';
import { channelTell, mayChannelBePrivate, sealChannelSecret } from './alert-telling.ts';
import type { LocalDeps } from './deps.ts';
import { faulty } from './suppression-view.ts';

/** The operations on channels of alerts. */

type ChannelDeps = Pick<LocalDeps, 'alerts' | 'clock' | 'random' | 'resolution' | 'intake' | 'server'>;

/** See {@link AlertChannelOperations}. */
export function alertChannelOperations(deps: ChannelDeps): AlertChannelOperations {
  const { alerts, clock, random } = deps;
  const nextId = createIdSource(clock, random, 'alc_');
  const nextAlert = createIdSource(clock, random, 'alr_');
  const tell = channelTell({
    ...deps,
    version: deps.server()?.version ?? '0',
    relays: () => deps.server()?.health().relays ?? [],
  });
  return {
    alertChannels: async () => (await alerts.alertSettings()).channels.map(channelView),
    addAlertChannel: (request) => addChannel(request, nextId(), deps),
    changeAlertChannel: (request) => changeChannel(request, deps),
    enableAlertChannel: async ({ which, enabled }) => {
      const { channel, secret } = await find(which, deps);
      const changed = { ...channel, enabled, updatedAt: clock.wall() };
      return await write({ channel: changed, secret }, null, which, deps);
    },
    removeAlertChannel: async ({ which }) => {
      const { channel } = await find(which, deps);
      if (!(await alerts.removeAlertChannel(channel.id))) throw noChannel(which);
      return { removed: channel.name };
    },
    testAlertChannel: async ({ which }) => await testChannel(which, nextAlert(), tell, deps),
  };
}

async function addChannel(
  { name, kind, ...given }: RequestOf<'addAlertChannel'>,
  id: string,
  deps: ChannelDeps,
): Promise<{ readonly channel: AlertChannelView; readonly secret: string | null }> {
  const now = deps.clock.wall();
  const channel: AlertChannel = {
    id,
    name,
    kind,
    ...definitionOf(kind, given, deps),
    createdAt: now,
    updatedAt: now,
  };
  const made = kind === 'webhook' && (given.secret ?? null) === null ? newWebhookSecret(deps.random) : null;
  const plain = made ?? given.secret ?? null;
  if (plain === null && NEEDS_SECRET.includes(kind))
    throw faulty('/secret', 'secret', `Must be the ${CHANNEL_SECRETS[kind]}.`);
  const stored = { channel, secret: sealed(plain, channel, deps) };
  const added = await deps.alerts.addAlertChannel(stored, MAX_CHANNELS);
  if (added === 'name_taken') throw nameTaken(name);
  if (added === 'too_many')
    throw new OperationError('refused', `There are ${MAX_CHANNELS} channels already; remove one.`);
  return { channel: channelView(stored), secret: made };
}

async function changeChannel(
  { which, name, ...given }: RequestOf<'changeAlertChannel'>,
  deps: ChannelDeps,
): Promise<AlertChannelView> {
  const former = await find(which, deps);
  const { kind } = former.channel;
  const changed: AlertChannel = {
    ...former.channel,
    name,
    ...definitionOf(kind, given, deps),
    updatedAt: deps.clock.wall(),
  };
  const secret = sealed(given.secret ?? null, changed, deps);
  return await write({ channel: changed, secret: secret ?? former.secret }, secret, which, deps);
}

async function write(
  stored: StoredChannel,
  secret: string | null,
  which: string,
  { alerts }: ChannelDeps,
): Promise<AlertChannelView> {
  const written = await alerts.changeAlertChannel(stored.channel, secret);
  if (written === 'no_channel') throw noChannel(which);
  if (written === 'name_taken') throw nameTaken(stored.channel.name);
  return channelView(stored);
}

const NEEDS_SECRET: readonly AlertChannel['kind'][] = ['slack', 'discord', 'teams', 'pagerduty'];
/** Their secret is the URL to post to. */
const SECRET_URL: readonly AlertChannel['kind'][] = ['slack', 'discord', 'teams'];
const WEBHOOK_SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

type Given = Omit<RequestOf<'addAlertChannel'>, 'name' | 'kind'>;

/** What is asked of a channel of that kind, checked. Throws `OperationError`. */
function definitionOf(
  kind: AlertChannel['kind'],
  {
    url = null,
    secret = null,
    to = [],
    from = null,
    relay = null,
    enabled = true,
    severity = 'warning',
    rules = [],
  }: Given,
  { resolution }: Pick<ChannelDeps, 'resolution'>,
): Omit<AlertChannel, 'id' | 'name' | 'kind' | 'createdAt' | 'updatedAt'> {
  const isMail = kind === 'mail';
  if (isMail && to.length === 0) throw faulty('/to', 'to', 'Must have a recipient.');
  for (const [place, address] of to.entries()) checkAddress(`/to/${place}`, address);
  if (from !== null) checkAddress('/from', from);
  if (relay !== null && !resolution().config.relays.some(({ name }) => name === relay))
    throw faulty('/relay', 'relay', `There is no relay ${relay}.`);
  for (const [field, isGiven] of [
    ['to', to.length > 0],
    ['from', from !== null],
    ['relay', relay !== null],
  ] as const)
    if (isGiven && !isMail) throw faulty(`/${field}`, field, 'Belongs to a channel of the kind mail.');
  if (url === null && (kind === 'webhook' || kind === 'ntfy'))
    throw faulty('/url', 'url', kind === 'ntfy' ? 'Must be the URL of a topic.' : 'Must be where to post.');
  if (url !== null && (isMail || SECRET_URL.includes(kind)))
    throw faulty(
      '/url',
      'url',
      isMail ? 'Mail has none.' : 'Give it as the secret: whoever knows it can post.',
    );
  const { config } = resolution();
  if (url !== null) checkUrl('/url', url, config);
  if (kind === 'ntfy' && new URL(url ?? '').pathname.split('/').filter(Boolean).length === 0)
    throw faulty('/url', 'url', 'Must name a topic, such as https://ntfy.sh/our-topic.');
  if (secret !== null) checkSecret(kind, secret, config);
  return { url, to, from, relay, enabled, severity, rules };
}

function checkAddress(pointer: string, text: string): void {
  if (!parseMailbox(text).ok) throw faulty(pointer, 'address', 'Must be a mail address.');
}

type Config = ReturnType<ChannelDeps['resolution']>['config'];

function checkUrl(pointer: string, text: string, config: Config): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '')
    throw faulty(
      pointer,
      'url',
      'Must be a URL that begins with https://, without a user name and a fragment.',
    );
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && mayChannelBePrivate(text, config)))
    throw faulty(pointer, 'url', 'Must begin with https://, unless webhooks.private_urls lists it.');
}

function checkSecret(kind: AlertChannel['kind'], secret: string, config: Config): void {
  if (kind === 'mail') throw faulty('/secret', 'secret', 'Mail has none.');
  if (SECRET_URL.includes(kind)) checkUrl('/secret', secret, config);
  else if (kind === 'webhook' && !WEBHOOK_SECRET.test(secret))
    throw faulty('/secret', 'secret', 'Must be whsec_ and the base64 of 24 to 64 bytes.');
  else if (!/^[\x21-\x7e]+$/.test(secret))
    throw faulty('/secret', 'secret', 'Must be printable, without blanks.');
}

function sealed(secret: string | null, { id }: AlertChannel, { resolution }: ChannelDeps): string | null {
  if (secret === null) return null;
  const { vault } = resolution();
  if (vault !== null) return sealChannelSecret(secret, id, vault);
  throw new OperationError(
    'unavailable',
    'The key that encrypts secrets cannot be read. See: waybill config',
  );
}

async function testChannel(which: string, id: string, tell: Tell, deps: ChannelDeps) {
  const stored = await find(which, deps);
  const now = deps.clock.wall();
  const alert: Alert = {
    id,
    rule: 'health',
    subject: '',
    severity: 'info',
    text: 'This is a test.',
    state: 'firing',
    since: now,
    seenAt: now,
    firedAt: now,
    clearSince: null,
    unseenSince: null,
    resolvedAt: null,
    toldAt: now,
    notices: [],
  };
  const server = serverName(deps.resolution().config);
  const error = await tell({ kind: 'test', alert, server, now }, stored, new AbortController().signal);
  return { channel: stored.channel.name, ok: error === null, error };
}

async function find(which: string, { alerts }: Pick<ChannelDeps, 'alerts'>): Promise<StoredChannel> {
  const { channels } = await alerts.alertSettings();
  const found = channels.find(({ channel }) => channel.name === which || channel.id === which);
  if (found === undefined) throw noChannel(which);
  return found;
}

function noChannel(which: string): OperationError {
  return new OperationError('not_found', `There is no channel ${which}. See: waybill alerts channels`);
}

function nameTaken(name: string): OperationError {
  return new OperationError('refused', `There is another channel ${name} already.`);
}

function channelView({ channel, secret }: StoredChannel): AlertChannelView {
  const { createdAt, updatedAt, ...shown } = channel;
  return {
    ...shown,
    hasSecret: secret !== null,
    createdAt: formatTimestamp(createdAt),
    updatedAt: formatTimestamp(updatedAt),
  };
}
