import { useState } from 'react';
import { type Faults, faultsOf } from '../../faults.ts';
import { toast } from '../../parts/toast.tsx';
import { useAct } from '../../queries.ts';
import { type Change, type Changes, type Pending, pendingOf, placeOfFault, requestOf } from './changes.ts';
import type { Setting } from './setting-values.ts';

/** The changes of a page of settings, until they are stored. */
export interface ChangesInHand {
  readonly changes: Changes;
  readonly pending: readonly Pending[];
  /** What cannot be read, and what the server refused, by key; the rest of what it said. */
  readonly faults: Faults;
  readonly change: (key: string, change: Change | undefined) => void;
  readonly discard: () => void;
  /** Stores them, all or none; then calls. */
  readonly store: (onStored: () => void) => void;
  readonly isStoring: boolean;
}

/** Holds changes of these settings. */
export function useChanges(settings: readonly Setting[]): ChangesInHand {
  const [changes, setChanges] = useState<Changes>({});
  const put = useAct('putSettings', { changes: ['settings', 'health', 'relays'], quiet: true });
  const pending = pendingOf(settings, changes);
  const refused = faultsOf(
    put.error,
    pending.map(({ setting }) => setting.key),
    placeOfFault,
  );
  const unread = Object.fromEntries(
    pending.flatMap(({ setting, reading }) => ('fault' in reading ? [[setting.key, reading.fault]] : [])),
  );
  return {
    changes,
    pending,
    faults: { fields: { ...refused.fields, ...unread }, rest: refused.rest },
    change: (key, change) => {
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
    store: (onStored) =>
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
