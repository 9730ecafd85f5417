import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { sameValue } from '../settings/setting-values.ts';
import { draftsOf, moved, type RuleDraft, rulesOf } from './rules.ts';

/** A published table as the server tells of it. */
export type Table = ResultOf<'routeTable'>;

/** A table while it is edited. */
export interface TableInHand {
  readonly drafts: readonly RuleDraft[];
  readonly isDirty: boolean;
  readonly move: (from: number, to: number) => void;
  /** Puts a rule in the place of the one with its id, or at the end. */
  readonly put: (rule: RuleDraft) => void;
  readonly remove: (id: string) => void;
  readonly discard: () => void;
}

/** Holds changes of a table until they are published. A table that is published meanwhile does not take them away. */
export function useTableInHand(table: Table): TableInHand {
  const [edited, setEdited] = useState<readonly RuleDraft[] | null>(null);
  const drafts = edited ?? draftsOf(table.rules);
  return {
    drafts,
    isDirty: edited !== null && !sameValue(rulesOf(edited), rulesOf(draftsOf(table.rules))),
    move: (from, to) => setEdited((before) => moved(before ?? drafts, from, to)),
    put: (rule) =>
      setEdited((before) => {
        const all = before ?? drafts;
        return all.some(({ id }) => id === rule.id)
          ? all.map((each) => (each.id === rule.id ? rule : each))
          : [...all, rule];
      }),
    remove: (id) => setEdited((before) => (before ?? drafts).filter((rule) => rule.id !== id)),
    discard: () => setEdited(null),
  };
}
