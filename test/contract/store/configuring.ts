import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiKey } from '../../../src/domain/key.ts';
import { HEALTHY, type WebhookEndpoint } from '../../../src/domain/webhook.ts';
import type { ConfigurationChanges } from '../../../src/store/configuring.ts';
import { NOTE_PREFIX } from '../../../src/store/registry.ts';
import { type OpenSubject, type Subject, T0 } from './fixtures.ts';

/** What is promised of changes of the configuration that are made together. */
export function configuringContract(open: OpenSubject): void {
  describe('configuring', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const configure = async (changes: ConfigurationChanges) =>
      await subject.configuring.configure(changes, await subject.configuring.configured());
    const state = async () => ({
      relays: await subject.registry.relays(),
      settings: [...(await subject.registry.settings())],
      domains: await subject.registry.domains(),
      keys: (await subject.keyring.list()).map(({ name, revokedAt, rateLimit }) => [
        name,
        revokedAt,
        rateLimit,
      ]),
      webhooks: (await subject.webhooks.webhookEndpoints()).map(({ endpoint, secrets }) => [
        endpoint.url,
        secrets,
      ]),
      templates: (await subject.templates.templates()).map(({ alias, version, publishedVersion }) => [
        alias,
        version,
        publishedVersion,
      ]),
    });
    const ALL = {
      relays: [RELAY],
      settings: [['delivery.default_relay', '"out"']],
      domains: [DOMAIN],
      keys: [['shop', null, null]],
      webhooks: [[ENDPOINT.url, 'sealed']],
      templates: [['welcome', 1, 1]],
    };

    it('adds all kinds together, across a restart', async () => {
      expect(await configure(additions())).toEqual([]);
      subject = await subject.reopen();
      expect(await state()).toEqual(ALL);
      expect((await subject.keyring.findByHash('a'.repeat(64), T0))?.name).toBe('shop');
    });

    it('changes and removes all kinds together', async () => {
      await configure(additions());
      const [key] = await subject.keyring.list();
      if (key === undefined) throw new Error('they were added');
      await subject.keyring.touch(new Map([[key.id, T0 + 5]]));
      const endpoint = { ...ENDPOINT, enabled: false };
      const changed: ConfigurationChanges = {
        ...NOTHING,
        relays: [{ before: RELAY, after: { ...RELAY, disabled: true } }],
        settings: new Map([['delivery.default_relay', '"other"']]),
        domains: [{ before: DOMAIN, after: { ...DOMAIN, secrets: '{"s":"x"}' } }],
        // Its last use is none of what is compared.
        keys: [{ before: key, after: { ...key, rateLimit: 5 } }],
        webhooks: [
          { before: { endpoint: ENDPOINT, secrets: 'sealed' }, after: { endpoint, secrets: 'resealed' } },
        ],
        templates: [{ before: SAVED, after: { ...TEXTS, subject: 'Bye', isPublished: false } }],
      };
      expect(await configure(changed)).toEqual([]);
      expect(await state()).toEqual({
        relays: [{ ...RELAY, disabled: true }],
        settings: [['delivery.default_relay', '"other"']],
        domains: [{ ...DOMAIN, secrets: '{"s":"x"}' }],
        keys: [['shop', null, 5]],
        webhooks: [[ENDPOINT.url, 'resealed']],
        templates: [['welcome', 2, null]],
      });
      const [live] = await subject.keyring.list();
      const removed: ConfigurationChanges = {
        ...NOTHING,
        relays: [{ before: { ...RELAY, disabled: true }, after: null }],
        settings: new Map([['delivery.default_relay', null]]),
        domains: [{ before: { ...DOMAIN, secrets: '{"s":"x"}' }, after: null }],
        keys: [{ before: live ?? key, after: null }],
        webhooks: [{ before: { endpoint, secrets: 'resealed' }, after: null }],
        templates: [{ before: { ...SAVED, version: 2, publishedVersion: null }, after: null }],
      };
      expect(await configure(removed)).toEqual([]);
      const nothing = { relays: [], settings: [], domains: [], webhooks: [], templates: [] };
      expect(await state()).toEqual({ ...nothing, keys: [['shop', T0, 5]] });
    });

    it('makes an endpoint healthy that it enables, and no other', async () => {
      await configure(additions());
      const disabled = { ...HEALTHY, state: 'disabled', reason: 'It answered 410.' } as const;
      await subject.webhooks.setWebhookHealth(ENDPOINT.id, disabled, T0);
      const swapped = async (before: boolean, after: boolean) => {
        const row = (enabled: boolean) => ({ endpoint: { ...ENDPOINT, enabled }, secrets: 'sealed' });
        await configure({ ...NOTHING, webhooks: [{ before: row(before), after: row(after) }] });
        return (await subject.webhooks.webhookEndpoints()).map(({ health }) => health.state);
      };
      expect(await swapped(true, true)).toEqual(['disabled']);
      expect(await swapped(true, false)).toEqual(['disabled']);
      expect(await swapped(false, true)).toEqual(['healthy']);
    });

    it('changes nothing where anything is not as it was, whether it would be changed or not, and says what', async () => {
      await configure(additions());
      const seen = await subject.configuring.configured();
      await subject.registry.putRelay({ ...RELAY, name: 'new' });
      await subject.registry.putRelay({ ...RELAY, disabled: true });
      await subject.registry.putSetting('routes', '[]');
      await subject.registry.removeDomain(DOMAIN.name);
      await subject.keyring.rotate(KEY.id, 'b'.repeat(64), 'wb_live_2', T0 + 1);
      await subject.webhooks.removeWebhookEndpoint(ENDPOINT.id);
      await subject.templates.publishTemplate('welcome', null, T0);
      await subject.accounts.claimFirst('ada', 'verifier', T0);
      const changes = { ...NOTHING, settings: new Map([['suppressions.soft_bounces', '3']]) };
      expect(await subject.configuring.configure(changes, seen)).toEqual([
        { kind: 'relay', name: 'out', how: 'changed' },
        { kind: 'relay', name: 'new', how: 'added' },
        { kind: 'setting', name: 'routes', how: 'added' },
        { kind: 'domain', name: 'example.com', how: 'removed' },
        { kind: 'key', name: 'shop', how: 'changed' },
        { kind: 'webhook', name: ENDPOINT.url, how: 'removed' },
        { kind: 'template', name: 'welcome', how: 'changed' },
        { kind: 'administrator', name: 'ada', how: 'added' },
      ]);
      expect((await state()).settings.map(([key]) => key)).toEqual(['delivery.default_relay', 'routes']);
    });

    it('takes no notice of what changes by itself: the last use of a key, and notes', async () => {
      await configure(additions());
      const seen = await subject.configuring.configured();
      await subject.keyring.touch(new Map([[KEY.id, T0 + 5]]));
      await subject.registry.putSetting(`${NOTE_PREFIX}hook_proven.out`, '1');
      const changes = { ...NOTHING, settings: new Map([['suppressions.soft_bounces', '3']]) };
      expect(await subject.configuring.configure(changes, seen)).toEqual([]);
    });

    it('adds no more than there may be, and then nothing of all', async () => {
      const bounds = { webhooks: { ofKey: 0, all: 0 }, templates: { templates: 0, versions: 1 } };
      await expect(configure({ ...additions(), bounds })).rejects.toMatchObject({ code: 'store_busy' });
      expect((await state()).relays).toEqual([]);
    });
  });
}

const RELAY = { name: 'out', definition: '{}', secret: null, disabled: false };
const DOMAIN = { name: 'example.com', definition: '{"keys":[]}', secrets: '{}' };
const KEY: ApiKey = {
  id: 'key_1',
  name: 'shop',
  mode: 'live',
  prefix: 'wb_live_1',
  scopes: ['messages:send'],
  createdAt: T0,
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
  rateLimit: null,
  cidrs: [],
  senderDomains: [],
  contentDays: null,
  recordDays: null,
};
const ENDPOINT: WebhookEndpoint = {
  id: 'whe_1',
  keyId: 'key_1',
  inFile: null,
  url: 'https://shop.example.com/',
  types: ['message.*'],
  keys: [],
  tags: [],
  description: '',
  includesSubject: false,
  enabled: true,
  headers: {},
  createdAt: T0,
  updatedAt: T0,
};
const TEXTS = {
  id: 'tpl_1',
  alias: 'welcome',
  name: 'welcome',
  subject: 'Hello',
  html: null,
  text: 'Hello.',
  sample: {},
  at: T0,
  by: '',
  note: '',
};
const SAVED = { id: 'tpl_1', alias: 'welcome', version: 1, publishedVersion: 1 };
const BOUNDS = { webhooks: { ofKey: 9, all: 9 }, templates: { templates: 9, versions: 9 } };
const NOTHING: ConfigurationChanges = {
  relays: [],
  settings: new Map(),
  domains: [],
  keys: [],
  webhooks: [],
  templates: [],
  now: T0,
  bounds: BOUNDS,
};

function additions(): ConfigurationChanges {
  return {
    ...NOTHING,
    relays: [{ before: null, after: RELAY }],
    settings: new Map([['delivery.default_relay', '"out"']]),
    domains: [{ before: null, after: DOMAIN }],
    keys: [{ before: null, after: { key: KEY, secretHash: 'a'.repeat(64), signing: null } }],
    webhooks: [{ before: null, after: { endpoint: ENDPOINT, secrets: 'sealed' } }],
    templates: [{ before: null, after: { ...TEXTS, isPublished: true } }],
  };
}
