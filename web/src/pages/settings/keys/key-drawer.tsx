import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../../parts/button.tsx';
import { Drawer } from '../../../parts/dialog.tsx';
import { FormError } from '../../../parts/form-error.tsx';
import { useAct } from '../../../queries.ts';
import { refreshSession } from '../../../session.tsx';
import { SendExamples } from '../../first-steps/send-examples.tsx';
import { keyFaults } from './key-faults.ts';
import { KeyFields } from './key-fields.tsx';
import { createRequest, formOf, type Key, NEW_KEY, updateRequest } from './key-form.ts';
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
