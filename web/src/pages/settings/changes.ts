import { useState } from 'react';
import type { RequestOf } from '../../../../src/operations/table.ts';
import { type Faults, faultsOf } from '../../faults.ts';
import { toast } from '../../parts/toast.tsx';
import { useAct } from '../../queries.ts';
import { type Draft, draftOf, type Reading, readDraft, type Setting, sameValue } from './setting-values.ts';

/** Changes of settings that are not stored yet, by their keys. */

/** A change: something written, or back to how it is without. */
export type Change = { readonly draft: Draft } | 'default';

/** All that was changed and not stored. */
export type Changes = Readonly<Record<string, Change>>;

/** What the form of a setting shows. */
export function draftWith(setting: Setting, change: Change | undefined): Draft {
  if (change === undefined) return draftOf(setting);
  return change === 'default' ? draftOf({ ...setting, value: setting.defaultValue }) : change.draft;
}

/** What a change comes to: the value that will hold. */
function readChange(setting: Setting, change: Change): Reading {
  return change === 'default' ? { value: setting.defaultValue } : readDraft(setting, change.draft);
}

/** A change as it is looked at before it is stored. */
export interface Pending {
  readonly setting: Setting;
  readonly reading: Reading;
  /** Back to how it is without: what is stored is taken away. */
  readonly isUnset: boolean;
}

/** The changes that change something, in the order of the table. */
export function pendingOf(settings: readonly Setting[], changes: Changes): readonly Pending[] {
  return settings.flatMap((setting): Pending[] => {
    const change = changes[setting.key];
    if (change === undefined) return [];
    const reading = readChange(setting, change);
    if (isIdle(setting, change, reading)) return [];
    return [{ setting, reading, isUnset: change === 'default' }];
  });
}

/** Whether nothing would be other than it is, now or after a restart. */
function isIdle(setting: Setting, change: Change, reading: Reading): boolean {
  if ('fault' in reading) return false;
  if (change === 'default') return setting.origin !== 'stored';
  const last = setting.afterRestart === undefined ? setting.value : setting.afterRestart;
  return setting.kind === 'secret' ? reading.value === '' : sameValue(reading.value, last);
}

/** The request that stores them; what cannot be read is left out. */
export function requestOf(pending: readonly Pending[]): RequestOf<'putSettings'> {
  const given = pending.flatMap(({ setting, reading, isUnset }) =>
    isUnset || 'fault' in reading ? [] : [[setting.key, reading.value] as const],
  );
  return {
    values: Object.fromEntries(given),
    unset: pending.filter(({ isUnset }) => isUnset).map(({ setting }) => setting.key),
  };
}

/** The setting that a fault of storing is about: `values.api.bind.0`, or `api.bind[0]` of a configuration. */
export function placeOfFault(path: readonly string[]): string | null {
  const rest = path[0] === 'values' ? path.slice(1) : path;
  const whole = rest[0]?.includes('.') ? rest[0] : rest.slice(0, 2).join('.');
  return whole === undefined || whole === '' ? null : whole;
}

/** The changes of a page of settings, until they are stored. */
export type ChangesInHand = ReturnType<typeof useChanges>;

/** Holds changes of these settings. */
export function useChanges(settings: readonly Setting[]) {
  const [changes, setChanges] = useState<Changes>({});
  const put = useAct('putSettings', { quiet: true });
  const pending = pendingOf(settings, changes);
  const refused = faultsOf(
    put.error,
    pending.map(({ setting }) => setting.key),
    placeOfFault,
  );
  const unread = Object.fromEntries(
    pending.flatMap(({ setting, reading }) => ('fault' in reading ? [[setting.key, reading.fault]] : [])),
  );
  const faults: Faults = { fields: { ...refused.fields, ...unread }, rest: refused.rest };
  return {
    changes,
    pending,
    /** What cannot be read, and what the server refused, by key; the rest of what it said. */
    faults,
    change: (key: string, change: Change | undefined) => {
      put.reset();
      setChanges((before) => {
        const { [key]: _, ...others } = before;
        return change === undefined ? others : { ...others, [key]: change };
      });
    },
    discard: () => {
      put.reset();
      setChanges({});
    },
    /** Stores them, all or none; then calls. */
    store: (onStored: () => void) =>
      put.mutate(requestOf(pending), {
        onSuccess: () => {
          toast.success(pending.length === 1 ? 'The setting was changed' : 'The settings were changed');
          setChanges({});
          onStored();
        },
      }),
    isStoring: put.isPending,
  };
}
