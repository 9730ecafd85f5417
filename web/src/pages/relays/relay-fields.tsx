import { faultsOf } from '../../faults.ts';
import { ListField, Select } from '../../parts/choice.tsx';
import { Fold } from '../../parts/fold.tsx';
import { Form, type FormInHand } from '../../parts/form.tsx';
import { NumberField, SecretField, Textarea, TextField } from '../../parts/text-field.tsx';
import { Meaning } from '../settings/setting-row.tsx';
import { type Draft, shortUnit, showSetting } from '../settings/setting-values.ts';
import {
  type Definition,
  type Drafts,
  definitionOf,
  draftsOf,
  plainFields,
  type RelayForm,
  type RelayFormField,
  secretFields,
  secretsOf,
} from './definition.ts';

const GROUPS = [
  ['oauth', 'OAuth', 'Microsoft 365, Google and others that accept no password.'],
  ['connection', 'Connection', 'Names, addresses and endpoints; the defaults are usually right.'],
  ['limits', 'Limits', 'Limits on concurrency, per second, and per day.'],
  ['warmup', 'Warm-up', 'For a new address: a little more each day.'],
] as const;

/** Stands for no value in a list to choose from. */
const USUAL = '';

/** What a form comes to: the definition, and the secrets that were filled in. */
interface Given {
  readonly definition: Definition;
  readonly secret: ReturnType<typeof secretsOf>;
}

/** What is filled in, as it is asked for and tested. */
export function givenBy(form: RelayForm, values: Drafts): Given {
  const secrets = secretFields(form).map(({ name }) => [name, String(values[name] ?? '')]);
  return {
    definition: definitionOf(form, values).definition,
    secret: secretsOf(Object.fromEntries(secrets)),
  };
}

/** The form of a type of relay, from a definition or from nothing. */
export function FilledRelay<Request, Result>({
  of: form,
  definition,
  request,
  ...rest
}: {
  readonly of: RelayForm;
  readonly definition: Definition;
  /** What is asked for; null asks for nothing yet. */
  readonly request: (given: Given, values: Drafts) => Request | null;
} & Omit<Parameters<typeof Form<Drafts, Request, Result>>[0], 'initial' | 'request' | 'check' | 'sort'>) {
  const names = form.fields.map(({ name }) => name);
  return (
    <Form
      {...rest}
      initial={{
        ...draftsOf(form, definition),
        ...Object.fromEntries(secretFields(form).map(({ name }) => [name, ''])),
      }}
      request={(values) => request(givenBy(form, values), values)}
      check={(values) => definitionOf(form, values).faults}
      sort={(error) => faultsOf(error, names, fieldOf)}
      noValidate
      className="space-y-5"
    />
  );
}

function fieldOf([first, second]: readonly string[]): string | null {
  return (first === 'relay' || first === 'definition' ? second : first) ?? null;
}

interface Props {
  readonly of: RelayForm;
  readonly hand: FormInHand<Drafts>;
  /** There is a stored secret, which an empty field keeps. */
  readonly keepsSecret: boolean;
  /** The name cannot be changed. */
  readonly fixedName: boolean;
}

/** The fields of a relay of one type: what is needed first, the rest folded. */
export function RelayFields({ of: form, hand: { field, faults }, keepsSecret, fixedName }: Props) {
  const fields = plainFields(form).filter(({ name }) => !(fixedName && name === 'name'));
  const draw = (each: RelayFormField) => <FormField key={each.name} field={each} {...field(each.name)} />;
  const inGroup = (group: RelayFormField['group']) => [
    ...fields.filter((each) => each.group === group).map(draw),
    ...secretFields(form)
      .filter((each) => each.group === group)
      .map((each) => (
        <RelaySecret key={each.name} field={each} keepsSecret={keepsSecret} {...field(each.name)} />
      )),
  ];
  return (
    <>
      {inGroup('main')}
      {GROUPS.filter(([group]) => fields.some((each) => each.group === group)).map(([group, title, note]) => (
        <Fold
          key={group}
          title={title}
          note={note}
          open={form.fields.some((each) => each.group === group && faults[each.name] !== undefined)}
        >
          <div className="space-y-5">{inGroup(group)}</div>
        </Fold>
      ))}
    </>
  );
}

interface FieldProps {
  readonly field: RelayFormField;
  readonly value: Draft | undefined;
  readonly onChange: (draft: Draft) => void;
  readonly error: string | undefined;
}

function RelaySecret({
  field,
  value,
  onChange,
  error,
  keepsSecret,
}: FieldProps & { readonly keepsSecret: boolean }) {
  return (
    <SecretField
      label={field.label}
      autoComplete="new-password"
      required={field.required && !keepsSecret}
      placeholder={keepsSecret ? 'Kept as it is' : ''}
      value={String(value ?? '')}
      onChange={onChange}
      error={error}
      hint={
        <>
          <Meaning text={field.meaning} /> It is stored encrypted, and never shown again.
        </>
      }
    />
  );
}

function FormField({ field, value: draft = null, onChange, error }: FieldProps) {
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
          choices={[...(required ? [] : [{ value: USUAL, label: usual }]), ...choices]}
          value={text}
          onChange={onChange}
        />
      );
    case 'integer':
      return (
        <NumberField
          {...common}
          unit={unit && shortUnit(unit)}
          value={/^-?\d+$/.test(text) ? Number(text) : null}
          onChange={(value) => onChange(value === null ? '' : String(value))}
        />
      );
    case 'list':
      return <ListField {...common} value={Array.isArray(draft) ? draft : []} onChange={onChange} />;
    case 'json':
      return <Textarea {...common} mono spellCheck={false} value={text} onChange={onChange} />;
    default:
      return <TextField {...common} required={required} verbatim value={text} onChange={onChange} />;
  }
}

/** Where the credentials of a type of relay are found, and what else to know. */
export function RelayHelp({ form: { help } }: { readonly form: RelayForm }) {
  if (help.length === 0) return null;
  return (
    <aside aria-label="Help" className="rounded-md border border-accent/25 bg-accent-soft px-4 py-3">
      <ul className={help.length > 1 ? 'list-disc space-y-1 pl-4' : ''}>
        {help.map((line) => (
          <li key={line} className="break-words">
            <Meaning text={line} />
          </li>
        ))}
      </ul>
    </aside>
  );
}
