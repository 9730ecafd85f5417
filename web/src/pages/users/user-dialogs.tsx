import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { plural } from '../../format.ts';
import { ActionForm, ConfirmAction } from '../../parts/action.tsx';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Time } from '../../parts/values.tsx';
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
  return (
    <Dialog open onClose={onClose} size="small" title="Change role" description={user.name}>
      <ActionForm
        operation="updateUser"
        request={() => ({ name: user.name, role, disabled: null })}
        changes={['users']}
        done={`The role of ${user.name} was changed`}
        onDone={() => {
          if (own.name === user.name) refreshSession();
          onClose();
        }}
        submit="Change role"
        disabled={role === user.role}
        onClose={onClose}
      >
        {() => <Select label="Role" choices={ROLES} value={role} onChange={setRole} />}
      </ActionForm>
    </Dialog>
  );
}

function NewLink({ user, onClose }: Props) {
  const [link, setLink] = useState<ResultOf<'setupLink'> | null>(null);
  if (link !== null) return <LinkDialog title={`A link for ${user.name}`} link={link} onClose={onClose} />;
  return (
    <ConfirmAction
      operation="setupLink"
      request={{ name: user.name }}
      changes={['users']}
      onDone={setLink}
      onClose={onClose}
      title="Make a password link?"
      confirm="Make a link"
    >
      <p>
        By it {user.name} chooses a {user.hasPassword ? 'new ' : ''}password. Until then the present one
        holds.
      </p>
    </ConfirmAction>
  );
}

function TakeFactor({ user, onClose }: Props) {
  return (
    <ConfirmAction
      operation="resetSecondFactor"
      request={{ name: user.name }}
      changes={['users']}
      done={`The second factor of ${user.name} is taken away`}
      onDone={onClose}
      onClose={onClose}
      title="Take the second factor away?"
      confirm="Take it away"
      danger
    >
      <p>
        From then on the password of {user.name} alone is enough. Do this only when you are sure who has asked
        for it.
      </p>
    </ConfirmAction>
  );
}

function SignOut({ user, onClose }: Props) {
  return (
    <ConfirmAction
      operation="endSessions"
      request={{ name: user.name }}
      changes={['users']}
      done={({ ended }) => `${plural(ended, 'session')} ended`}
      onDone={onClose}
      onClose={onClose}
      title={`Sign ${user.name} out everywhere?`}
      confirm="Sign out everywhere"
    >
      <p>{plural(user.sessions, 'session')} end at once. They may sign in again.</p>
    </ConfirmAction>
  );
}

function Disable({ user, onClose }: Props) {
  return (
    <ConfirmAction
      operation="updateUser"
      request={{ name: user.name, role: null, disabled: true }}
      changes={['users']}
      done={`${user.name} is disabled`}
      onDone={onClose}
      onClose={onClose}
      title={`Disable ${user.name}?`}
      confirm="Disable user"
      danger
    >
      <p>Their sessions end, and they cannot sign in until they are let in again.</p>
    </ConfirmAction>
  );
}

function Remove({ user, onClose }: Props) {
  return (
    <ConfirmAction
      operation="removeUser"
      request={{ name: user.name }}
      changes={['users']}
      done={`${user.name} is removed`}
      onDone={onClose}
      onClose={onClose}
      title={`Remove ${user.name}?`}
      confirm="Remove user"
      danger
      typed={user.name}
    >
      <p>Their sessions end. What they did stays in the activity.</p>
    </ConfirmAction>
  );
}

/** Adds a user, and gives the link by which they choose a password. */
export function AddUser({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const [link, setLink] = useState<ResultOf<'createUser'> | null>(null);
  if (link !== null)
    return <LinkDialog title={`${link.name ?? 'The user'} is added`} link={link} onClose={onClose} />;
  return (
    <Dialog open onClose={onClose} title="Add a user" description="They choose their password by a link.">
      <ActionForm
        operation="createUser"
        request={() => ({ name: name.trim().toLowerCase(), role })}
        fields={['name', 'role']}
        changes={['users']}
        onDone={setLink}
        submit="Add user"
        onClose={onClose}
      >
        {(faults) => (
          <>
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
              error={faults['name']}
            />
            <Select label="Role" choices={ROLES} value={role} onChange={setRole} error={faults['role']} />
          </>
        )}
      </ActionForm>
    </Dialog>
  );
}

/** A link that is shown this once. */
function LinkDialog({
  title,
  link,
  onClose,
}: {
  readonly title: string;
  readonly link: ResultOf<'setupLink'>;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      footer={
        <Button look="primary" onClick={onClose}>
          I have copied it
        </Button>
      }
    >
      <LinkOnce link={link} />
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
