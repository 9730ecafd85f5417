import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { type Choice, Select } from '../../parts/choice.tsx';
import { ActionForm, type FormInHand } from '../../parts/form.tsx';
import { SecretDialog } from '../../parts/secret.tsx';
import { Banner } from '../../parts/states.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Said, Time } from '../../parts/values.tsx';
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

/** Hours that a link works. */
const HOURS = [
  { value: '1', label: 'An hour' },
  { value: '24', label: 'A day' },
  { value: '72', label: '3 days' },
  { value: '168', label: '7 days' },
] as const;

type Hours = (typeof HOURS)[number]['value'];

const NEW_LINK = { mailTo: '', hours: '1' as Hours };
const NEW_USER = { name: '', role: 'viewer' as Role, ...NEW_LINK };

/** How a link is made, and sent. */
function termsOf({ mailTo, hours }: typeof NEW_LINK) {
  return { mailTo: mailTo.trim() || null, hours: Number(hours) };
}

/** Where a link is sent, and how long it works. */
function LinkFields({ field }: Pick<FormInHand<typeof NEW_LINK>, 'field'>) {
  return (
    <>
      <TextField
        label="Send the link to"
        hint="By mail, from this server. Without an address you hand it over yourself."
        type="email"
        maxLength={320}
        verbatim
        {...field('mailTo')}
      />
      <Select label="The link works for" choices={HOURS} {...field('hours')} />
    </>
  );
}

/** Makes a link by which a user chooses another password. */
export function NewLink({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const [link, setLink] = useState<PasswordLink | null>(null);
  const { name, hasPassword } = user;
  if (link !== null) return <LinkDialog title={`A link for ${name}`} link={link} onClose={onClose} />;
  return (
    <ActionForm
      sheet={{
        title: 'Make a password link',
        description: `With it ${name} chooses a ${hasPassword ? 'new ' : ''}password. ${hasPassword ? 'Until then the present one is valid. ' : ''}An earlier link ends.`,
        size: 'small',
      }}
      operation="setupLink"
      initial={NEW_LINK}
      request={(values) => ({ name, ...termsOf(values) })}
      onDone={setLink}
      submit="Make a link"
      onClose={onClose}
    >
      {({ field }) => <LinkFields field={field} />}
    </ActionForm>
  );
}

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
      request={({ name, role, ...terms }) => ({ name: name.trim().toLowerCase(), role, ...termsOf(terms) })}
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
          <LinkFields field={field} />
        </>
      )}
    </ActionForm>
  );
}

/** A link that is shown this once. */
function LinkDialog({
  title,
  link: { url, path, expiresAt, mail, mailFault },
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
      {mailFault !== null && (
        <Banner level="warning" title="The link was not sent">
          <Said text={mailFault} lines="several" /> Hand it over yourself.
        </Banner>
      )}
      <p className="text-soft">
        {mail === null
          ? 'Hand it to them by a way that you trust.'
          : `It is on its way to ${mail.to}; the list of users says what becomes of it.`}{' '}
        Whoever opens it chooses the password; it works once, and ends <Time at={expiresAt} ahead />.
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
