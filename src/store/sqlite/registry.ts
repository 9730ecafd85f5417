import type { HoldKind } from '../../domain/hold.ts';
import {
  MAX_ROUTE_TABLES,
  type SettingChanges,
  type StoredDomain,
  type StoredHold,
  type StoredRelay,
  type StoredRoutes,
  UNPUBLISHED,
} from '../registry.ts';
import type { Driver } from './driver.ts';
import { asFlag } from './rows.ts';

/** Builds the verbs of the registry. */
export function registryVerbs(db: Driver) {
  const sql = prepareRegistry(db);
  const putSetting = (key: string, value: string | null): void => {
    if (value === null) sql.removeSetting.run(key);
    else sql.putSetting.run(key, value);
  };
  const putSettings = (values: SettingChanges): void => {
    for (const [key, value] of values) putSetting(key, value);
  };
  return {
    relays: (): StoredRelay[] =>
      sql.relays.all().map(([name, definition, secret, disabled]) => ({
        name,
        definition,
        secret,
        disabled: disabled === 1,
      })),
    putRelay: ({ name, definition, secret, disabled }: StoredRelay, settings?: SettingChanges): void => {
      sql.putRelay.run(name, definition, secret, asFlag(disabled));
      if (settings !== undefined) putSettings(settings);
    },
    removeRelay: (name: string, settings?: SettingChanges): boolean => {
      if (settings !== undefined) putSettings(settings);
      sql.removeHoldsOf.run(name, `${name}/`, `${name}0`);
      return sql.removeRelay.run(name) === 1;
    },
    settings: (): Map<string, string> => new Map(sql.settings.all()),
    putSetting,
    putSettings,
    domains: (): StoredDomain[] =>
      sql.domains.all().map(([name, definition, secrets]) => ({ name, definition, secrets })),
    putDomain: ({ name, definition, secrets }: StoredDomain): void => {
      sql.putDomain.run(name, definition, secrets);
    },
    removeDomain: (name: string): boolean => sql.removeDomain.run(name) === 1,
    holds: (): StoredHold[] => sql.holds.all().map(([target, kind, since]) => ({ target, kind, since })),
    putHold: (target: string, hold: Omit<StoredHold, 'target'> | null): void => {
      if (hold === null) sql.removeHold.run(target);
      else sql.putHold.run(target, hold.kind, hold.since);
    },
    publishRoutes: ({ publishedAt, origin, definition }: Omit<StoredRoutes, 'version'>): number => {
      const [newest] = sql.routeTables.all(1);
      if (newest?.[3] === definition) return newest[0];
      const version = (newest?.[0] ?? UNPUBLISHED) + 1;
      sql.addRouteTable.run(version, publishedAt, origin, definition);
      sql.dropRouteTables.run(version - MAX_ROUTE_TABLES);
      return version;
    },
    routeTables: (limit: number): StoredRoutes[] =>
      sql.routeTables.all(limit).map(([version, publishedAt, origin, definition]) => ({
        version,
        publishedAt,
        origin,
        definition,
      })),
  };
}

type RouteTableRow = [
  version: number,
  publishedAt: number,
  origin: StoredRoutes['origin'],
  definition: string,
];

type DomainRow = [name: string, definition: string, secrets: string];

function prepareRegistry(db: Driver) {
  return {
    relays: db.prepare<[], [name: string, definition: string, secret: string | null, disabled: number]>(
      'SELECT name, definition, secret, disabled FROM relays ORDER BY name',
    ),
    putRelay: db.prepare<[name: string, definition: string, secret: string | null, disabled: number]>(
      'INSERT OR REPLACE INTO relays VALUES (?, ?, ?, ?)',
    ),
    removeRelay: db.prepare<[name: string]>('DELETE FROM relays WHERE name = ?'),
    settings: db.prepare<[], [name: string, value: string]>('SELECT name, value FROM settings ORDER BY name'),
    putSetting: db.prepare<[name: string, value: string]>('INSERT OR REPLACE INTO settings VALUES (?, ?)'),
    removeSetting: db.prepare<[name: string]>('DELETE FROM settings WHERE name = ?'),
    domains: db.prepare<[], DomainRow>('SELECT name, definition, secrets FROM domains ORDER BY name'),
    putDomain: db.prepare<DomainRow>('INSERT OR REPLACE INTO domains VALUES (?, ?, ?)'),
    removeDomain: db.prepare<[name: string]>('DELETE FROM domains WHERE name = ?'),
    holds: db.prepare<[], [target: string, kind: HoldKind, since: number]>(
      'SELECT target, kind, since FROM holds ORDER BY target',
    ),
    putHold: db.prepare<[target: string, kind: HoldKind, since: number]>(
      'INSERT OR REPLACE INTO holds VALUES (?, ?, ?)',
    ),
    removeHold: db.prepare<[target: string]>('DELETE FROM holds WHERE target = ?'),
    // A relay's name holds no slash: what comes after it in its lanes' names lies between "/" and "0".
    removeHoldsOf: db.prepare<[relay: string, from: string, to: string]>(
      'DELETE FROM holds WHERE target = ? OR (target > ? AND target < ?)',
    ),
    routeTables: db.prepare<[limit: number], RouteTableRow>(
      'SELECT version, published_at, origin, definition FROM route_tables ORDER BY version DESC LIMIT ?',
    ),
    addRouteTable: db.prepare<RouteTableRow>('INSERT INTO route_tables VALUES (?, ?, ?, ?)'),
    dropRouteTables: db.prepare<[version: number]>('DELETE FROM route_tables WHERE version <= ?'),
  };
}
