import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { formatBytes } from '../../format.ts';
import { IconButton } from '../../parts/button.tsx';
import { ListField, Select } from '../../parts/choice.tsx';
import { Form, type FormInHand } from '../../parts/form.tsx';
import { NumberField, Textarea, TextField } from '../../parts/text-field.tsx';
import { CONDITIONS, type ConditionKind, emptyConditions, moved, type RuleDraft } from './rules.ts';

const NAME = /^[a-z0-9_-]{1,64}$/;

/** A rule's form. What is put into it holds once the table is published. */
export function RuleEditor({
  rule,
  isNew,
  others,
  relays,
  onClose,
  onPut,
}: {
  readonly rule: RuleDraft;
  readonly isNew: boolean;
  /** Names of the other rules. */
  readonly others: readonly string[];
  readonly relays: readonly string[];
  readonly onClose: () => void;
  readonly onPut: (rule: RuleDraft) => void;
}) {
  return (
    <Form
      act={HERE}
      initial={rule}
      request={(draft) => {
        onPut(draft);
        return null;
      }}
      check={(draft) => faultsOf(draft, others)}
      submit={isNew ? 'Add to the table' : 'Put into the table'}
      onClose={onClose}
      className="space-y-6"
      sheet={{
        kind: 'drawer',
        title: isNew ? 'Add a rule' : 'Edit rule',
        description: 'It takes effect once the table is published.',
      }}
    >
      {(form) => (
        <>
          <TextField
            label="Name"
            hint="Small letters, digits, - and _. It is shown with each message that the rule decides."
            mono
            maxLength={64}
            verbatim
            {...form.field('name')}
          />
          <Conditions form={form} />
          <GroupFields form={form} relays={relays} />
        </>
      )}
    </Form>
  );
}

/** Nothing is sent: a rule is put into the table that is edited. */
const HERE = { mutate: () => {}, error: null, isPending: false };

/** What is wrong with a rule; of its conditions each under its own name. */
function faultsOf({ name, match, via }: RuleDraft, others: readonly string[]) {
  const taken = others.includes(name) ? 'Another rule has this name.' : null;
  const empty = emptyConditions(match).map((condition) => [
    `match.${condition}`,
    'Give a value, or remove the condition.',
  ]);
  return {
    ...Object.fromEntries(empty),
    name: NAME.test(name) ? taken : 'It must be 1 to 64 of a-z 0-9 - _',
    via: via.length === 0 ? 'Choose at least one relay.' : null,
  };
}

function Conditions({ form: { values, put, faults } }: { readonly form: FormInHand<RuleDraft> }) {
  const { match } = values;
  const unused = CONDITIONS.filter(({ name }) => match[name] === undefined);
  const set = (name: string, given: readonly string[] | null) =>
    put((before) => {
      const { [name]: _, ...others } = before.match;
      return { match: given === null ? others : { ...before.match, [name]: given } };
    });
  return (
    <fieldset className="space-y-4">
      <legend className="mb-1 font-semibold">When mail is like this</legend>
      <p className="text-sm text-soft">
        All conditions must hold; of several values of one, any. Without conditions it matches everything.
      </p>
      {CONDITIONS.filter(({ name }) => match[name] !== undefined).map((kind) => (
        <ConditionFields
          key={kind.name}
          kind={kind}
          values={match[kind.name] ?? []}
          error={faults[`match.${kind.name}`]}
          onChange={(given) => set(kind.name, given)}
          onRemove={() => set(kind.name, null)}
        />
      ))}
      {unused.length > 0 && (
        <Select
          bare
          label="Add a condition"
          choices={[
            { value: '', label: 'Add a condition' },
            ...unused.map(({ name, label }) => ({ value: name, label })),
          ]}
          value=""
          onChange={(name) => name !== '' && set(name, [])}
        />
      )}
    </fieldset>
  );
}

/** The values of one condition of a rule. */
function ConditionFields({
  kind: { name, label, hint, kind },
  values,
  error,
  onChange,
  onRemove,
}: {
  readonly kind: ConditionKind;
  readonly values: readonly string[];
  readonly error: string | undefined;
  readonly onChange: (values: readonly string[]) => void;
  readonly onRemove: () => void;
}) {
  const [first = ''] = values;
  const bytes = /^\d+$/.test(first) ? Number(first) : null;
  return (
    <div className="flex items-start gap-1">
      <div className="min-w-0 flex-1">
        {kind === 'list' && (
          <ListField label={label} hint={hint} error={error} value={values} onChange={onChange} />
        )}
        {kind === 'lines' && (
          <Textarea
            label={label}
            hint={hint}
            error={error}
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

/** Most relays of a rule. */
const MAX_GROUP = 16;

/** The relays of a rule: tried in order, or drawn by weight. */
function GroupFields({
  form: { values, put: change, faults },
  relays,
}: {
  readonly form: FormInHand<RuleDraft>;
  readonly relays: readonly string[];
}) {
  const { via, weighted } = values;
  const left = relays.filter((relay) => !via.some((member) => member.relay === relay));
  const put = (next: RuleDraft['via']) => change({ via: next });
  return (
    <fieldset className="space-y-3">
      <legend className="mb-1 font-semibold">It goes by</legend>
      {via.length > 1 && (
        <Select
          label="Which one"
          choices={[
            {
              value: 'given',
              label: 'In this order',
              note: 'The next one only if those before cannot accept it.',
            },
            { value: 'weighted', label: 'Drawn by weight', note: 'A share each; the others are fallbacks.' },
          ]}
          value={weighted ? 'weighted' : 'given'}
          onChange={(order) => change({ weighted: order === 'weighted' })}
        />
      )}
      <ol className="space-y-2">
        {via.map((member, place) => (
          <li
            key={member.relay}
            className="flex items-center gap-2 rounded-md border border-line bg-surface py-1.5 pr-1.5 pl-3"
          >
            <span className="min-w-0 flex-1 truncate font-mono text-sm">{member.relay}</span>
            {weighted ? (
              <NumberField
                className="w-24 [&_label]:sr-only"
                label={`Weight of ${member.relay}`}
                value={member.weight}
                onChange={(weight) =>
                  put(
                    via.map((each, at) =>
                      at === place ? { ...each, weight: Math.max(1, weight ?? 1) } : each,
                    ),
                  )
                }
              />
            ) : (
              <>
                <IconButton
                  icon={ArrowUp}
                  small
                  label={`Put ${member.relay} earlier`}
                  disabled={place === 0}
                  onClick={() => put(moved(via, place, place - 1))}
                />
                <IconButton
                  icon={ArrowDown}
                  small
                  label={`Put ${member.relay} later`}
                  disabled={place === via.length - 1}
                  onClick={() => put(moved(via, place, place + 1))}
                />
              </>
            )}
            <IconButton
              icon={X}
              small
              label={`Leave out ${member.relay}`}
              onClick={() => put(via.filter((_, at) => at !== place))}
            />
          </li>
        ))}
      </ol>
      {left.length > 0 && via.length < MAX_GROUP && (
        <Select
          bare
          label="Add a relay"
          choices={[{ value: '', label: via.length === 0 ? 'Choose a relay' : 'Add another relay' }, ...left]}
          value=""
          onChange={(relay) => relay !== '' && put([...via, { relay, weight: 1 }])}
        />
      )}
      {faults['via'] !== undefined && <p className="text-sm text-failed">{faults['via']}</p>}
    </fieldset>
  );
}
