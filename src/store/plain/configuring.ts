import { HEALTHY } from '../../domain/webhook.ts';
import type {
  ConfigurationChanges,
  Configured,
  Configuring,
  KeySwap,
  Meanwhile,
  Swap,
  TemplateSwap,
  WebhookSwap,
} from '../configuring.ts';
import { NOTE_PREFIX } from '../registry.ts';
import { StoreError } from '../store.ts';
import type { TemplateBounds } from '../templates.ts';
import type { EndpointLimits } from '../webhooks.ts';
import { KEYRING } from './keyring.ts';
import { REGISTRY } from './registry.ts';
import { sql } from './sql.ts';
import { TEMPLATES } from './templates.ts';
import { administrators } from './users.ts';
import { WEBHOOKS } from './webhooks.ts';
import { alone, type Subject, type Work } from './work.ts';

/** Many changes of the configuration in one transaction, by the verbs that make them one by one. */
export const CONFIGURING: Subject<Configuring> = {
  reads: { configured: 'snapshot' },
  verbs: {
    configured,
    *configure(changes, seen) {
      // What is looked at stays as it is until the end.
      yield* alone(
        sql`settings, relays, domains, keys, signing_secrets, webhook_endpoints, templates, users`,
      );
      const others = differing(seen, yield* configured());
      if (others.length === 0) yield* makeAll(changes);
      return others;
    },
  },
};

function* configured(): Work<Configured> {
  return {
    relays: yield* REGISTRY.verbs.relays(),
    settings: yield* REGISTRY.verbs.settings(),
    domains: yield* REGISTRY.verbs.domains(),
    keys: (yield* KEYRING.verbs.list())
      .filter(({ revokedAt }) => revokedAt === null)
      .map((key) => ({ ...key, lastUsedAt: null })),
    signing: yield* KEYRING.verbs.signingIds(),
    webhooks: (yield* WEBHOOKS.verbs.webhookEndpoints()).map(({ endpoint, secrets }) => ({
      endpoint,
      secrets,
    })),
    templates: (yield* TEMPLATES.verbs.templates()).map(({ id, alias, version, publishedVersion }) => ({
      id,
      alias,
      version,
      publishedVersion,
    })),
    administrators: yield* administrators(),
  };
}

/** What is not as it was when the changes were judged. */
function differing(seen: Configured, now: Configured): Meanwhile[] {
  const settings = ({ settings: all }: Configured) =>
    [...all].filter(([key]) => !key.startsWith(NOTE_PREFIX)).map(([name, value]) => ({ name, value }));
  const keys = ({ keys: all, signing }: Configured) =>
    all.map((key) => ({ ...key, signing: signing.get(key.id) ?? null }));
  const users = (all: Configured) => all.administrators.map((name) => ({ name }));
  return [
    ...changed('relay', seen.relays, now.relays, nameOf),
    ...changed('setting', settings(seen), settings(now), nameOf),
    ...changed('domain', seen.domains, now.domains, nameOf),
    ...changed('key', keys(seen), keys(now), ({ id }) => id, nameOf),
    ...changed(
      'webhook',
      seen.webhooks,
      now.webhooks,
      ({ endpoint }) => endpoint.id,
      ({ endpoint }) => endpoint.url,
    ),
    ...changed('template', seen.templates, now.templates, ({ alias }) => alias),
    ...changed('administrator', users(seen), users(now), nameOf),
  ];
}

/** Rows that are not as they were: known by `idOf`, told as `told`. */
function changed<Row>(
  kind: Meanwhile['kind'],
  before: readonly Row[],
  after: readonly Row[],
  idOf: (row: Row) => string,
  told: (row: Row) => string = idOf,
): Meanwhile[] {
  const now = new Map(after.map((row) => [idOf(row), row]));
  const former = new Set(before.map(idOf));
  return [
    ...before.flatMap((row): Meanwhile[] => {
      const other = now.get(idOf(row));
      if (JSON.stringify(other) === JSON.stringify(row)) return [];
      return [{ kind, name: told(row), how: other === undefined ? 'removed' : 'changed' }];
    }),
    ...after
      .filter((row) => !former.has(idOf(row)))
      .map((row): Meanwhile => ({ kind, name: told(row), how: 'added' })),
  ];
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

function* makeAll({ now, bounds, ...changes }: ConfigurationChanges): Work<void> {
  yield* REGISTRY.verbs.putSettings(changes.settings);
  for (const { before, after } of changes.relays)
    if (after !== null) yield* REGISTRY.verbs.putRelay(after);
    else if (before !== null) yield* REGISTRY.verbs.removeRelay(before.name);
  for (const { before, after } of changes.domains)
    if (after !== null) yield* REGISTRY.verbs.putDomain(after);
    else if (before !== null) yield* REGISTRY.verbs.removeDomain(before.name);
  for (const swap of changes.keys) yield* swapKey(swap, now);
  // Those that go make room for those that come.
  for (const swap of goingFirst(changes.webhooks)) yield* swapWebhook(swap, now, bounds.webhooks);
  for (const swap of goingFirst(changes.templates)) yield* swapTemplate(swap, now, bounds.templates);
}

function goingFirst<S extends Swap<unknown>>(swaps: readonly S[]): S[] {
  return [...swaps.filter(({ after }) => after === null), ...swaps.filter(({ after }) => after !== null)];
}

function* swapKey({ before, after }: KeySwap, now: number): Work<void> {
  if (before === null) done(yield* KEYRING.verbs.create(after.key, after.secretHash, after.signing));
  else if (after === null) done(yield* KEYRING.verbs.revoke(before.id, now));
  else done((yield* KEYRING.verbs.update(after)) === 'updated');
}

function* swapWebhook({ before, after }: WebhookSwap, now: number, limits: EndpointLimits): Work<void> {
  const { addWebhookEndpoint, changeWebhookEndpoint, removeWebhookEndpoint, setWebhookHealth } =
    WEBHOOKS.verbs;
  if (before === null)
    return done((yield* addWebhookEndpoint({ ...after, health: HEALTHY }, limits)) === 'added');
  const { id, enabled: wasEnabled } = before.endpoint;
  if (after === null) return done(yield* removeWebhookEndpoint(id));
  done(yield* changeWebhookEndpoint(after.endpoint, after.secrets));
  if (after.endpoint.enabled && !wasEnabled) done(yield* setWebhookHealth(id, HEALTHY, now));
}

function* swapTemplate({ before, after }: TemplateSwap, now: number, bounds: TemplateBounds): Work<void> {
  if (before !== null && after === null) return done(yield* TEMPLATES.verbs.removeTemplate(before.id));
  if (after === null) return;
  const { isPublished, ...saved } = after;
  const answer = yield* TEMPLATES.verbs.saveTemplate(saved, before?.version ?? null, bounds);
  done(answer === 'saved' || answer === 'unchanged');
  const version = (before?.version ?? 0) + (answer === 'saved' ? 1 : 0);
  const published = yield* TEMPLATES.verbs.publishTemplate(saved.alias, isPublished ? version : null, now);
  done(published === 'published');
}

/** Whatever was not done, all of it is rolled back: what was looked at before cannot have changed since. */
function done(isDone: boolean): void {
  if (!isDone) throw new StoreError('store_busy', 'the configuration changed while it was being changed');
}
