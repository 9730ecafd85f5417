import { KeyRound, LogOut, MoreHorizontal, ShieldOff, Trash2, UserCheck, UserCog, UserX } from 'lucide-react';
import { IconButton } from '../../parts/button.tsx';
import { Menu, MenuItem, MenuLine } from '../../parts/menu.tsx';
import { useAct } from '../../queries.ts';
import type { User } from './roles.ts';
import type { AskedOfUser } from './user-dialogs.tsx';

/** What can be done with a user. */
export function UserMenu({
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
