import { useState } from 'react';
import { Button } from '../../../parts/button.tsx';
import { Checkbox } from '../../../parts/checkbox.tsx';
import { ListField, Select } from '../../../parts/choice.tsx';
import { NumberField, TextField } from '../../../parts/text-field.tsx';
import { dayAfter, type KeyForm, NEW_KEY, SCOPES } from './key-form.ts';

type Fields = Readonly<Record<string, string>>;

/** The fields of a key. */
export function KeyFields({
  form,
  faults,
  isNew,
  onChange,
}: {
  readonly form: KeyForm;
  readonly faults: Fields;
  readonly isNew: boolean;
  /** Two fields may change before the form is drawn again: one is left, and another filled in. */
  readonly onChange: (change: (form: KeyForm) => KeyForm) => void;
}) {
  const [open, setOpen] = useState(() => isBound(form));
  const change = (part: Partial<KeyForm>) => onChange((before) => ({ ...before, ...part }));
  return (
    <>
      <TextField
        label="Name"
        hint="The program or the team that will use it. It is shown with each message."
        required
        maxLength={100}
        autoComplete="off"
        value={form.name}
        onChange={(name) => change({ name })}
        error={faults['name']}
      />
      {isNew && (
        <Select
          label="Kind"
          choices={[
            { value: 'live', label: 'Live', note: 'Its mail goes where routing sends it.' },
            { value: 'test', label: 'Test', note: 'Its mail is always captured, and never leaves.' },
          ]}
          value={form.test ? 'test' : 'live'}
          onChange={(kind) => change({ test: kind === 'test' })}
        />
      )}
      <ScopeFields form={form} error={faults['scopes']} change={change} />
      {open ? (
        <BoundFields form={form} faults={faults} change={change} />
      ) : (
        <Button small onClick={() => setOpen(true)}>
          Limits, addresses and expiry
        </Button>
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

interface PartProps {
  readonly form: KeyForm;
  readonly change: (part: Partial<KeyForm>) => void;
}

function ScopeFields({ form, error, change }: PartProps & { readonly error: string | undefined }) {
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium">It may</legend>
      <div className="space-y-2">
        {SCOPES.map(({ scope, label, note }) => (
          <Checkbox
            key={scope}
            label={`${label}: ${scope}`}
            hint={note}
            checked={form.scopes.includes(scope)}
            onChange={(on) =>
              change({ scopes: on ? [...form.scopes, scope] : form.scopes.filter((each) => each !== scope) })
            }
          >
            <span className="font-medium">{label}</span>{' '}
            <code className="font-mono text-xs text-soft">{scope}</code>
          </Checkbox>
        ))}
      </div>
      {error !== undefined && <p className="mt-1 text-sm text-failed">{error}</p>}
      {form.scopes.includes('admin') && (
        <p className="mt-2 rounded-md border border-retrying/30 bg-retrying-soft px-3 py-2 text-sm">
          Whoever has this key can do everything an administrator can. Bind it to addresses, and give it an
          end.
        </p>
      )}
    </fieldset>
  );
}

function BoundFields({ form, faults, change }: PartProps & { readonly faults: Fields }) {
  return (
    <>
      <ListField
        label="Sender domains"
        hint="It may send from these alone, not from what is below them. Empty for any."
        placeholder="example.com"
        value={form.senderDomains}
        onChange={(senderDomains) => change({ senderDomains })}
        error={faults['senderDomains']}
      />
      <ListField
        label="Source addresses"
        hint="It works from these ranges alone. Empty for wherever the API is open to."
        placeholder="10.0.0.0/8"
        value={form.cidrs}
        onChange={(cidrs) => change({ cidrs })}
        error={faults['cidrs']}
      />
      <NumberField
        label="Rate limit"
        hint="Empty for the limit of all keys; 0 for none."
        unit="/min"
        value={form.rateLimit}
        onChange={(rateLimit) => change({ rateLimit })}
        error={faults['rateLimit']}
      />
      <ExpiryField form={form} change={change} error={faults['expiresAt']} />
      <NumberField
        label="Keep contents"
        hint="After a message has reached its end. Empty for as long as all others; 0 keeps nothing."
        unit="days"
        value={form.contentDays}
        onChange={(contentDays) => change({ contentDays })}
        error={faults['contentDays']}
      />
    </>
  );
}

const SPANS = [
  ['30 days', 30],
  ['90 days', 90],
  ['1 year', 365],
] as const;

function ExpiryField({ form, change, error }: PartProps & { readonly error: string | undefined }) {
  return (
    <div>
      <TextField
        label="Last day"
        type="date"
        hint="It works until the end of that day, in UTC. Empty for always."
        value={form.lastDay}
        onChange={(lastDay) => change({ lastDay })}
        error={error}
      />
      <div className="mt-1.5 flex flex-wrap gap-1.5">
        {SPANS.map(([label, days]) => (
          <Button
            key={days}
            small
            look="quiet"
            onClick={() => change({ lastDay: dayAfter(Date.now(), days) })}
          >
            {label}
          </Button>
        ))}
        {form.lastDay !== '' && (
          <Button small look="quiet" onClick={() => change({ lastDay: '' })}>
            Always
          </Button>
        )}
      </div>
    </div>
  );
}
