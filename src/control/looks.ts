import type { OperationName, Operations } from './operations.ts';

/** What an operation was asked for, before its shape is known to be right. */
export type Asked = Readonly<Record<string, unknown>>;

/** How the thing that an operation is done to is seen, before and after it. */
export interface Look {
  /** The operation that shows it. */
  readonly operation: OperationName;
  /** Its request. */
  readonly request: (asked: Asked) => unknown;
  /** What of the answer is kept; undefined where the thing is not there. */
  readonly show: (answer: unknown, asked: Asked) => unknown;
}

type Answer<K extends OperationName> = Awaited<ReturnType<Operations[K]>>;

function look<K extends OperationName>(
  operation: K,
  request: (asked: Asked) => unknown,
  show: (answer: Answer<K>, asked: Asked) => unknown,
): Look {
  // Sound because the answer is always that of the operation named beside it.
  return { operation, request, show: show as Look['show'] };
}

/** A key, by name or id; not when it was last used, which changes by itself. */
export const KEY = look(
  'listKeys',
  () => ({}),
  (keys, { key, name }) => {
    const wanted = key ?? name;
    const live = keys.find((one) => one.name === wanted && one.revokedAt === null);
    const found = keys.find(({ id }) => id === wanted) ?? live ?? keys.find((one) => one.name === wanted);
    if (found === undefined) return undefined;
    const { lastUsedAt: _, ...rest } = found;
    return rest;
  },
);

/** A relay by its name: what can be changed of it. */
export const RELAY = look(
  'relay',
  ({ name, definition }) => ({ name: name ?? (isRecord(definition) ? definition['name'] : undefined) }),
  ({ name, type, definition, hasSecret, disabled, isDefault }) => ({
    ...{ name, type, definition, hasSecret, disabled, isDefault },
  }),
);

/** The routing table in force. */
export const ROUTES = look(
  'routeTable',
  () => ({ version: null }),
  (table) => table,
);

/** A domain by its name: what can be changed of it. */
export const DOMAIN = look(
  'domain',
  ({ name }) => ({ name }),
  ({ records: _, ...rest }) => rest,
);

/** A user by name. */
export const USER = look(
  'users',
  () => ({}),
  (users, { name }) => {
    const found = users.find((user) => user.name === name);
    if (found === undefined) return undefined;
    const { lastSignInAt: _, sessions: __, ...rest } = found;
    return rest;
  },
);

/** The settings that are given, by key. */
export const SETTINGS_GIVEN = look(
  'settings',
  () => ({}),
  (rows, { values, unset, setting }) => {
    const taken: readonly unknown[] = Array.isArray(unset) ? unset : [];
    const keys = isRecord(values) ? [...Object.keys(values), ...taken] : [setting];
    const given = rows.filter(({ key }) => keys.includes(key));
    return Object.fromEntries(given.map((row) => [row.key, { value: row.value, origin: row.origin }]));
  },
);

/** The certificate in use. */
export const CERTIFICATE = look(
  'certificate',
  () => ({}),
  ({ origin, subject, names, validUntil, fingerprint }) => ({
    ...{ origin, subject, names, validUntil, fingerprint },
  }),
);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
