import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { Link, useRouter, useRouterState } from '@tanstack/react-router';
import {
  Activity,
  Ban,
  BellRing,
  ChartColumn,
  ChevronsUpDown,
  CircleHelp,
  Clock,
  FileClock,
  Footprints,
  Gauge,
  Globe,
  Inbox,
  LayoutDashboard,
  LayoutTemplate,
  ListOrdered,
  LogOut,
  type LucideIcon,
  MailCheck,
  Mails,
  Menu as MenuIcon,
  Monitor,
  Moon,
  Route,
  Search,
  Send,
  ServerCog,
  Settings,
  Sun,
  UserRound,
  Users,
  UserX,
  Webhook,
  WifiOff,
  X,
} from 'lucide-react';
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useState } from 'react';
import { steadily, useLostAt } from '../connection.ts';
import { formatClock, formatMoment } from '../format.ts';
import { JUMP_ROLES, JUMPS, type JumpTarget, PALETTE_KEYS, useGlobalKeys } from '../keyboard.ts';
import { useLiveState } from '../live.ts';
import { usePageFocus } from '../page-focus.ts';
import { useCall } from '../queries.ts';
import { ROLE_WORDS, setSession, useMay, useSession, useSessionAct } from '../session.tsx';
import { setTheme, type Theme, useTheme } from '../theme.ts';
import { HAS_CHOICE, setTimes, type Times, useTimes, useZone, ZONE_HERE } from '../zone.ts';
import { Asking } from './ask.tsx';
import { stateWords, toneOf } from './badge.tsx';
import { classNames, FILLS } from './class-names.ts';
import { Wordmark } from './logo.tsx';
import { Menu, MenuChoices, MenuItem, MenuLine, MenuLink } from './menu.tsx';
import { useOverPage } from './over-page.ts';

const HelpDialog = lazy(steadily(() => import('./help-dialog.tsx')));
const Palette = lazy(steadily(() => import('../palette/palette.tsx')));

type Place = readonly [key: keyof typeof JUMPS, icon: LucideIcon];

/** The pages of the sidebar, by the keys that lead to them. */
const GROUPS: readonly (readonly [label: string | null, ...places: Place[]])[] = [
  [null, ['o', LayoutDashboard]],
  ['Mail', ['m', Mails], ['q', ListOrdered], ['i', Inbox], ['c', ChartColumn]],
  ['Delivery', ['r', Send], ['t', Route], ['d', Globe], ['l', Ban], ['p', Gauge], ['v', MailCheck]],
  ['Applications', ['f', LayoutTemplate], ['w', Webhook], ['e', FileClock]],
  [
    'Installation',
    ['s', Settings],
    ['u', Users],
    ['a', Activity],
    ['x', UserX],
    ['n', BellRing],
    ['y', ServerCog],
  ],
];

/** What is around every page: the sidebar, or on phones a bar with a drawer; keys and help. */
export function AppShell({ children }: { readonly children: ReactNode }) {
  const [help, setHelp] = useState(false);
  const [palette, setPalette] = useState(false);
  const openPalette = useCallback(() => setPalette(true), []);
  const [drawer, setDrawer] = useState(false);
  const router = useRouter();
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  useGlobalKeys({
    onHelp: useCallback(() => setHelp(true), []),
    onPalette: openPalette,
    onJump: useCallback((to: JumpTarget) => void router.navigate({ to }), [router]),
  });
  usePageFocus();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawer closes when another page is shown
  useEffect(() => setDrawer(false), [pathname]);
  return (
    <>
      <a
        href="#main"
        className="fixed top-2 left-2 z-60 -translate-y-20 rounded-md bg-accent px-3 py-2 text-on-accent focus:translate-y-0"
      >
        Skip to content
      </a>
      <div className="lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
        <aside className="sticky top-0 hidden h-dvh flex-col border-r border-line bg-surface lg:flex">
          <Sidebar onHelp={() => setHelp(true)} onPalette={openPalette} />
        </aside>
        <div className="min-w-0">
          <TopBar onMenu={() => setDrawer(true)} onPalette={openPalette} />
          <NoConnection />
          <main id="main" tabIndex={-1} className="outline-none">
            {children}
          </main>
        </div>
      </div>
      <MobileDrawer open={drawer} onClose={() => setDrawer(false)}>
        <Sidebar
          onHelp={() => setHelp(true)}
          onPalette={() => {
            setDrawer(false);
            openPalette();
          }}
        />
      </MobileDrawer>
      <Asking />
      <Suspense>
        {help && <HelpDialog onClose={() => setHelp(false)} />}
        {palette && <Palette onClose={() => setPalette(false)} onHelp={() => setHelp(true)} />}
      </Suspense>
    </>
  );
}

/** The server is away: since when, and that what is shown is from before. It goes by itself when the server is back. */
function NoConnection() {
  const lostAt = useLostAt();
  const zone = useZone();
  return (
    <div role="status" className="sticky top-(--top-bar) z-20">
      {lostAt !== null && (
        <p className="flex flex-wrap items-center gap-x-2 border-b border-retrying/30 bg-retrying-soft px-4 py-2 sm:px-7">
          <WifiOff aria-hidden size={15} className="shrink-0 text-retrying" />
          <span className="font-medium">
            No connection since{' '}
            <time dateTime={new Date(lostAt).toISOString()} title={formatMoment(lostAt)}>
              {formatClock(lostAt, zone)}
            </time>
            , trying again.
          </span>
          <span className="text-soft">What is shown is from before.</span>
        </p>
      )}
    </div>
  );
}

interface BarProps {
  readonly onPalette: () => void;
}

function TopBar({ onMenu, onPalette }: BarProps & { readonly onMenu: () => void }) {
  return (
    <header className="sticky top-0 z-30 flex h-13 items-center gap-2 border-b border-line bg-surface px-3 lg:hidden">
      <button
        type="button"
        aria-label="Menu"
        onClick={onMenu}
        className="flex size-10 items-center justify-center rounded-md hover:bg-sunken"
      >
        <MenuIcon aria-hidden size={19} />
      </button>
      <Link to="/" aria-label="Waybill: overview" className="rounded-sm">
        <Wordmark />
      </Link>
      <div className="ml-auto flex min-w-0 items-center gap-1">
        <button
          type="button"
          aria-label="Find or do"
          onClick={onPalette}
          className="flex size-10 shrink-0 items-center justify-center rounded-md text-soft hover:bg-sunken"
        >
          <Search aria-hidden size={18} />
        </button>
        <StatusPill />
      </div>
    </header>
  );
}

function Sidebar({ onHelp, onPalette }: BarProps & { readonly onHelp: () => void }) {
  return (
    <>
      <div className="flex items-center gap-2 pt-4 pr-2.5 pb-3 pl-4 max-lg:pr-14">
        <Link to="/" className="inline-block rounded-sm">
          <Wordmark />
        </Link>
        <button
          type="button"
          aria-keyshortcuts="Control+K Meta+K"
          title="Find or do anything"
          onClick={onPalette}
          className="ml-auto flex h-7.5 items-center gap-1.5 rounded-md border border-line bg-paper px-2 text-soft hover:border-edge hover:text-ink"
        >
          <Search aria-hidden size={14} />
          <span className="sr-only">Find or do</span>{' '}
          <kbd className="font-mono text-xs">{PALETTE_KEYS.join(' ')}</kbd>
        </button>
      </div>
      <nav aria-label="Pages" className="min-h-0 flex-1 overflow-y-auto px-2.5 pb-2">
        {GROUPS.map(([label, ...places]) => (
          <PlaceGroup key={label ?? ''} label={label} places={places} />
        ))}
      </nav>
      <div aria-hidden className="perforated mx-4" />
      <div className="space-y-1 p-2.5">
        <StatusPill wide />
        <AccountMenu onHelp={onHelp} />
      </div>
    </>
  );
}

/** Pages that belong together; without those that who is signed in may not see. */
function PlaceGroup({ label, places }: { readonly label: string | null; readonly places: readonly Place[] }) {
  const may = { viewer: true, operator: useMay('operator'), admin: useMay('admin') };
  const seen = places.filter(([key]) => may[JUMP_ROLES[key] ?? 'viewer']);
  if (seen.length === 0) return null;
  return (
    <div className="mb-3 last:mb-0">
      {label !== null && <div className="caption px-2.5 pb-1">{label}</div>}
      <ul className="space-y-px">
        {seen.map((place) => (
          <PlaceLink key={place[0]} place={place} />
        ))}
      </ul>
    </div>
  );
}

function PlaceLink({ place: [key, Icon] }: { readonly place: Place }) {
  const { to, label } = JUMPS[key];
  return (
    <li>
      <Link
        to={to}
        activeOptions={{ exact: to === '/', includeSearch: false }}
        className={classNames(
          'group relative flex h-8.5 items-center gap-2.5 rounded-md px-2.5 text-soft hover:bg-sunken hover:text-ink',
          'aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-ink',
        )}
      >
        <Icon aria-hidden size={16} className="shrink-0 group-aria-[current=page]:text-accent" />
        {label}
      </Link>
    </li>
  );
}

function MobileDrawer({
  open,
  onClose,
  children,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  useOverPage(open);
  return (
    <BaseDialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-40 bg-scrim transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <BaseDialog.Popup
          aria-label="Menu"
          className="fixed inset-y-0 left-0 z-50 flex w-68 max-w-[85vw] flex-col border-r border-line bg-surface transition-[translate] duration-200 outline-none data-ending-style:-translate-x-full data-starting-style:-translate-x-full"
        >
          <BaseDialog.Close
            aria-label="Close menu"
            className="absolute top-3.5 right-3 flex size-9 items-center justify-center rounded-md text-soft hover:bg-sunken"
          >
            <X aria-hidden size={18} />
          </BaseDialog.Close>
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

const LIVE_WORDS = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
};

const DOTS = {
  good: FILLS.delivered,
  warn: FILLS.retrying,
  bad: FILLS.failed,
  neutral: FILLS.denied,
  busy: FILLS.processing,
  accent: 'bg-accent',
};

/** How the service is, and whether what is shown is up to date. */
function StatusPill({ wide = false }: { readonly wide?: boolean }) {
  const live = useLiveState();
  const health = useCall('health', {}, { topics: ['health'], everyMs: 60_000 });
  const status = health.data?.status ?? (health.error ? 'unreachable' : 'looking');
  return (
    <Link
      to="/system"
      title={health.data?.message}
      className={classNames(
        'flex items-center gap-2 rounded-md text-sm hover:bg-sunken',
        wide ? 'h-8.5 px-2.5' : 'h-8 border border-line px-2.5',
      )}
    >
      <span
        aria-hidden
        className={classNames(
          'size-2 shrink-0 rounded-full',
          DOTS[toneOf(status)],
          live === 'reconnecting' && 'animate-[pulse-dot_1.2s_ease-in-out_infinite]',
        )}
      />
      <span className="font-medium">{stateWords(status)}</span>
      <span role="status" className={classNames('text-soft', !wide && live === 'live' && 'max-sm:sr-only')}>
        {LIVE_WORDS[live]}
      </span>
    </Link>
  );
}

const THEMES: readonly { value: Theme; label: string; icon: typeof Sun }[] = [
  { value: 'system', label: 'As the system', icon: Monitor },
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
];

const TIMES: readonly { value: Times; label: string; icon: typeof Sun }[] = [
  { value: 'here', label: ZONE_HERE, icon: Clock },
  { value: 'utc', label: 'UTC', icon: Globe },
];

/** Who is signed in, and what concerns them alone: account, theme, times, help, signing out. */
function AccountMenu({ onHelp }: { readonly onHelp: () => void }) {
  const { user, resident } = useSession();
  const theme = useTheme();
  const times = useTimes();
  const leave = useSessionAct('logout', { onDone: setSession });
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
      {!resident && <MenuLink icon={UserRound} label="Your account" to="/account" />}
      <MenuLink icon={Footprints} label="First steps" to="/first-steps" />
      <MenuItem icon={CircleHelp} label="Keys and help" onSelect={onHelp} />
      <MenuLine />
      <MenuChoices label="Theme" value={theme} choices={THEMES} onChange={setTheme} />
      {HAS_CHOICE && (
        <>
          <MenuLine />
          <MenuChoices label="Times" value={times} choices={TIMES} onChange={setTimes} />
        </>
      )}
      {!resident && (
        <>
          <MenuLine />
          <MenuItem icon={LogOut} label="Sign out" onSelect={() => leave.mutate({})} />
        </>
      )}
    </Menu>
  );
}
