import type { ResultOf } from '../../../../../src/operations/table.ts';
import { call } from '../../../api.ts';
import { type Faults, faultsOf } from '../../../faults.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Form } from '../../../parts/form.tsx';
import { SecretOnce } from '../../../parts/secret.tsx';
import { toast } from '../../../parts/toast.tsx';
import { useDoing } from '../../../queries.ts';
import { refreshSession } from '../../../session.tsx';
import { SendExamples } from '../../first-steps/send-examples.tsx';
import { KeyFields } from './key-fields.tsx';
import { createRequest, formOf, type Key, type KeyForm, NEW_KEY, updateRequest } from './key-form.ts';

/** Makes a key, or changes one. */
export function KeyDrawer({
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
          {isRevoked && (
            <p className="text-soft">This key is revoked: it can be looked at, but not changed.</p>
          )}
          <KeyFields form={form} isNew={of === null} />
        </>
      )}
    </Form>
  );
}

function CreatedKey({
  created: { key, secret },
  onClose,
}: {
  readonly created: ResultOf<'createKey'>;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      kind="drawer"
      open
      onClose={onClose}
      title="Key created"
      description={key.name}
      footer={<Button look="primary" label="I have copied it" onClick={onClose} />}
    >
      <div className="space-y-5">
        <SecretOnce secret={secret} />
        {key.scopes.includes('messages:send') && (
          <section>
            <h3 className="mb-2 font-semibold">Send a first message</h3>
            <SendExamples secret={secret} senderDomains={key.senderDomains} />
          </section>
        )}
      </div>
    </Dialog>
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
