import type { ApiKey } from '../../domain/key.ts';
import { HEALTHY } from '../../domain/webhook.ts';
import type {
  ConfigurationChanges,
  Configuring,
  KeySwap,
  Swap,
  TemplateState,
  TemplateSwap,
  WebhookRow,
  WebhookSwap,
} from '../configuring.ts';
import { StoreError } from '../store.ts';
import type { TemplateBounds } from '../templates.ts';
import type { EndpointLimits } from '../webhooks.ts';
import { KEYRING } from './keyring.ts';
import { REGISTRY } from './registry.ts';
import { sql } from './sql.ts';
import { TEMPLATES } from './templates.ts';
import { WEBHOOKS } from './webhooks.ts';
import { alone, type Subject, type Work } from './work.ts';

/** Many changes of the configuration in one transaction, by the verbs that make them one by one. */
export const CONFIGURING: Subject<Configuring> = {
  reads: {},
  verbs: {
    *configure(changes) {
      // What is looked at stays as it is until the end.
      yield* alone(sql`settings, relays, domains, keys, webhook_endpoints, templates`);
      const others = yield* changedMeanwhile(changes);
      if (others.length === 0) yield* makeAll(changes);
      return others;
    },
  },
};

/** What is not as it was when the changes were planned. */
function* changedMeanwhile(changes: ConfigurationChanges): Work<string[]> {
  const { webhooks, templates, bounds } = changes;
  const settings = yield* REGISTRY.verbs.settings();
  const keys = (yield* KEYRING.verbs.list()).filter(({ revokedAt }) => revokedAt === null).map(lasting);
  const endpoints = yield* WEBHOOKS.verbs.webhookEndpoints();
  const saved = (yield* TEMPLATES.verbs.templates()).map(stateOf);
  const pairs = endpoints.map(({ endpoint, secrets }) => ({ endpoint, secrets }));
  const tooMany = [
    ...(pairs.length + growthBy(webhooks) > bounds.webhooks.all ? ['the number of webhooks'] : []),
    ...(saved.length + growthBy(templates) > bounds.templates.templates ? ['the number of templates'] : []),
  ];
  const ofKeys = changes.keys.map(({ before, after }) =>
    before === null ? { name: after.key.name, before } : { name: before.name, before: lasting(before) },
  );
  const ofTemplates = templates.map(({ before, after }) =>
    before === null ? { name: after.alias, before } : { name: before.alias, before },
  );
  return [
    ...others('relay', byName(changes.relays, nameOf), yield* REGISTRY.verbs.relays(), nameOf),
    ...changes.settings
      .filter(({ key, before }) => (settings.get(key) ?? null) !== before)
      .map(({ key }) => `setting ${key}`),
    ...others('domain', byName(changes.domains, nameOf), yield* REGISTRY.verbs.domains(), nameOf),
    ...others('key', ofKeys, keys, nameOf),
    ...others('webhook', byName(webhooks, idOf), pairs, idOf),
    ...others('template', ofTemplates, saved, ({ alias }) => alias),
    ...tooMany,
  ];
}

/** Rows that are not as they were before; what is new must not be there under its name. */
function others<Row>(
  kind: string,
  swaps: readonly Named<Row>[],
  rows: readonly Row[],
  named: (row: Row) => string,
): string[] {
  const present = new Map(rows.map((row) => [named(row), JSON.stringify(row)]));
  return swaps.flatMap(({ name, before }) => {
    const expected = before === null ? undefined : JSON.stringify(before);
    return present.get(name) === expected ? [] : [`${kind} ${name}`];
  });
}

/** What a row is called, and how it was. */
interface Named<Row> {
  readonly name: string;
  readonly before: Row | null;
}

/** Rows that keep their names. */
function byName<Row>(swaps: readonly Swap<Row>[], named: (row: Row) => string): Named<Row>[] {
  return swaps.flatMap(({ before, after }) => {
    const row = before ?? after;
    return row === null ? [] : [{ name: named(row), before }];
  });
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

function idOf({ endpoint }: WebhookRow): string {
  return endpoint.id;
}

/** When a key was last used changes by itself. */
function lasting(key: ApiKey): ApiKey {
  return { ...key, lastUsedAt: null };
}

function stateOf({ id, alias, version, publishedVersion }: TemplateState): TemplateState {
  return { id, alias, version, publishedVersion };
}

function growthBy(swaps: readonly Swap<unknown>[]): number {
  return swaps.reduce((sum, { before, after }) => sum + Number(after !== null) - Number(before !== null), 0);
}

function* makeAll({ now, bounds, ...changes }: ConfigurationChanges): Work<void> {
  yield* REGISTRY.verbs.putSettings(new Map(changes.settings.map(({ key, after }) => [key, after])));
  for (const { before, after } of changes.relays)
    if (after !== null) yield* REGISTRY.verbs.putRelay(after);
    else if (before !== null) yield* REGISTRY.verbs.removeRelay(before.name);
  for (const { before, after } of changes.domains)
    if (after !== null) yield* REGISTRY.verbs.putDomain(after);
    else if (before !== null) yield* REGISTRY.verbs.removeDomain(before.name);
  for (const swap of changes.keys) yield* swapKey(swap, now);
  // Those that go make room for those that come.
  for (const swap of goingFirst(changes.webhooks)) yield* swapWebhook(swap, bounds.webhooks);
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

function* swapWebhook({ before, after }: WebhookSwap, limits: EndpointLimits): Work<void> {
  if (before === null)
    done((yield* WEBHOOKS.verbs.addWebhookEndpoint({ ...after, health: HEALTHY }, limits)) === 'added');
  else if (after === null) done(yield* WEBHOOKS.verbs.removeWebhookEndpoint(before.endpoint.id));
  else done(yield* WEBHOOKS.verbs.changeWebhookEndpoint(after.endpoint, after.secrets));
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
