import { type FormEvent, useId, useState } from 'react';
import { type Faults, faultsOf } from '../../../faults.ts';
import { Button } from '../../../parts/button.tsx';
import { Drawer } from '../../../parts/dialog.tsx';
import { FormError } from '../../../parts/form-error.tsx';
import { useAct } from '../../../queries.ts';
import { refreshSession } from '../../../session.tsx';
import { SendExamples } from '../../first-steps/send-examples.tsx';
import { KeyFields } from './key-fields.tsx';
import {
  createRequest,
  formOf,
  KEY_FIELDS,
  type Key,
  type KeyForm,
  NEW_KEY,
  updateRequest,
} from './key-form.ts';
import { SecretOnce } from './secret-once.tsx';

/** Makes a key, or changes one. */
export function KeyDrawer({
  open,
  of,
  onClose,
}: {
  readonly open: boolean;
  /** Null for a new one. */
  readonly of: Key | null;
  readonly onClose: () => void;
}) {
  const id = useId();
  const [form, setForm] = useState(() => (of === null ? NEW_KEY : formOf(of)));
  const create = useAct('createKey', { changes: ['keys'], quiet: true, onDone: refreshSession });
  const update = useAct('updateKey', { changes: ['keys'], quiet: true, done: 'The key was changed' });
  const close = () => {
    onClose();
    setForm(NEW_KEY);
    create.reset();
    update.reset();
  };
  const faults = keyFaults(create.error ?? update.error, form);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (of === null) create.mutate(createRequest(form));
    else update.mutate(updateRequest(of, form), { onSuccess: close });
  };
  if (create.data)
    return (
      <Drawer
        open={open}
        onClose={close}
        title="Key created"
        description={create.data.key.name}
        footer={
          <Button look="primary" onClick={close}>
            I have copied it
          </Button>
        }
      >
        <div className="space-y-5">
          <SecretOnce secret={create.data.secret} />
          {create.data.key.scopes.includes('messages:send') && (
            <section>
              <h3 className="mb-2 font-semibold">Send a first message</h3>
              <SendExamples secret={create.data.secret} senderDomains={create.data.key.senderDomains} />
            </section>
          )}
        </div>
      </Drawer>
    );
  return (
    <Drawer
      open={open}
      onClose={close}
      title={of === null ? 'Create an API key' : 'Edit key'}
      {...(of !== null && { description: <span className="break-words">{of.name}</span> })}
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            type="submit"
            form={id}
            look="primary"
            busy={create.isPending || update.isPending}
            disabled={of?.revokedAt !== null && of !== null}
          >
            {of === null ? 'Create key' : 'Save'}
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={submit} className="space-y-5">
        {of !== null && of.revokedAt !== null && (
          <p className="text-soft">This key is revoked: it can be looked at, but not changed.</p>
        )}
        <KeyFields form={form} faults={faults.fields} isNew={of === null} onChange={setForm} />
        <FormError>{faults.rest}</FormError>
      </form>
    </Drawer>
  );
}

/** What is wrong with the form of a key. What names a value is put beside the field that the value stands in. */
export function keyFaults(error: Error | null, form: KeyForm): Faults {
  const { fields, rest } = faultsOf(error, KEY_FIELDS);
  if (rest === null) return { fields, rest };
  const field = fieldNamed(rest, form);
  return field === null ? { fields, rest } : { fields: { ...fields, [field]: rest }, rest: null };
}

function fieldNamed(text: string, { name, cidrs, senderDomains }: KeyForm): string | null {
  if (cidrs.some((range) => text.startsWith(`${range}: `))) return 'cidrs';
  if (senderDomains.some((domain) => text.startsWith(`${domain} is no `))) return 'senderDomains';
  return text.startsWith(`There is a key named ${name.trim()} already`) ? 'name' : null;
}
