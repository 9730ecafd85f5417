import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { Drawer } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { ConditionFields } from './condition-fields.tsx';
import { GroupFields } from './group-fields.tsx';
import { CONDITIONS, emptyConditions, type RuleDraft } from './rules.ts';

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
  const id = useId();
  const [draft, setDraft] = useState(rule);
  const [tried, setTried] = useState(false);
  // Two fields may change before the form is drawn again: one is left, and another filled in.
  const change = (part: Partial<RuleDraft>) => setDraft((before) => ({ ...before, ...part }));
  const setCondition = (name: string, values: readonly string[] | null) =>
    setDraft((before) => {
      const { [name]: _, ...others } = before.match;
      return { ...before, match: values === null ? others : { ...before.match, [name]: values } };
    });
  const faults = faultsOf(draft, others);
  const unused = CONDITIONS.filter(({ name }) => draft.match[name] === undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (faults.name === null && faults.via === null && faults.empty.length === 0) onPut(draft);
  };
  return (
    <Drawer
      open
      onClose={onClose}
      title={isNew ? 'Add a rule' : 'Edit rule'}
      description="It holds once the table is published."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} look="primary">
            {isNew ? 'Add to the table' : 'Put into the table'}
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={submit} noValidate className="space-y-6">
        <TextField
          label="Name"
          hint="Small letters, digits, - and _. It is told with each message that the rule decides."
          mono
          maxLength={64}
          spellCheck={false}
          autoComplete="off"
          value={draft.name}
          onChange={(name) => change({ name })}
          error={tried ? faults.name : null}
        />
        <fieldset className="space-y-4">
          <legend className="mb-1 font-semibold">When mail is like this</legend>
          <p className="text-sm text-soft">
            All conditions must hold; of several values of one, any. Without conditions it matches everything.
          </p>
          {CONDITIONS.filter(({ name }) => draft.match[name] !== undefined).map((kind) => (
            <ConditionFields
              key={kind.name}
              kind={kind}
              values={draft.match[kind.name] ?? []}
              error={
                tried && faults.empty.includes(kind.name) ? 'Give a value, or leave the condition out.' : null
              }
              onChange={(values) => setCondition(kind.name, values)}
              onRemove={() => setCondition(kind.name, null)}
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
              onChange={(name) => name !== '' && setCondition(name, [])}
            />
          )}
        </fieldset>
        <GroupFields
          via={draft.via}
          weighted={draft.weighted}
          relays={relays}
          error={tried ? faults.via : null}
          onChange={change}
        />
      </form>
    </Drawer>
  );
}

function faultsOf({ name, match, via }: RuleDraft, others: readonly string[]) {
  return {
    name: !NAME.test(name)
      ? 'It must be 1 to 64 of a-z 0-9 - _'
      : others.includes(name)
        ? 'Another rule has this name.'
        : null,
    via: via.length === 0 ? 'Choose at least one relay.' : null,
    empty: emptyConditions(match),
  };
}
