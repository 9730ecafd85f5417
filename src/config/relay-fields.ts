import { RELAY_NAME } from '../domain/relay.ts';
import { bytes, choice, integer, listOf, orNull, text } from './kinds.ts';
import { field, type RelayField } from './relay-field.ts';
import { PROVIDER_FIELDS } from './relay-fields-provider.ts';
import { SMTP_FIELDS } from './relay-fields-smtp.ts';
import { utcDay } from './relay-kinds.ts';
import {
  type DeclaredType,
  RELAY_TYPES,
  USUAL_CONCURRENCY,
  USUAL_RECIPIENTS,
  USUAL_WARM_UP,
} from './relay-types.ts';
import { type Camel, camelCase } from './schema.ts';

/** The default share of a day's recipients reserved for mail of high priority, in percent. */
const USUAL_RESERVE = 5;

const MAX_PER_DAY = 1_000_000_000;
const MAX_WARM_UP_DAYS = 366;

/** The limits of a relay of any type. */
const LIMIT_FIELDS = {
  max_concurrency: field(orNull(integer(1, 10_000)), null, {
    label: 'Concurrency',
    group: 'limits',
    usual: USUAL_CONCURRENCY,
    option: {
      value: '<n>',
      help: `most attempts at once (default: smtp ${USUAL_CONCURRENCY.smtp}, mx ${USUAL_CONCURRENCY.mx}, graph ${USUAL_CONCURRENCY.graph}, others ${USUAL_CONCURRENCY.ses})`,
    },
    meaning: `Most attempts at once, and most connections. null means ${USUAL_CONCURRENCY.smtp}, for type \`mx\` ${USUAL_CONCURRENCY.mx}, for \`graph\` ${USUAL_CONCURRENCY.graph}, for other providers ${USUAL_CONCURRENCY.ses}.`,
  }),
  max_rate_per_second: field(integer(0, 100_000), 0, {
    label: 'Attempts per second',
    group: 'limits',
    option: { value: '<n>', help: 'most attempts begun in a second' },
    meaning: 'Most attempts begun in a second. 0 means no limit.',
  }),
  max_message_bytes: field(bytes(0), 0, {
    label: 'Message size (bytes)',
    group: 'limits',
    option: { value: '<n>', help: 'largest message it accepts; 0: no limit' },
    meaning: 'Larger messages fail without being tried. 0 means no limit.',
  }),
  max_recipients: field(orNull(integer(1, 10_000)), null, {
    label: 'Recipients per transaction',
    group: 'limits',
    option: {
      value: '<n>',
      help: `most recipients in one transaction (default: ${USUAL_RECIPIENTS}, or what the provider accepts)`,
    },
    meaning: `Most recipients in one transaction. null means ${USUAL_RECIPIENTS}, or as many as the provider accepts; more are refused.`,
  }),
  max_per_day: field(integer(0, MAX_PER_DAY), 0, {
    label: 'Recipients per day',
    group: 'limits',
    option: { value: '<n>', help: 'most recipients in a UTC day' },
    meaning: 'Most recipients handed over in a UTC day, over all nodes and restarts. 0 means no limit.',
  }),
  quota_reserve_percent: field(integer(0, 50, 'percent'), USUAL_RESERVE, {
    label: 'Reserved for high priority (%)',
    group: 'limits',
    option: {
      value: '<n>',
      help: `percent of a day reserved for high-priority mail (default: ${USUAL_RESERVE})`,
    },
    meaning: "Percent of a day's recipients that only high-priority mail may use.",
  }),
  warmup_start: field(orNull(utcDay), null, {
    label: 'Warm-up begins',
    group: 'warmup',
    option: { value: '<date>', help: 'first day of a warm-up, in UTC, such as 2026-12-01' },
    meaning:
      'First day of the warm-up, in UTC: before it this relay sends nothing, and then each day as much as `warmup_per_day` says. null means no warm-up.',
  }),
  warmup_per_day: field(orNull(listOf(integer(1, MAX_PER_DAY), 1, MAX_WARM_UP_DAYS)), null, {
    label: 'Recipients on each day',
    group: 'warmup',
    option: {
      value: '<n,n,…>',
      help: 'most recipients on its first day, the second, and so on (default: 50, doubling to 100000)',
    },
    meaning: `Most recipients on the first day, the second, and so on; after the last of them only \`max_per_day\` counts. null means ${USUAL_WARM_UP.join(', ')}.`,
  }),
};

const TABLE = {
  name: field(
    text('1 to 64 of a-z 0-9 - _', (raw) => RELAY_NAME.test(raw)),
    undefined,
    { label: 'Name', group: 'main', meaning: 'Its name in status, metrics and routes.' },
  ),
  type: field(choice(...RELAY_TYPES), undefined, {
    label: 'Type',
    group: 'main',
    binds: true,
    meaning:
      "`smtp`, a smarthost; `mx`, the recipients' own servers; or a provider's API. The built-in relay `inbox` needs no entry.",
  }),
  ...SMTP_FIELDS,
  ...PROVIDER_FIELDS,
  ...LIMIT_FIELDS,
};

type Fields = typeof TABLE;
/** The name of a field. */
export type RelayFieldName = keyof Fields;
/** The values of all fields. */
export type RelayValues = {
  readonly [K in RelayFieldName]: Fields[K] extends RelayField<infer T> ? T : never;
};

/** A field with its name. */
export interface RelayRow extends RelayField<unknown> {
  readonly name: RelayFieldName;
}

/** The fields of a relay, in the order in which they are documented. */
export const RELAY_FIELDS: readonly RelayRow[] = Object.keys(TABLE).filter(isFieldName).map(relayField);

export function relayField(name: RelayFieldName): RelayRow {
  return { name, ...TABLE[name] };
}

function isFieldName(name: string): name is RelayFieldName {
  return Object.hasOwn(TABLE, name);
}

/** Whether a type uses a field. */
export function isFor({ types }: RelayRow, type: string): boolean {
  return types === undefined || types.some((known) => known === type);
}

/** Whether every type that uses a field requires it. */
export function isAlwaysRequired({ types, requiredFor }: RelayRow): boolean {
  return types !== undefined && requiredFor?.length === types.length;
}

/** The name of a field that is never shown. */
export type SecretField = {
  [K in RelayFieldName]: Fields[K] extends { readonly secret: true } ? K : never;
}[RelayFieldName];

/** Fields that are never shown, and may be given as the path of a file, `x_file`. */
export const SECRET_FIELDS: readonly SecretField[] = RELAY_FIELDS.map(({ name }) => name).filter(isSecret);

/** Whether a field is never shown. */
export function isSecret(name: RelayFieldName): name is SecretField {
  return 'secret' in TABLE[name];
}

/** The types of a field that only some types have. */
type TypesOf<F> = F extends { readonly types: readonly (infer D)[] } ? D : never;
/** Fields that only some types have, `D` among them, except those of a smarthost's OAuth. */
type OwnName<D extends DeclaredType> = {
  [K in RelayFieldName]: D extends TypesOf<Fields[K]>
    ? [D, Fields[K]] extends ['smtp', { readonly oauth: true }]
      ? never
      : K
    : never;
}[RelayFieldName];

/** The values that only some types have, under their names in code: `max_per_domain` is `maxPerDomain`. */
type OwnValues<D extends DeclaredType> = { readonly [K in OwnName<D> as Camel<K>]: RelayValues[K] };
/** The values that every type has besides name and type, named like {@link OwnValues}. */
type LimitValues = { readonly [K in keyof typeof LIMIT_FIELDS as Camel<K>]: RelayValues[K] };

/** The values that only some types have, this one among them. */
export function ownValues<D extends DeclaredType>(type: D, values: RelayValues): OwnValues<D> {
  const own = RELAY_FIELDS.filter(
    (row) => row.types !== undefined && isFor(row, type) && !(type === 'smtp' && row.oauth),
  );
  // Sound because the type computes from the table what the filter does.
  return inCamelCase(own, values) as OwnValues<D>;
}

/** The values that every type has: its limits. */
export function limitValues(values: RelayValues): LimitValues {
  const own = RELAY_FIELDS.filter(({ name }) => Object.hasOwn(LIMIT_FIELDS, name));
  // Sound as above.
  return inCamelCase(own, values) as LimitValues;
}

function inCamelCase(rows: readonly RelayRow[], values: RelayValues): Readonly<Record<string, unknown>> {
  return Object.fromEntries(rows.map(({ name }) => [camelCase(name), values[name]]));
}
