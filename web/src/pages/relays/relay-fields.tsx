import { ChevronRight } from 'lucide-react';
import { ListField, Select } from '../../parts/choice.tsx';
import { NumberField, SecretField, Textarea, TextField } from '../../parts/text-field.tsx';
import { Meaning } from '../settings/setting-row.tsx';
import { type Draft, shortUnit, showSetting } from '../settings/setting-values.ts';
import { type Drafts, plainFields, type RelayForm, type RelayFormField, secretFields } from './definition.ts';

const GROUPS = [
  ['oauth', 'OAuth', 'Microsoft 365, Google and others that take no password.'],
  ['connection', 'Connection', 'Names, addresses and endpoints that are seldom other than usual.'],
  ['limits', 'Limits', 'How much at once, in a second, and in a day.'],
  ['warmup', 'Warm-up', 'For a new address: a little more each day.'],
] as const;

/** Stands for no value in a list to choose from. */
const USUAL = '';

interface Props {
  readonly form: RelayForm;
  readonly drafts: Drafts;
  readonly faults: Readonly<Record<string, string>>;
  readonly onChange: (name: string, draft: Draft) => void;
  /** By the names of their fields. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly onSecret: (name: string, secret: string) => void;
  /** There is a stored secret, which an empty field keeps. */
  readonly keepsSecret: boolean;
  /** The name cannot be changed. */
  readonly fixedName: boolean;
}

/** The fields of a relay of one type: what is needed first, the rest folded. */
export function RelayFields(props: Props) {
  const { form, drafts, faults, onChange, fixedName } = props;
  const fields = plainFields(form).filter(({ name }) => !(fixedName && name === 'name'));
  const secretsIn = (wanted: RelayFormField['group']) =>
    secretFields(form)
      .filter(({ group }) => group === wanted)
      .map((field) => <RelaySecret key={field.name} {...props} field={field} />);
  const inGroup = (group: RelayFormField['group']) => fields.filter((field) => field.group === group);
  const draw = (field: RelayFormField) => (
    <FormField
      key={field.name}
      field={field}
      draft={drafts[field.name] ?? null}
      error={faults[field.name]}
      onChange={(draft) => onChange(field.name, draft)}
    />
  );
  return (
    <>
      {inGroup('main').map(draw)}
      {secretsIn('main')}
      {GROUPS.map(([group, title, note]) => {
        const members = inGroup(group);
        if (members.length === 0) return null;
        const isFaulty = form.fields.some(
          (field) => field.group === group && faults[field.name] !== undefined,
        );
        return (
          <details
            key={group}
            className="group rounded-md border border-line"
            {...(isFaulty && { open: true })}
          >
            <summary className="flex list-none items-center gap-2 rounded-md px-3 py-2.5 hover:bg-sunken">
              <ChevronRight
                aria-hidden
                size={15}
                className="shrink-0 text-soft transition-transform group-open:rotate-90"
              />
              <span className="font-medium">{title}</span>
              <span className="truncate text-sm text-soft max-sm:hidden">{note}</span>
            </summary>
            <div className="space-y-5 border-t border-line p-3">
              {members.map(draw)}
              {secretsIn(group)}
            </div>
          </details>
        );
      })}
    </>
  );
}

function RelaySecret({
  field,
  faults,
  secrets,
  onSecret,
  keepsSecret,
}: Props & { readonly field: RelayFormField }) {
  return (
    <SecretField
      label={field.label}
      autoComplete="new-password"
      required={field.required && !keepsSecret}
      placeholder={keepsSecret ? 'Kept as it is' : ''}
      value={secrets[field.name] ?? ''}
      onChange={(secret) => onSecret(field.name, secret)}
      error={faults[field.name]}
      hint={
        <>
          <Meaning text={field.meaning} /> It is kept sealed, and never shown again.
        </>
      }
    />
  );
}

function FormField({
  field,
  draft,
  error,
  onChange,
}: {
  readonly field: RelayFormField;
  readonly draft: Draft;
  readonly error: string | undefined;
  readonly onChange: (draft: Draft) => void;
}) {
  const { label, meaning, kind, name, choices, defaultValue, required, unit } = field;
  const common = { label, hint: <Meaning text={meaning} />, error };
  const text = typeof draft === 'string' ? draft : '';
  const usual =
    defaultValue === null ? 'As usual' : `As usual: ${showSetting(defaultValue, { key: name, unit })}`;
  switch (kind) {
    case 'boolean':
      return (
        <Select
          {...common}
          choices={[
            { value: USUAL, label: usual },
            { value: 'true', label: 'Yes' },
            { value: 'false', label: 'No' },
          ]}
          value={draft === null ? USUAL : String(draft)}
          onChange={(value) => onChange(value === USUAL ? null : value === 'true')}
        />
      );
    case 'choice':
      return (
        <Select
          {...common}
          choices={[
            ...(required ? [] : [{ value: USUAL, label: usual }]),
            ...choices.map((value) => ({ value, label: value })),
          ]}
          value={text}
          onChange={onChange}
        />
      );
    case 'integer':
      return (
        <NumberField
          {...common}
          {...(unit !== null && { unit: shortUnit(unit) })}
          value={/^-?\d+$/.test(text) ? Number(text) : null}
          onChange={(value) => onChange(value === null ? '' : String(value))}
        />
      );
    case 'list':
      return <ListField {...common} value={Array.isArray(draft) ? draft : []} onChange={onChange} />;
    case 'json':
      return <Textarea {...common} mono spellCheck={false} value={text} onChange={onChange} />;
    default:
      return (
        <TextField
          {...common}
          required={required}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={text}
          onChange={onChange}
        />
      );
  }
}
