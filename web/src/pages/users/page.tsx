import { Link } from '@tanstack/react-router';
import {
  Fingerprint,
  KeyRound,
  LogOut,
  MoreHorizontal,
  ShieldOff,
  Trash2,
  UserCheck,
  UserCog,
  UserPlus,
  UserX,
} from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { plural } from '../../format.ts';
import { ask } from '../../parts/ask.tsx';
import { Badge, StatusBadge } from '../../parts/badge.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { actsColumn, type Column, countColumn, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Menu, MenuItem, MenuLine } from '../../parts/menu.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Fetched, Forbidden } from '../../parts/states.tsx';
import { PageTabs } from '../../parts/tabs.tsx';
import { Time } from '../../parts/values.tsx';
import { useAct, useCall } from '../../queries.ts';
import { ROLE_WORDS, useMay, useSession } from '../../session.tsx';
import { type SessionRow, SessionsTable } from '../account/sessions-table.tsx';
import { AddUser, ChangeRole, NewLink, type User } from './user-dialogs.tsx';

/** Who uses the dashboard, and where they are signed in. */
export function UsersPage() {
  const isAdmin = useMay('admin');
  const [adding, setAdding] = useState(false);
  return (
    <Page
      title="Users"
      note="Who may use this dashboard, and what each may do."
      actions={
        isAdmin && <Button look="primary" icon={UserPlus} label="Add user" onClick={() => setAdding(true)} />
      }
    >
      {isAdmin ? (
        <PageTabs
          label="About users"
          tabs={[
            { value: 'users', label: 'Users', content: <Users /> },
            { value: 'sessions', label: 'Sessions', content: <Sessions /> },
          ]}
        />
      ) : (
        <Forbidden />
      )}
      {adding && <AddUser onClose={() => setAdding(false)} />}
    </Page>
  );
}

function Sessions() {
  const sessions = useCall('sessions', { name: null }, { topics: ['users'] });
  const { mutate } = useAct('endSession', { done: 'The session has ended' });
  const onEnd = useCallback(({ id }: SessionRow) => mutate({ id }), [mutate]);
  return (
    <Card flush>
      <Fetched query={sessions} shape="table">
        {(rows) => <SessionsTable sessions={rows} withNames onEnd={onEnd} />}
      </Fetched>
    </Card>
  );
}

/** What is open for a user. */
type Opened = { readonly role: User } | { readonly linkFor: User };

/** Users, and what can be done with each. */
function Users() {
  const [isSending, setSending] = useState(false);
  // While a link is on its way, the list says how far it has come.
  const users = useCall('users', {}, { topics: isSending ? ['users', 'messages'] : ['users'] });
  const isOnItsWay = (users.data ?? []).some(({ link }) => link?.mail != null && !isOver(link.mail.status));
  if (isOnItsWay !== isSending) setSending(isOnItsWay);
  const { user } = useSession();
  const [opened, setOpened] = useState<Opened | null>(null);
  const columns = useMemo(() => columnsOf(user.name, setOpened), [user.name]);
  const close = () => setOpened(null);
  return (
    <Card flush>
      <Fetched query={users} shape="table">
        {(rows) => <DataTable label="Users" columns={columns} rows={rows} rowId={({ name }) => name} />}
      </Fetched>
      {opened && 'role' in opened && <ChangeRole user={opened.role} onClose={close} />}
      {opened && 'linkFor' in opened && <NewLink user={opened.linkFor} onClose={close} />}
    </Card>
  );
}

/** Whether a message comes to nothing further. */
function isOver(status: NonNullable<NonNullable<User['link']>['mail']>['status']): boolean {
  return status === null || ['delivered', 'failed', 'captured'].includes(status);
}

function columnsOf(own: string, open: (opened: Opened) => void): readonly Column<User>[] {
  return [
    {
      header: 'Name',
      width: 'minmax(0, 1.6fr)',
      sort: ({ name }) => name,
      cell: ({ name, disabled, link }) => (
        <>
          <span className="flex min-w-0 items-center gap-2">
            <span className="truncate font-medium" title={name}>
              {name}
            </span>
            {name === own && <Badge>You</Badge>}
            {disabled && <Badge tone="bad">Disabled</Badge>}
          </span>
          {link !== null && <LinkState link={link} />}
        </>
      ),
    },
    { header: 'Role', sort: ({ role }) => role, cell: ({ role }) => ROLE_WORDS[role] },
    countColumn({ header: 'Passkeys', width: '5.5rem' }, ({ passkeys }) => passkeys),
    {
      header: 'Second factor',
      cell: ({ provider, hasPassword, secondFactor }) =>
        provider !== null ? (
          <span className="truncate text-soft" title={`Signs in with ${provider}`}>
            at {new URL(provider).host}
          </span>
        ) : !hasPassword ? (
          <Badge tone="warn">Has no password yet</Badge>
        ) : secondFactor ? (
          <StatusBadge status="on" />
        ) : (
          <span className="text-soft">off</span>
        ),
    },
    timeColumn(
      { header: 'Last signed in', width: '8rem', sorts: true },
      ({ lastSignInAt }) => lastSignInAt,
      'never',
    ),
    countColumn({ header: 'Sessions', width: '5.5rem' }, ({ sessions }) => sessions),
    actsColumn('2.25rem', (user) => <UserMenu user={user} isOwn={user.name === own} open={open} />),
  ];
}

/** By which link a user may choose a password now, and what became of the message with it. */
function LinkState({ link: { expiresAt, mail } }: { readonly link: NonNullable<User['link']> }) {
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5 text-sm font-normal text-soft">
      {mail !== null && (
        <>
          <span className="min-w-0 break-words">
            Sent to{' '}
            <Link to="/messages/$id" params={{ id: mail.id }} className="link">
              {mail.to}
            </Link>
          </span>
          {mail.status !== null && <StatusBadge status={mail.status} />}
        </>
      )}
      <span className="whitespace-nowrap">
        Link ends <Time at={expiresAt} ahead />
      </span>
    </span>
  );
}

/** What can be done with a user. */
function UserMenu({
  user,
  isOwn,
  open,
}: {
  readonly user: User;
  readonly isOwn: boolean;
  readonly open: (opened: Opened) => void;
}) {
  const { name, provider, disabled, secondFactor, passkeys, sessions } = user;
  const enable = useAct('updateUser', { done: `${name} may sign in again` });
  // Their provider decides about them, and nobody does this to themselves.
  if (isOwn && provider !== null) return null;
  return (
    <Menu trigger={<IconButton icon={MoreHorizontal} label={`What to do with ${name}`} small />}>
      {provider === null && (
        <>
          <MenuItem icon={UserCog} label="Change role" onSelect={() => open({ role: user })} />
          <MenuItem icon={KeyRound} label="New password link…" onSelect={() => open({ linkFor: user })} />
        </>
      )}
      {secondFactor && !isOwn && (
        <MenuItem icon={ShieldOff} label="Take second factor away" onSelect={() => askToTakeFactor(user)} />
      )}
      {passkeys > 0 && !isOwn && (
        <MenuItem icon={Fingerprint} label="Remove passkeys" onSelect={() => askToRemovePasskeys(user)} />
      )}
      {sessions > 0 && !isOwn && (
        <MenuItem icon={LogOut} label="Sign out everywhere" onSelect={() => askToSignOut(user)} />
      )}
      {!isOwn && (
        <>
          <MenuLine />
          {disabled ? (
            <MenuItem
              icon={UserCheck}
              label="Let sign in again"
              onSelect={() => enable.mutate({ name, role: null, disabled: false })}
            />
          ) : (
            <MenuItem icon={UserX} danger label="Disable" onSelect={() => askToDisable(user)} />
          )}
          <MenuItem icon={Trash2} danger label="Remove" onSelect={() => askToRemove(user)} />
        </>
      )}
    </Menu>
  );
}

function askToTakeFactor({ name }: User): void {
  ask('resetSecondFactor', {
    request: { name },
    done: `The second factor of ${name} is taken away`,
    title: 'Take the second factor away?',
    text: `After that the password of ${name} alone is enough. Do this only if you are sure who has asked for it.`,
    confirm: 'Take it away',
    danger: true,
  });
}

function askToRemovePasskeys({ name, passkeys }: User): void {
  ask('removePasskeys', {
    request: { name },
    done: `The passkeys of ${name} are removed`,
    title: `Remove the passkeys of ${name}?`,
    text: `${plural(passkeys, 'passkey')} no longer sign them in, and all their sessions end. Their password still signs them in, with their second factor, if they have one.`,
    confirm: 'Remove passkeys',
    danger: true,
  });
}

function askToSignOut({ name, sessions }: User): void {
  ask('endSessions', {
    request: { name },
    done: ({ ended }) => `${plural(ended, 'session')} ended`,
    title: `Sign ${name} out everywhere?`,
    text: `${plural(sessions, 'session')} end at once. They may sign in again.`,
    confirm: 'Sign out everywhere',
  });
}

function askToDisable({ name }: User): void {
  ask('updateUser', {
    request: { name, role: null, disabled: true },
    done: `${name} is disabled`,
    title: `Disable ${name}?`,
    text: 'Their sessions end, and they cannot sign in until they are enabled again.',
    confirm: 'Disable user',
    danger: true,
  });
}

function askToRemove({ name }: User): void {
  ask('removeUser', {
    request: { name },
    done: `${name} is removed`,
    title: `Remove ${name}?`,
    text: 'Their sessions end. What they did stays in the activity.',
    confirm: 'Remove user',
    danger: true,
    typed: name,
  });
}
