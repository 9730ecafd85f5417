import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { type Choice, Select } from '../../parts/choice.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { SecretDialog } from '../../parts/secret.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Time } from '../../parts/values.tsx';
import { ROLE_WORDS, refreshSession, useSession } from '../../session.tsx';

/** A user as the server tells of them. */
export type User = ResultOf<'users'>[number];
/** A link by which someone chooses a password. */
export type PasswordLink = ResultOf<'setupLink'>;
type Role = User['role'];

/** Gives a user another role. */
export function ChangeRole({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const { user: own } = useSession();
  return (
    <ActionForm
      sheet={{ title: 'Change role', description: user.name, size: 'small' }}
      operation="updateUser"
      initial={{ role: user.role }}
      request={({ role }) => ({ name: user.name, role, disabled: null })}
      done={`The role of ${user.name} was changed`}
      onDone={() => {
        if (own.name === user.name) refreshSession();
        onClose();
      }}
      submit="Change role"
      disabled={({ role }) => role === user.role}
      onClose={onClose}
    >
      {({ field }) => <Select label="Role" choices={ROLES} {...field('role')} />}
    </ActionForm>
  );
}

const NEW_USER = { name: '', role: 'viewer' as Role };

/** Adds a user, and gives the link by which they choose a password. */
export function AddUser({ onClose }: { readonly onClose: () => void }) {
  const [link, setLink] = useState<ResultOf<'createUser'> | null>(null);
  if (link !== null)
    return <LinkDialog title={`${link.name ?? 'The user'} is added`} link={link} onClose={onClose} />;
  return (
    <ActionForm
      sheet={{ title: 'Add a user', description: 'The user chooses a password with a link.' }}
      operation="createUser"
      initial={NEW_USER}
      request={({ name, role }) => ({ name: name.trim().toLowerCase(), role })}
      onDone={setLink}
      submit="Add user"
      onClose={onClose}
    >
      {({ field }) => (
        <>
          <TextField
            label="Name"
            hint="What they sign in with: small letters, digits, and . _ @ -"
            required
            maxLength={64}
            verbatim
            {...field('name')}
          />
          <Select label="Role" choices={ROLES} {...field('role')} />
        </>
      )}
    </ActionForm>
  );
}

/** A link that is shown this once. */
export function LinkDialog({
  title,
  link: { url, path, expiresAt },
  onClose,
}: {
  readonly title: string;
  readonly link: PasswordLink;
  readonly onClose: () => void;
}) {
  return (
    <SecretDialog
      title={title}
      secret={url ?? `${window.location.origin}${path}`}
      label="link"
      onClose={onClose}
    >
      <p className="text-soft">
        Hand it to them by a way that you trust. Whoever opens it chooses the password; it works once, and
        ends <Time at={expiresAt} />.
      </p>
    </SecretDialog>
  );
}

/** What each role may do, to choose from. */
const ROLES: readonly Choice<Role>[] = [
  {
    value: 'viewer',
    label: ROLE_WORDS.viewer,
    note: 'Sees mail, queue and relays, and changes nothing.',
  },
  {
    value: 'operator',
    label: ROLE_WORDS.operator,
    note: 'Acts on mail and the queue: retries, cancels, holds, releases.',
  },
  {
    value: 'admin',
    label: ROLE_WORDS.admin,
    note: 'Changes relays, routes, domains, keys, settings and users.',
  },
];
