import { formatBytes } from '../../format.ts';
import { Checkbox } from '../../parts/checkbox.tsx';
import { ListField, Select, Switch } from '../../parts/choice.tsx';
import { NumberField, SecretField, Textarea, TextField } from '../../parts/text-field.tsx';
import { useCall } from '../../queries.ts';
import { type Draft, type Setting, shortUnit, showSetting } from './setting-values.ts';
import { SourcesEditor } from './sources-editor.tsx';

interface Props {
  readonly setting: Setting;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly error: string | undefined;
}

/** What a setting is changed with, by its kind. */
export function SettingField(props: Props) {
  const { setting, draft, onChange } = props;
  if (setting.kind === 'boolean' && !setting.nullable)
    return <Switch label={setting.label} checked={draft === true} onChange={onChange} />;
  if (!setting.nullable) return <ValueField {...props} />;
  return (
    <div className="space-y-2">
      {draft !== null && <ValueField {...props} />}
      <Checkbox
        label={`No value for ${setting.key}`}
        checked={draft === null}
        onChange={(none) => onChange(none ? null : firstDraft(setting))}
      >
        {setting.none === null ? 'No value' : `No value: ${setting.none}`}
      </Checkbox>
    </div>
  );
}

/** What to begin with where there was no value. */
function firstDraft({ kind, defaultValue, choices }: Setting): Draft {
  if (kind === 'list') return [];
  if (kind === 'boolean') return true;
  if (kind === 'choice') return choices[0] ?? '';
  return defaultValue === null ? '' : String(defaultValue);
}

function ValueField({ setting, draft, onChange, error }: Props) {
  const { key, label, kind, choices, defaultValue } = setting;
  const common = { label, error, hint: `By default: ${showSetting(defaultValue, setting)}.` };
  const text = typeof draft === 'string' ? draft : '';
  if (key === 'listener.sources') return <SourcesEditor value={text} onChange={onChange} error={error} />;
  switch (kind) {
    case 'integer':
      return <IntegerField {...common} setting={setting} value={text} onChange={onChange} />;
    case 'list':
      return <ListField {...common} value={Array.isArray(draft) ? draft : []} onChange={onChange} />;
    case 'choice':
    case 'boolean':
      return (
        <Select
          {...common}
          choices={kind === 'boolean' ? ['true', 'false'] : choices}
          value={kind === 'boolean' ? String(draft) : text}
          onChange={(value) => onChange(kind === 'boolean' ? value === 'true' : value)}
        />
      );
    case 'json':
      return <Textarea {...common} mono rows={6} spellCheck={false} value={text} onChange={onChange} />;
    case 'secret':
      return (
        <SecretField
          {...common}
          hint="What is stored is never shown; empty keeps it."
          value={text}
          onChange={onChange}
        />
      );
    case 'relay':
      return <RelayField {...common} value={text} onChange={onChange} />;
    case 'text':
      return <TextField {...common} mono spellCheck={false} value={text} onChange={onChange} />;
  }
}

/** What is typed as text, whatever it stands for. */
interface TextProps {
  readonly label: string;
  readonly hint: string;
  readonly error: string | undefined;
  readonly value: string;
  readonly onChange: (draft: Draft) => void;
}

function IntegerField({
  setting: { unit, examples },
  value,
  onChange,
  hint,
  ...field
}: TextProps & { readonly setting: Setting }) {
  const number = /^-?\d+$/.test(value) ? Number(value) : null;
  const meant =
    unit === 'bytes' && number !== null && number >= 1024 ? `That is ${formatBytes(number)}. ` : '';
  if (examples !== null) {
    const counted = `A number of ${unit}, or with a unit, such as ${examples}. `;
    return <TextField {...field} hint={`${counted}${meant}${hint}`} value={value} onChange={onChange} />;
  }
  return (
    <NumberField
      {...field}
      unit={unit && shortUnit(unit)}
      hint={hint}
      value={number}
      onChange={(next) => onChange(next === null ? '' : String(next))}
    />
  );
}

function RelayField({ value, ...field }: TextProps) {
  const relays = useCall('relays', {}, { topics: ['relays'] });
  const names = relays.data?.map(({ name }) => name) ?? [];
  // A relay that is gone still stands there until another is chosen.
  const all = value === '' || names.includes(value) ? names : [value, ...names];
  return <Select {...field} choices={all} value={value} />;
}
