import { KeyRound, LogOut, MoreHorizontal, ShieldOff, Trash2, UserCheck, UserCog, UserX } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Badge } from '../../parts/badge.tsx';
import { IconButton } from '../../parts/button.tsx';
import { CellActions, type Column, DataTable } from '../../parts/data-table.tsx';
import { Menu, MenuItem, MenuLine } from '../../parts/menu.tsx';
import { Count, Time } from '../../parts/values.tsx';
import { useAct } from '../../queries.ts';
import { useSession } from '../../session.tsx';
import { type AskedOfUser, roleLabel, type User, UserDialogs } from './user-dialogs.tsx';

/** Users, and what can be done with each. */
export function UsersTable({ users }: { readonly users: readonly User[] }) {
  const { user } = useSession();
  const [asked, setAsked] = useState<AskedOfUser | null>(null);
  const columns = useMemo(() => columnsOf(user.name, setAsked), [user.name]);
  return (
    <>
      <DataTable label="Users" columns={columns} rows={users} rowId={({ name }) => name} />
      {asked && <UserDialogs asked={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

function columnsOf(own: string, ask: (asked: AskedOfUser) => void): readonly Column<User>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      width: 'minmax(0, 1.6fr)',
      sort: ({ name }) => name,
      cell: ({ name, disabled }) => (
        <span className="flex min-w-0 items-center gap-2">
          <span className="truncate font-medium" title={name}>
            {name}
          </span>
          {name === own && <Badge>You</Badge>}
          {disabled && <Badge tone="bad">Disabled</Badge>}
        </span>
      ),
    },
    { id: 'role', header: 'Role', sort: ({ role }) => role, cell: ({ role }) => roleLabel(role) },
    {
      id: 'factor',
      header: 'Second factor',
      cell: ({ hasPassword, secondFactor }) =>
        !hasPassword ? (
          <Badge tone="warn">Has no password yet</Badge>
        ) : secondFactor ? (
          <Badge tone="good" dot>
            On
          </Badge>
        ) : (
          <span className="text-soft">off</span>
        ),
    },
    {
      id: 'last',
      header: 'Last signed in',
      width: '8rem',
      sort: ({ lastSignInAt }) => lastSignInAt ?? '',
      cell: ({ lastSignInAt }) =>
        lastSignInAt === null ? <span className="text-soft">never</span> : <Time at={lastSignInAt} />,
    },
    {
      id: 'sessions',
      header: 'Sessions',
      width: '5.5rem',
      align: 'end',
      cell: ({ sessions }) => <Count value={sessions} />,
    },
    {
      id: 'acts',
      header: 'Actions',
      headerHidden: true,
      width: '2.25rem',
      align: 'end',
      card: 'aside',
      cell: (user) => (
        <CellActions>
          <UserMenu user={user} isOwn={user.name === own} ask={ask} />
        </CellActions>
      ),
    },
  ];
}

/** What can be done with a user. */
function UserMenu({
  user,
  isOwn,
  ask,
}: {
  readonly user: User;
  readonly isOwn: boolean;
  readonly ask: (asked: AskedOfUser) => void;
}) {
  const { name, disabled, secondFactor, sessions } = user;
  const enable = useAct('updateUser', { changes: ['users'], done: `${name} may sign in again` });
  return (
    <Menu trigger={<IconButton icon={MoreHorizontal} label={`What to do with ${name}`} small />}>
      <MenuItem icon={UserCog} onSelect={() => ask({ act: 'role', user })}>
        Change role
      </MenuItem>
      <MenuItem icon={KeyRound} onSelect={() => ask({ act: 'link', user })}>
        New password link
      </MenuItem>
      {secondFactor && !isOwn && (
        <MenuItem icon={ShieldOff} onSelect={() => ask({ act: 'factor', user })}>
          Take second factor away
        </MenuItem>
      )}
      {sessions > 0 && !isOwn && (
        <MenuItem icon={LogOut} onSelect={() => ask({ act: 'sign-out', user })}>
          Sign out everywhere
        </MenuItem>
      )}
      {!isOwn && (
        <>
          <MenuLine />
          {disabled ? (
            <MenuItem icon={UserCheck} onSelect={() => enable.mutate({ name, role: null, disabled: false })}>
              Let sign in again
            </MenuItem>
          ) : (
            <MenuItem icon={UserX} danger onSelect={() => ask({ act: 'disable', user })}>
              Disable
            </MenuItem>
          )}
          <MenuItem icon={Trash2} danger onSelect={() => ask({ act: 'remove', user })}>
            Remove
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
