import { type FormEvent, useState } from 'react';
import { faultsOf } from '../../faults.ts';
import { Button } from '../../parts/button.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { useAct } from '../../queries.ts';
import { refreshSession, useMay } from '../../session.tsx';
import { createRequest, NEW_KEY } from '../settings/keys/key-form.ts';
import { SecretOnce } from '../settings/keys/secret-once.tsx';

/** Makes the first API key, and shows its secret once. */
export function KeyStep({
  secret,
  onCreated,
  onDone,
}: {
  /** Of the key that was made here; null before. */
  readonly secret: string | null;
  readonly onCreated: (secret: string) => void;
  readonly onDone: () => void;
}) {
  const mayCreate = useMay('admin');
  const [name, setName] = useState('my-first-key');
  const create = useAct('createKey', {
    changes: ['keys'],
    quiet: true,
    onDone: (created) => {
      onCreated(created.secret);
      refreshSession();
    },
  });
  const faults = faultsOf(create.error, ['name']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(createRequest({ ...NEW_KEY, name }));
  };
  if (secret !== null)
    return (
      <>
        <SecretOnce secret={secret} />
        <Button look="primary" onClick={onDone}>
          Go on
        </Button>
      </>
    );
  if (!mayCreate) return <p>Programs send with a key, which an administrator makes for you.</p>;
  return (
    <form onSubmit={submit} className="space-y-4">
      <p>
        Programs send with a key, over HTTP and SMTP. Give each program its own, so that you can tell their
        mail apart and take one away without the others noticing.
      </p>
      <TextField
        className="max-w-sm"
        label="Name of the key"
        hint="Such as the program that will use it."
        required
        maxLength={100}
        value={name}
        onChange={setName}
        error={faults.fields['name']}
      />
      <FormError>{faults.rest}</FormError>
      <Button type="submit" look="primary" busy={create.isPending}>
        Create key
      </Button>
    </form>
  );
}
