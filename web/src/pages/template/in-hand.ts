import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { refetchShown, useAct } from '../../queries.ts';
import { type Draft, draftOf, isSame, readSample, type Template, textsOf } from './draft.ts';

/** A template while it is edited. */
export type TemplateInHand = ReturnType<typeof useTemplateInHand>;

/** Holds what is changed of a template until it is saved. A version that others save meanwhile does not take it away. */
export function useTemplateInHand(template: Template) {
  const [edited, setEdited] = useState<{ readonly draft: Draft; readonly basedOn: number } | null>(null);
  const [note, setNote] = useState('');
  const show = useShowTemplate();
  const saved = draftOf(template);
  const draft = edited?.draft ?? saved;
  const isDirty = edited !== null && !isSame(edited.draft, saved);
  const discard = () => {
    setEdited(null);
    setNote('');
    act.reset();
  };
  const act = useAct('saveTemplate', {
    quiet: true,
    done: ({ version }) => `Version ${version} is saved`,
    onDone: (now) => {
      show(now);
      setNote('');
      // What was typed while it was being saved stays.
      setEdited((last) =>
        last === null || isSame(last.draft, draftOf(now)) ? null : { ...last, basedOn: now.version },
      );
    },
  });
  const { error } = act;
  // It may be that somebody else has saved a version: then that is shown.
  useEffect(() => {
    if (error !== null) refetchShown(new Set(['templates'] as const));
  }, [error]);
  const save = (given: Draft, basedOn: number, why: string) => {
    const { values } = readSample(given.sample);
    const { alias } = template;
    if (values === null || act.isPending) return;
    act.mutate({ alias, name: given.name.trim(), ...textsOf(given), sample: values, note: why, basedOn });
  };
  return {
    draft,
    isDirty,
    /** The version that was edited. */
    basedOn: edited?.basedOn ?? template.version,
    /** Somebody has saved another version since. */
    isBehind: isDirty && edited.basedOn !== template.version,
    note,
    setNote,
    put: (part: Partial<Draft>) => {
      // What was refused is another draft now.
      if (error !== null) act.reset();
      setEdited((last) => {
        const next = { ...(last?.draft ?? saved), ...part };
        const basedOn = last?.basedOn ?? template.version;
        // What was taken back letter by letter is no edit any more, and no conflict with what others save.
        return basedOn === template.version && isEqual(next, saved) ? null : { draft: next, basedOn };
      });
    },
    discard,
    /** Goes on from the newest version, in whose place this one is then saved. */
    keepMine: () => {
      act.reset();
      setEdited((last) => last && { ...last, basedOn: template.version });
    },
    save: () => save(draft, edited?.basedOn ?? template.version, note.trim()),
    /** Saves the texts of an earlier version as the newest one. */
    restore: (earlier: Template) =>
      save(draftOf(earlier), template.version, `Version ${earlier.version}, restored`),
    isSaving: act.isPending,
    error,
  };
}

function isEqual(one: Draft, other: Draft): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Shows a template as an act has answered it, before it is fetched again. */
export function useShowTemplate() {
  const client = useQueryClient();
  return (template: Template) =>
    client.setQueryData(['template', { alias: template.alias, version: null }], template);
}
