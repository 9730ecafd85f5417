import type { ReactNode } from 'react';
import { ListField, Select } from '../../parts/choice.tsx';
import { SecretField, Textarea, TextField } from '../../parts/text-field.tsx';
import { useCall } from '../../queries.ts';
import { type Draft, type Setting, shortUnit } from './setting-values.ts';

/** What a value is written into, by its kind: of a setting, or of a relay. */
export function DraftField({
  of: { kind, choices, unit, examples = null },
  usual = null,
  draft,
  onChange,
  ...field
}: {
  readonly of: Pick<Setting, 'kind' | 'choices' | 'unit'> & Partial<Pick<Setting, 'examples'>>;
  readonly label: string;
  readonly hint: ReactNode;
  readonly error: string | undefined;
  readonly required?: boolean;
  readonly placeholder?: string;
  /** What stands for no value in a list to choose from; null where there has to be one. */
  readonly usual?: string | null;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}) {
  const text = { ...field, value: typeof draft === 'string' ? draft : '', onChange };
  const none = usual === null ? [] : [{ value: '', label: usual }];
  switch (kind) {
    case 'boolean':
      return (
        <Select
          {...field}
          choices={[...none, { value: 'true', label: 'Yes' }, { value: 'false', label: 'No' }]}
          value={draft === null ? '' : String(draft)}
          onChange={(value) => onChange(value === '' ? null : value === 'true')}
        />
      );
    case 'choice':
      return <Select {...text} choices={[...none, ...choices]} />;
    case 'relay':
      return <RelayChoice {...text} />;
    case 'list':
      return <ListField {...field} value={Array.isArray(draft) ? draft : []} onChange={onChange} />;
    case 'json':
      return <Textarea {...text} mono rows={6} spellCheck={false} />;
    case 'secret':
      return <SecretField {...text} autoComplete="new-password" />;
    case 'integer':
      // Whatever is written is kept, so that what is no number can be said to be none.
      return (
        <TextField
          {...text}
          verbatim
          inputMode={examples === null ? 'numeric' : 'text'}
          unit={examples === null ? unit && shortUnit(unit) : null}
        />
      );
    case 'text':
      return <TextField {...text} mono verbatim />;
  }
}

function RelayChoice({
  value,
  ...field
}: Omit<Parameters<typeof Select<string>>[0], 'choices'> & { readonly value: string }) {
  const relays = useCall('relays', {}, { topics: ['relays'] });
  const names = relays.data?.map(({ name }) => name) ?? [];
  // A relay that is gone still stands there until another is chosen.
  const all = value === '' || names.includes(value) ? names : [value, ...names];
  return <Select {...field} choices={all} value={value} />;
}
