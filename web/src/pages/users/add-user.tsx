import { type FormEvent, useState } from 'react';
import { faultsOf } from '../../faults.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { useAct } from '../../queries.ts';
import { LinkOnce } from './link-once.tsx';
import { ROLES, type Role } from './roles.ts';

/** Adds a user, and gives the link by which they choose a password. */
export function AddUser({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const create = useAct('createUser', { changes: ['users'], quiet: true });
  const faults = faultsOf(create.error, ['name', 'role']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ name: name.trim().toLowerCase(), role });
  };
  if (create.data)
    return (
      <Dialog
        open
        onClose={onClose}
        title={`${create.data.name ?? 'The user'} is added`}
        footer={
          <Button look="primary" onClick={onClose}>
            I have copied it
          </Button>
        }
      >
        <LinkOnce link={create.data} />
      </Dialog>
    );
  return (
    <Dialog open onClose={onClose} title="Add a user" description="They choose their password by a link.">
      <form onSubmit={submit} className="space-y-4">
        <TextField
          label="Name"
          hint="What they sign in with: small letters, digits, and . _ @ -"
          required
          maxLength={64}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="none"
          value={name}
          onChange={setName}
          error={faults.fields['name']}
        />
        <Select label="Role" choices={ROLES} value={role} onChange={setRole} error={faults.fields['role']} />
        <FormError>{faults.rest}</FormError>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={create.isPending}>
            Add user
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
