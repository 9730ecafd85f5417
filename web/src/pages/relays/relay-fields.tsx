import { faultsOf } from '../../faults.ts';
import { Fold } from '../../parts/fold.tsx';
import { Form, type FormInHand } from '../../parts/form.tsx';
import { DraftField } from '../settings/draft-field.tsx';
import { Meaning } from '../settings/setting-row.tsx';
import { showSetting } from '../settings/setting-values.ts';
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
  ['hook', 'Webhook', 'What proves the events by which the provider tells of bounces and complaints.'],
  ['oauth', 'OAuth', 'Microsoft 365, Google and others that accept no password.'],
  ['connection', 'Connection', 'Names, addresses and endpoints; the defaults are usually right.'],
  ['limits', 'Limits', 'Limits on concurrency, per second, and per day.'],
  ['warmup', 'Warm-up', 'For a new address: a little more each day.'],
] as const;

/** What a form comes to: the definition, and the secrets that were filled in. */
interface Given {
  readonly definition: Definition;
  readonly secret: ReturnType<typeof secretsOf>;
}

/** What is filled in, as it is asked for and tested. */
export function givenBy(form: RelayForm, values: Drafts): Given {
  return { definition: definitionOf(form, values).definition, secret: secretsOf(form, values) };
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
      initial={draftsOf(form, definition)}
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
  /** Whether there is a stored secret, which an empty field keeps. */
  readonly keepsSecret: (field: string) => boolean;
  /** The name cannot be changed. */
  readonly fixedName: boolean;
}

/** The fields of a relay of one type: what is needed first, the rest folded. */
export function RelayFields({ of: form, hand: { field, faults }, keepsSecret, fixedName }: Props) {
  const fields = [...plainFields(form), ...secretFields(form)].filter(
    ({ name }) => !(fixedName && name === 'name'),
  );
  const inGroup = (group: RelayFormField['group']) =>
    fields
      .filter((each) => each.group === group)
      .map((each) => {
        const { value: draft = null, ...bound } = field(each.name);
        return (
          <DraftField
            key={each.name}
            of={each}
            {...wordsOf(each, keepsSecret(each.name))}
            usual={usualOf(each)}
            draft={draft}
            {...bound}
          />
        );
      });
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

/** What stands around a field. */
function wordsOf({ label, meaning, kind, required }: RelayFormField, keepsSecret: boolean) {
  const hint = <Meaning text={meaning} />;
  if (kind !== 'secret') return { label, hint, required };
  return {
    label,
    hint: <>{hint} It is stored encrypted, and never shown again.</>,
    required: required && !keepsSecret,
    ...(keepsSecret && { placeholder: 'Kept as it is' }),
  };
}

/** What it is without a choice; null where there has to be one. */
function usualOf({ name, unit, required, defaultValue }: RelayFormField): string | null {
  if (required) return null;
  return defaultValue === null ? 'As usual' : `As usual: ${showSetting(defaultValue, { key: name, unit })}`;
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
