import { useState } from 'react';
import type { ResultOf } from '../../../../../src/operations/table.ts';
import { call } from '../../../api.ts';
import { type Faults, faultsOf } from '../../../faults.ts';
import { Button } from '../../../parts/button.tsx';
import { Checkbox } from '../../../parts/checkbox.tsx';
import { ListField, Select } from '../../../parts/choice.tsx';
import { Copyable } from '../../../parts/copy.tsx';
import { Form, type FormInHand } from '../../../parts/form.tsx';
import { SecretDialog } from '../../../parts/secret.tsx';
import { NumberField, TextField } from '../../../parts/text-field.tsx';
import { toast } from '../../../parts/toast.tsx';
import { useDoing } from '../../../queries.ts';
import { refreshSession } from '../../../session.tsx';
import { SendExamples } from '../../first-steps/send-examples.tsx';
import { sameValue } from '../setting-values.ts';
import {
  createRequest,
  dayAfter,
  formOf,
  type Key,
  type KeyForm,
  NEW_KEY,
  rateWords,
  SCOPES,
  updateRequest,
} from './key-form.ts';
import { SigningAccess } from './signing-access.tsx';
import { useUsualRate } from './usual-rate.ts';

/** Makes a key, or changes one. */
export default function KeyDrawer({
  of,
  onClose,
}: {
  /** Null for a new one. */
  readonly of: Key | null;
  readonly onClose: () => void;
}) {
  const save = useDoing(
    async (form: KeyForm) => {
      if (of === null) return await call('createKey', createRequest(form));
      await call('updateKey', updateRequest(of, form));
      return null;
    },
    {
      quiet: true,
      onDone: (created) => {
        if (created) return refreshSession();
        toast.success('The key was changed');
        onClose();
      },
    },
  );
  if (save.data) return <CreatedKey created={save.data} onClose={onClose} />;
  const isRevoked = of !== null && of.revokedAt !== null;
  return (
    <Form
      act={save}
      initial={of === null ? NEW_KEY : formOf(of)}
      request={(form) => form}
      sort={keyFaults}
      submit={of === null ? 'Create key' : 'Save'}
      disabled={() => isRevoked}
      onClose={onClose}
      className="space-y-5"
      sheet={{
        kind: 'drawer',
        title: of === null ? 'Create an API key' : 'Edit key',
        description: of && <span className="break-words">{of.name}</span>,
      }}
    >
      {(form) => (
        <>
          {isRevoked && <p className="text-soft">This key is revoked: it can be viewed, but not changed.</p>}
          <KeyFields form={form} isNew={of === null} accessKeyId={of?.accessKeyId ?? null} />
        </>
      )}
    </Form>
  );
}

function CreatedKey({
  created: { key, secret, signing },
  onClose,
}: {
  readonly created: ResultOf<'createKey'>;
  readonly onClose: () => void;
}) {
  return (
    <SecretDialog kind="drawer" onClose={onClose} title="Key created" description={key.name} secret={secret}>
      {signing !== null && <SigningAccess of={signing} />}
      {key.scopes.includes('messages:send') && (
        <section>
          <h3 className="mb-2 font-semibold">Send a first message</h3>
          <SendExamples secret={secret} senderDomains={key.senderDomains} />
        </section>
      )}
    </SecretDialog>
  );
}

const FIELDS = Object.keys(NEW_KEY);

/** What is wrong with the form of a key. What names a value is put beside the field that the value stands in. */
export function keyFaults(error: Error | null, form: KeyForm): Faults {
  const { fields, rest } = faultsOf(error, FIELDS, ([name]) =>
    name === 'expiresAt' ? 'lastDay' : (name ?? null),
  );
  if (rest === null) return { fields, rest };
  const field = fieldNamed(rest, form);
  return field === null ? { fields, rest } : { fields: { ...fields, [field]: rest }, rest: null };
}

function fieldNamed(text: string, { name, cidrs, senderDomains }: KeyForm): string | null {
  if (cidrs.some((range) => text.startsWith(`${range}: `))) return 'cidrs';
  if (senderDomains.some((domain) => text.startsWith(`${domain} is no `))) return 'senderDomains';
  return text.startsWith(`There is a key named ${name.trim()} already`) ? 'name' : null;
}

interface Props {
  readonly form: FormInHand<KeyForm>;
}

/** The fields of a key. */
function KeyFields({
  form,
  isNew,
  accessKeyId,
}: Props & { readonly isNew: boolean; readonly accessKeyId: string | null }) {
  const { values, put, field } = form;
  const [open, setOpen] = useState(() => isBound(values));
  const rate = rateWords(values.rateLimit, useUsualRate());
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
      {isNew && (
        <Checkbox
          label="Amazon SES clients use it"
          hint="Makes an access key id and a secret access key as well, with which they sign."
          checked={values.ses}
          onChange={(ses) => put({ ses })}
        >
          <span className="font-medium">Amazon SES clients use it</span>
        </Checkbox>
      )}
      {!isNew && accessKeyId !== null && (
        <div>
          <div className="mb-1 font-medium">Access key id</div>
          <Copyable text={accessKeyId} />
          <p className="text-sm text-soft">
            Clients of Amazon SES sign with it. Rotating the key makes another.
          </p>
        </div>
      )}
      {open ? (
        <BoundFields form={form} />
      ) : (
        <div>
          <Button small label="Limits, addresses and expiry" onClick={() => setOpen(true)} />
          {rate !== null && <p className="mt-1.5 text-sm text-soft">Requests: {rate}.</p>}
        </div>
      )}
    </>
  );
}

function isBound(form: KeyForm): boolean {
  const bounds = ['rateLimit', 'lastDay', 'cidrs', 'senderDomains', 'contentDays', 'recordDays'] as const;
  return bounds.some((bound) => !sameValue(form[bound], NEW_KEY[bound]));
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
          Anybody who has this key can do everything that an administrator can. Restrict it to addresses, and
          give it an expiry.
        </p>
      )}
    </fieldset>
  );
}

function BoundFields({ form }: Props) {
  const { field } = form;
  const usual = rateWords(null, useUsualRate());
  return (
    <>
      <ListField
        label="Sender domains"
        hint="It may send only from these, not from their subdomains. Empty for any."
        placeholder="example.com"
        {...field('senderDomains')}
      />
      <ListField
        label="Source addresses"
        hint="It works only from these ranges. Empty for every source that may use the API."
        placeholder="10.0.0.0/8"
        {...field('cidrs')}
      />
      <NumberField
        label="Rate limit"
        hint={`Empty for the general limit${usual === null ? '' : `, ${usual}`}; 0 for none.`}
        unit="/min"
        {...field('rateLimit')}
      />
      <ExpiryField form={form} />
      <NumberField
        label="Keep contents"
        hint="After a message is final. Empty for the general setting; 0 keeps nothing."
        unit="days"
        {...field('contentDays')}
      />
      <NumberField
        label="Keep records"
        hint="After a message is final, and never longer than the general setting. Empty for that."
        unit="days"
        {...field('recordDays')}
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
