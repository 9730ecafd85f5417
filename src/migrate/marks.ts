import { fromJson } from '../store/columns.ts';
import type { Registry } from '../store/registry.ts';
import { StoreError } from '../store/store.ts';
import { MOVED_FROM, MOVED_TO, type Row } from './tables.ts';

/** Left where something is moved from, so that it is not started by mistake. */
export interface MovedTo {
  /** The migration's; also at its other end. */
  readonly id: string;
  /** Where to, by name. */
  readonly to: string;
  /** Everything is there, and found equal. */
  readonly done: boolean;
}

/** Left where something is moved to. */
export interface MovedFrom {
  readonly id: string;
  /** Where from, by name. */
  readonly from: string;
  readonly done: boolean;
  /** The table that is being copied; null: all are. */
  readonly table: string | null;
  /** The key of its last row that was copied; null: none was. */
  readonly after: Row | null;
}

/** Reads a mark; null for none. */
export function markOf<T extends MovedTo | MovedFrom>(value: string | null): T | null {
  return value === null ? null : fromJson<T>(value);
}

/**
 * Refuses (`store_moved`) what is being moved, was moved elsewhere, or has not come here whole. Whoever opens an
 * installation in order to work in it asks this first.
 */
export async function refuseMoved(registry: Pick<Registry, 'settings'>): Promise<void> {
  const settings = await registry.settings();
  const movedTo = markOf<MovedTo>(settings.get(MOVED_TO) ?? null);
  if (movedTo !== null) throw new StoreError('store_moved', movedToText(movedTo));
  const movedFrom = markOf<MovedFrom>(settings.get(MOVED_FROM) ?? null);
  if (movedFrom !== null && !movedFrom.done)
    throw new StoreError(
      'store_moved',
      `Not everything has come here from ${movedFrom.from} yet. Go on with it, where it began: waybill migrate`,
    );
}

function movedToText({ to, done }: MovedTo): string {
  const how = done
    ? `This installation was moved to ${to}: what came later is there.`
    : `This installation is being moved to ${to}. Go on with it: waybill migrate --to …`;
  return `${how} To work with this one again, as it is: waybill migrate --undo`;
}
