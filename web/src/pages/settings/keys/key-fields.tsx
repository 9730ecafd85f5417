import { useState } from 'react';
import { Button } from '../../../parts/button.tsx';
import { Checkbox } from '../../../parts/checkbox.tsx';
import { ListField, Select } from '../../../parts/choice.tsx';
import type { FormInHand } from '../../../parts/form.tsx';
import { NumberField, TextField } from '../../../parts/text-field.tsx';
import { dayAfter, type KeyForm, NEW_KEY, SCOPES } from './key-form.ts';

interface Props {
  readonly form: FormInHand<KeyForm>;
}

/** The fields of a key. */
export function KeyFields({ form, isNew }: Props & { readonly isNew: boolean }) {
  const { values, put, field } = form;
  const [open, setOpen] = useState(() => isBound(values));
  return (
    <>
      <TextField
        label="Name"
        hint="The program or the team that will use it. It is shown with each message."
        required
        maxLength={100}
        autoComplete="off"
        {...field('name')}
      />
      {isNew && (
        <Select
          label="Kind"
          choices={[
            { value: 'live', label: 'Live', note: 'Its mail goes where routing sends it.' },
            { value: 'test', label: 'Test', note: 'Its mail is always captured, and never leaves.' },
          ]}
          value={values.test ? 'test' : 'live'}
          onChange={(kind) => put({ test: kind === 'test' })}
        />
      )}
      <ScopeFields form={form} />
      {open ? (
        <BoundFields form={form} />
      ) : (
        <Button small label="Limits, addresses and expiry" onClick={() => setOpen(true)} />
      )}
    </>
  );
}

function isBound({ rateLimit, lastDay, cidrs, senderDomains, contentDays }: KeyForm): boolean {
  return (
    rateLimit !== null ||
    lastDay !== '' ||
    contentDays !== NEW_KEY.contentDays ||
    cidrs.length + senderDomains.length > 0
  );
}

function ScopeFields({ form: { values, put, faults } }: Props) {
  const { scopes } = values;
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium">It may</legend>
      <div className="space-y-2">
        {SCOPES.map(({ scope, label, note }) => (
          <Checkbox
            key={scope}
            label={`${label}: ${scope}`}
            hint={note}
            checked={scopes.includes(scope)}
            onChange={(on) =>
              put({ scopes: on ? [...scopes, scope] : scopes.filter((each) => each !== scope) })
            }
          >
            <span className="font-medium">{label}</span>{' '}
            <code className="font-mono text-xs text-soft">{scope}</code>
          </Checkbox>
        ))}
      </div>
      {faults['scopes'] !== undefined && <p className="mt-1 text-sm text-failed">{faults['scopes']}</p>}
      {scopes.includes('admin') && (
        <p className="mt-2 rounded-md border border-retrying/30 bg-retrying-soft px-3 py-2 text-sm">
          Whoever has this key can do everything an administrator can. Bind it to addresses, and give it an
          end.
        </p>
      )}
    </fieldset>
  );
}

function BoundFields({ form }: Props) {
  const { field } = form;
  return (
    <>
      <ListField
        label="Sender domains"
        hint="It may send from these alone, not from what is below them. Empty for any."
        placeholder="example.com"
        {...field('senderDomains')}
      />
      <ListField
        label="Source addresses"
        hint="It works from these ranges alone. Empty for wherever the API is open to."
        placeholder="10.0.0.0/8"
        {...field('cidrs')}
      />
      <NumberField
        label="Rate limit"
        hint="Empty for the limit of all keys; 0 for none."
        unit="/min"
        {...field('rateLimit')}
      />
      <ExpiryField form={form} />
      <NumberField
        label="Keep contents"
        hint="After a message has reached its end. Empty for as long as all others; 0 keeps nothing."
        unit="days"
        {...field('contentDays')}
      />
    </>
  );
}

const SPANS = [
  ['30 days', 30],
  ['90 days', 90],
  ['1 year', 365],
] as const;

function ExpiryField({ form: { values, put, field } }: Props) {
  return (
    <div>
      <TextField
        label="Last day"
        type="date"
        hint="It works until the end of that day, in UTC. Empty for always."
        {...field('lastDay')}
      />
      <div className="mt-1.5 flex flex-wrap gap-1.5">
        {SPANS.map(([label, days]) => (
          <Button
            key={days}
            small
            look="quiet"
            label={label}
            onClick={() => put({ lastDay: dayAfter(Date.now(), days) })}
          />
        ))}
        {values.lastDay !== '' && (
          <Button small look="quiet" label="Always" onClick={() => put({ lastDay: '' })} />
        )}
      </div>
    </div>
  );
}
