import type { StoredRelay } from '../registry.ts';
import type { Driver } from './driver.ts';
import { asFlag } from './rows.ts';

/** Builds the verbs of the registry. */
export function registryVerbs(db: Driver) {
  const sql = prepareRegistry(db);
  return {
    relays: (): StoredRelay[] =>
      sql.relays.all().map(([name, definition, secret, disabled]) => ({
        name,
        definition,
        secret,
        disabled: disabled === 1,
      })),
    putRelay: ({ name, definition, secret, disabled }: StoredRelay): void => {
      sql.putRelay.run(name, definition, secret, asFlag(disabled));
    },
    removeRelay: (name: string): boolean => sql.removeRelay.run(name) === 1,
    settings: (): Map<string, string> => new Map(sql.settings.all()),
    putSetting: (key: string, value: string | null): void => {
      if (value === null) sql.removeSetting.run(key);
      else sql.putSetting.run(key, value);
    },
  };
}

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
  };
}
