import { X } from 'lucide-react';
import { formatBytes } from '../../format.ts';
import { IconButton } from '../../parts/button.tsx';
import { ListField } from '../../parts/choice.tsx';
import { NumberField, Textarea } from '../../parts/text-field.tsx';
import type { ConditionKind } from './rules.ts';

/** The values of one condition of a rule. */
export function ConditionFields({
  kind: { name, label, hint, kind },
  values,
  error,
  onChange,
  onRemove,
}: {
  readonly kind: ConditionKind;
  readonly values: readonly string[];
  readonly error: string | null;
  readonly onChange: (values: readonly string[]) => void;
  readonly onRemove: () => void;
}) {
  const [first = ''] = values;
  const bytes = /^\d+$/.test(first) ? Number(first) : null;
  return (
    <div className="flex items-start gap-1">
      <div className="min-w-0 flex-1">
        {kind === 'list' && <ListField {...{ label, hint, error }} value={values} onChange={onChange} />}
        {kind === 'lines' && (
          <Textarea
            {...{ label, hint, error }}
            mono
            rows={Math.min(6, Math.max(2, values.length + 1))}
            spellCheck={false}
            value={values.join('\n')}
            onChange={(text) => onChange(text === '' ? [] : text.split('\n'))}
            onBlur={() => onChange(values.map((value) => value.trim()).filter((value) => value !== ''))}
          />
        )}
        {kind === 'bytes' && (
          <NumberField
            label={`${label}, in bytes`}
            hint={bytes !== null && bytes >= 1024 ? `${hint} That is ${formatBytes(bytes)}.` : hint}
            error={error}
            unit="bytes"
            value={bytes}
            onChange={(value) => onChange(value === null ? [] : [String(value)])}
          />
        )}
      </div>
      <IconButton icon={X} small label={`Leave out ${label}`} onClick={onRemove} data-condition={name} />
    </div>
  );
}
