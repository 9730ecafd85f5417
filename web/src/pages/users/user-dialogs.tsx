import { type FormEvent, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { faultsOf } from '../../faults.ts';
import { plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { ConfirmDialog, Dialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/states.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Time } from '../../parts/values.tsx';
import { useAct } from '../../queries.ts';
import { refreshSession, useSession } from '../../session.tsx';
import { SecretOnce } from '../settings/keys/secret-once.tsx';

/** What someone wants to do with a user. */
export interface AskedOfUser {
  readonly act: 'role' | 'link' | 'factor' | 'sign-out' | 'disable' | 'remove';
  readonly user: User;
}

interface Props {
  readonly user: User;
  readonly onClose: () => void;
}

/** Asks again before something is done with a user, and shows what came of it. */
export function UserDialogs({
  asked: { act, user },
  onClose,
}: { readonly asked: AskedOfUser } & Omit<Props, 'user'>) {
  const props = { user, onClose };
  switch (act) {
    case 'role':
      return <ChangeRole {...props} />;
    case 'link':
      return <NewLink {...props} />;
    case 'factor':
      return <TakeFactor {...props} />;
    case 'sign-out':
      return <SignOut {...props} />;
    case 'disable':
      return <Disable {...props} />;
    case 'remove':
      return <Remove {...props} />;
  }
}

function ChangeRole({ user, onClose }: Props) {
  const { user: own } = useSession();
  const [role, setRole] = useState(user.role);
  const update = useAct('updateUser', {
    changes: ['users'],
    quiet: true,
    done: `The role of ${user.name} was changed`,
    onDone: () => {
      if (own.name === user.name) refreshSession();
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    update.mutate({ name: user.name, role, disabled: null });
  };
  return (
    <Dialog open onClose={onClose} size="small" title="Change role" description={user.name}>
      <form onSubmit={submit} className="space-y-4">
        <Select label="Role" choices={ROLES} value={role} onChange={setRole} />
        <FormError>{update.error?.message ?? null}</FormError>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={update.isPending} disabled={role === user.role}>
            Change role
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function NewLink({ user, onClose }: Props) {
  const link = useAct('setupLink', { changes: ['users'], quiet: true });
  if (link.data)
    return (
      <Dialog
        open
        onClose={onClose}
        title={`A link for ${user.name}`}
        footer={
          <Button look="primary" onClick={onClose}>
            I have copied it
          </Button>
        }
      >
        <LinkOnce link={link.data} />
      </Dialog>
    );
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={() => link.mutate({ name: user.name })}
      busy={link.isPending}
      title="Make a password link?"
      confirm="Make a link"
    >
      <p>
        By it {user.name} chooses a {user.hasPassword ? 'new ' : ''}password. Until then the present one
        holds.
      </p>
      <FormError>{link.error?.message ?? null}</FormError>
    </ConfirmDialog>
  );
}

function TakeFactor({ user, onClose }: Props) {
  const reset = useAct('resetSecondFactor', {
    changes: ['users'],
    quiet: true,
    done: `The second factor of ${user.name} is taken away`,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={() => reset.mutate({ name: user.name })}
      busy={reset.isPending}
      title="Take the second factor away?"
      confirm="Take it away"
      danger
    >
      <p>
        From then on the password of {user.name} alone is enough. Do this only when you are sure who has asked
        for it.
      </p>
      <FormError>{reset.error?.message ?? null}</FormError>
    </ConfirmDialog>
  );
}

function SignOut({ user, onClose }: Props) {
  const end = useAct('endSessions', {
    changes: ['users'],
    quiet: true,
    done: ({ ended }) => `${plural(ended, 'session')} ended`,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={() => end.mutate({ name: user.name })}
      busy={end.isPending}
      title={`Sign ${user.name} out everywhere?`}
      confirm="Sign out everywhere"
    >
      <p>{plural(user.sessions, 'session')} end at once. They may sign in again.</p>
      <FormError>{end.error?.message ?? null}</FormError>
    </ConfirmDialog>
  );
}

function Disable({ user, onClose }: Props) {
  const update = useAct('updateUser', {
    changes: ['users'],
    quiet: true,
    done: `${user.name} is disabled`,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={() => update.mutate({ name: user.name, role: null, disabled: true })}
      busy={update.isPending}
      title={`Disable ${user.name}?`}
      confirm="Disable user"
      danger
    >
      <p>Their sessions end, and they cannot sign in until they are let in again.</p>
      <FormError>{update.error?.message ?? null}</FormError>
    </ConfirmDialog>
  );
}

function Remove({ user, onClose }: Props) {
  const remove = useAct('removeUser', {
    changes: ['users'],
    quiet: true,
    done: `${user.name} is removed`,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={() => remove.mutate({ name: user.name })}
      busy={remove.isPending}
      title={`Remove ${user.name}?`}
      confirm="Remove user"
      danger
      typed={user.name}
    >
      <p>Their sessions end. What they did stays in the activity.</p>
      <FormError>{remove.error?.message ?? null}</FormError>
    </ConfirmDialog>
  );
}

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

/** A link by which someone chooses a password, to be handed to them. */
function LinkOnce({ link: { path, expiresAt } }: { readonly link: ResultOf<'setupLink'> }) {
  return (
    <div className="space-y-3">
      <SecretOnce secret={`${window.location.origin}${path}`} label="link" />
      <p className="text-soft">
        Hand it to them by a way that you trust. Whoever opens it chooses the password; it works once, and
        ends <Time at={expiresAt} />.
      </p>
    </div>
  );
}

/** A user as the server tells of them. */
export type User = ResultOf<'users'>[number];
/** What someone may do. */
export type Role = User['role'];

/** What each role may do, to choose from. */
const ROLES: readonly { readonly value: Role; readonly label: string; readonly note: string }[] = [
  { value: 'viewer', label: 'Viewer', note: 'Sees mail, queue and relays, and changes nothing.' },
  {
    value: 'operator',
    label: 'Operator',
    note: 'Acts on mail and the queue: retries, cancels, holds, releases.',
  },
  {
    value: 'admin',
    label: 'Administrator',
    note: 'Changes relays, routes, domains, keys, settings and users.',
  },
];

/** What a role is called. */
export function roleLabel(role: Role): string {
  return ROLES.find(({ value }) => value === role)?.label ?? role;
}
