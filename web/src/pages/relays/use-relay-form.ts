import { useState } from 'react';
import { type Faults, faultsOf } from '../../faults.ts';
import type { Draft } from '../settings/setting-values.ts';
import { type Definition, type Drafts, definitionOf, draftsOf, type RelayForm } from './definition.ts';

/** A relay's form while it is filled in. */
export interface RelayFormInHand {
  readonly drafts: Drafts;
  /** By the names of their fields. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly definition: Definition;
  /** What is wrong, once someone has tried to save it, or the server has refused it. */
  readonly faults: Faults;
  /** Whether nothing is wrong as far as can be told here. */
  readonly isWhole: boolean;
  readonly change: (name: string, draft: Draft) => void;
  readonly setSecret: (name: string, secret: string) => void;
  /** Shows what is wrong, and goes to the first such field of this form. */
  readonly try: (form: HTMLFormElement) => void;
}

/** Fills in the form of a type of relay, from a definition or from nothing. */
export function useRelayForm(
  form: RelayForm,
  definition: Definition | null,
  error: Error | null,
  onTouched: () => void,
): RelayFormInHand {
  const [drafts, setDrafts] = useState(() => draftsOf(form, definition));
  const [secrets, setSecrets] = useState<Readonly<Record<string, string>>>({});
  const [tried, setTried] = useState(false);
  const read = definitionOf(form, drafts);
  const refused = faultsOf(
    error,
    form.fields.map(({ name }) => name),
    ([first, second]) => (first === 'relay' || first === 'definition' ? (second ?? null) : (first ?? null)),
  );
  return {
    drafts,
    secrets,
    definition: read.definition,
    faults: { fields: { ...refused.fields, ...(tried && read.faults) }, rest: refused.rest },
    isWhole: Object.keys(read.faults).length === 0,
    change: (name, draft) => {
      onTouched();
      setDrafts((before) => ({ ...before, [name]: draft }));
    },
    setSecret: (name, secret) => {
      onTouched();
      setSecrets((before) => ({ ...before, [name]: secret }));
    },
    try: (element) => {
      setTried(true);
      requestAnimationFrame(() => element.querySelector<HTMLElement>('[aria-invalid]')?.focus());
    },
  };
}
