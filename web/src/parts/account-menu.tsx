import { ChevronsUpDown, CircleHelp, Footprints, LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react';
import { signOut, useSession } from '../session.tsx';
import { setTheme, type Theme, useTheme } from '../theme.ts';
import { Menu, MenuChoices, MenuItem, MenuLine, MenuLink } from './menu.tsx';
import { toast } from './toast.tsx';

const ROLE_WORDS = { viewer: 'Viewer', operator: 'Operator', admin: 'Administrator' };

const THEMES: readonly { value: Theme; label: string; icon: typeof Sun }[] = [
  { value: 'system', label: 'As the system', icon: Monitor },
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
];

/** Who is signed in, and what concerns them alone: account, theme, help, signing out. */
export function AccountMenu({ onHelp }: { readonly onHelp: () => void }) {
  const { user } = useSession();
  const theme = useTheme();
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="flex w-full items-center gap-2.5 rounded-md px-2.5 py-1.5 text-left hover:bg-sunken data-popup-open:bg-sunken"
        >
          <span
            aria-hidden
            className="flex size-7 shrink-0 items-center justify-center rounded-md bg-accent-soft text-sm font-semibold text-accent uppercase"
          >
            {user.name.charAt(0)}
          </span>
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium">{user.name}</span>
            <span className="block text-xs text-soft">{ROLE_WORDS[user.role]}</span>
          </span>
          <ChevronsUpDown aria-hidden size={14} className="text-soft" />
        </button>
      }
    >
      <MenuLink icon={UserRound} to="/account">
        Your account
      </MenuLink>
      <MenuLink icon={Footprints} to="/first-steps">
        First steps
      </MenuLink>
      <MenuItem icon={CircleHelp} onSelect={onHelp}>
        Keys and help
      </MenuItem>
      <MenuLine />
      <MenuChoices label="Theme" value={theme} choices={THEMES} onChange={setTheme} />
      <MenuLine />
      <MenuItem
        icon={LogOut}
        onSelect={() => void signOut().catch((error: Error) => toast.error(error.message))}
      >
        Sign out
      </MenuItem>
    </Menu>
  );
}
