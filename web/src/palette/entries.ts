import { linkOptions } from '@tanstack/react-router';
import {
  ArrowRight,
  CircleHelp,
  CirclePause,
  CirclePlay,
  Clock,
  Footprints,
  Globe,
  KeyRound,
  LayoutTemplate,
  LogOut,
  type LucideIcon,
  Monitor,
  Moon,
  PenLine,
  PlugZap,
  Plus,
  Send,
  SendHorizontal,
  Sun,
  UserRound,
} from 'lucide-react';
import type { ResultOf } from '../../../src/operations/table.ts';
import { JUMP_ROLES, JUMPS } from '../keyboard.ts';
import { keyState } from '../pages/settings/keys/key-form.ts';
import { SECTION_NAMES, SECTIONS } from '../pages/settings/sections.ts';
import type { RowTarget } from '../parts/table-row.tsx';
import type { Role } from '../session.tsx';

/** What can be chosen in the palette. */
export interface Entry {
  /** Differs for each. */
  readonly id: string;
  readonly group: Group;
  readonly icon: LucideIcon;
  readonly label: string;
  readonly detail?: string | undefined;
  /** Further words by which it is found. */
  readonly words?: string;
  /** From this role on. */
  readonly from: Role;
  readonly deed: Deed;
}

/** Groups, in the order in which they are shown. */
export const GROUPS = ['Found', 'Do', 'Go to', 'Named so', 'Search'] as const;
type Group = (typeof GROUPS)[number];

/** What choosing an entry does. */
export type Deed =
  | { readonly kind: 'go'; readonly to: RowTarget }
  | { readonly kind: 'open'; readonly dialog: Opened }
  | { readonly kind: 'hold' | 'resume'; readonly relay: string }
  | { readonly kind: 'theme'; readonly theme: 'system' | 'light' | 'dark' }
  | { readonly kind: 'times'; readonly times: 'here' | 'utc' }
  | { readonly kind: 'help' | 'leave' };

/** A dialog that opens in the place of the palette. */
export type Opened =
  | { readonly what: 'compose' | 'key' | 'suppress' }
  | { readonly what: 'test'; readonly relay: string };

/** What there is by name. */
export interface Known {
  readonly relays: ResultOf<'relays'>;
  readonly domains: ResultOf<'domains'>;
  readonly keys: ResultOf<'listKeys'>;
  readonly templates: ResultOf<'templates'>;
}

/** For whom the entries are. */
export interface Facts {
  /** Nobody signs in here, and nobody leaves. */
  readonly resident: boolean;
  /** The browser's time zone; null: it is UTC, and there is nothing to choose. */
  readonly zone: string | null;
}

/** What is there for everybody who may: acts and pages. */
export function standingEntries({ resident, zone }: Facts): readonly Entry[] {
  return [...acts(), ...ownActs(resident, zone), ...pages(resident)];
}

function acts(): Entry[] {
  const group = 'Do';
  return [
    {
      id: 'compose',
      group,
      icon: PenLine,
      label: 'Write a message',
      words: 'compose send mail new',
      from: 'operator',
      deed: { kind: 'open', dialog: { what: 'compose' } },
    },
    {
      id: 'new-key',
      group,
      icon: KeyRound,
      label: 'Create an API key',
      words: 'new add secret',
      from: 'admin',
      deed: { kind: 'open', dialog: { what: 'key' } },
    },
    {
      id: 'new-relay',
      group,
      icon: Plus,
      label: 'Add a relay',
      words: 'new create smarthost provider',
      from: 'admin',
      deed: { kind: 'go', to: linkOptions({ to: '/relays', search: { add: 'choose' } }) },
    },
    {
      id: 'suppress',
      group,
      icon: Plus,
      label: 'Suppress an address',
      words: 'add suppression block unsubscribe',
      from: 'operator',
      deed: { kind: 'open', dialog: { what: 'suppress' } },
    },
  ];
}

/** What concerns the reader alone. */
function ownActs(resident: boolean, zone: string | null): Entry[] {
  const own = { group: 'Do', from: 'viewer' } as const;
  const theme = (value: 'system' | 'light' | 'dark', icon: LucideIcon, name: string): Entry => ({
    ...own,
    id: `theme-${value}`,
    icon,
    label: `Theme: ${name}`,
    words: 'switch colours mode',
    deed: { kind: 'theme', theme: value },
  });
  const times = (value: 'here' | 'utc', icon: LucideIcon, name: string): Entry => ({
    ...own,
    id: `times-${value}`,
    icon,
    label: `Times: ${name}`,
    words: 'switch time zone',
    deed: { kind: 'times', times: value },
  });
  return [
    theme('system', Monitor, 'as the system'),
    theme('light', Sun, 'light'),
    theme('dark', Moon, 'dark'),
    ...(zone === null ? [] : [times('here', Clock, zone), times('utc', Globe, 'UTC')]),
    {
      ...own,
      id: 'help',
      icon: CircleHelp,
      label: 'Keys and help',
      words: 'shortcuts keyboard',
      deed: { kind: 'help' },
    },
    ...(resident
      ? []
      : [
          {
            ...own,
            id: 'leave',
            icon: LogOut,
            label: 'Sign out',
            words: 'log out leave',
            deed: { kind: 'leave' },
          } as const,
        ]),
  ];
}

function pages(resident: boolean): Entry[] {
  const page = (label: string, to: RowTarget, more: Partial<Entry> = {}): Entry => ({
    id: `page-${label}`,
    group: 'Go to',
    icon: ArrowRight,
    label,
    from: 'viewer',
    deed: { kind: 'go', to },
    ...more,
  });
  const jumps = (Object.keys(JUMPS) as (keyof typeof JUMPS)[]).map((key) =>
    page(JUMPS[key].label, { to: JUMPS[key].to }, { from: JUMP_ROLES[key] ?? 'viewer', detail: `g ${key}` }),
  );
  const sections = SECTION_NAMES.map((section) =>
    page(
      `Settings: ${SECTIONS[section].label}`,
      linkOptions({ to: '/settings/$section', params: { section } }),
      { words: SECTIONS[section].note },
    ),
  );
  const system = (['storage', 'backup', 'log', 'doctor', 'about'] as const).map((tab) =>
    page(`System: ${tab}`, linkOptions({ to: '/system', search: { tab } })),
  );
  const own = resident ? [] : [page('Your account', { to: '/account' }, { icon: UserRound })];
  const first = page('First steps', { to: '/first-steps' }, { icon: Footprints });
  return [...jumps, first, ...own, ...sections, ...system];
}

/** What there is by name, and what can be done with it; only when it is typed. */
export function namedEntries({ relays, domains, keys, templates }: Known, now: number): readonly Entry[] {
  const named = (id: string, icon: LucideIcon, label: string, to: RowTarget, detail: string): Entry => ({
    id,
    group: 'Named so',
    icon,
    label,
    detail,
    from: 'viewer',
    deed: { kind: 'go', to },
  });
  return [
    ...relays.flatMap(({ name, type, state }) => [
      named(`relay-${name}`, Send, name, linkOptions({ to: '/relays/$name', params: { name } }), 'Relay'),
      ...(type === 'inbox' ? [] : relayActs(name, state)),
    ]),
    ...domains.map(({ name }) =>
      named(`domain-${name}`, Globe, name, linkOptions({ to: '/domains/$name', params: { name } }), 'Domain'),
    ),
    ...keys.map((key) =>
      named(`key-${key.id}`, KeyRound, key.name, toKey(key, now), `API key ${key.prefix}…`),
    ),
    ...templates.map(({ alias, name }) =>
      named(
        `template-${alias}`,
        LayoutTemplate,
        name || alias,
        linkOptions({ to: '/templates/$alias', params: { alias } }),
        `Template ${alias}`,
      ),
    ),
  ];
}

/** The list of keys, with this one alone. */
export function toKey(key: Known['keys'][number], now: number): RowTarget {
  const isEnded = ['revoked', 'expired'].includes(keyState(key, now));
  return linkOptions({
    to: '/settings/$section',
    params: { section: 'api-keys' },
    search: { q: key.prefix, ...(isEnded && { revoked: true }) },
  });
}

function relayActs(name: string, state: Known['relays'][number]['state']): Entry[] {
  const isHeld = state === 'paused' || state === 'draining';
  const act = (id: string, icon: LucideIcon, label: string, from: Role, deed: Deed): Entry => ({
    id: `${id}-${name}`,
    group: 'Do',
    icon,
    label: `${label} ${name}`,
    words: 'relay',
    from,
    deed,
  });
  return [
    isHeld
      ? act('resume', CirclePlay, 'Resume', 'operator', { kind: 'resume', relay: name })
      : act('hold', CirclePause, 'Pause', 'operator', { kind: 'hold', relay: name }),
    act('test', PlugZap, 'Test', 'admin', { kind: 'open', dialog: { what: 'test', relay: name } }),
    act('send', SendHorizontal, 'Send a test message through', 'admin', {
      kind: 'go',
      to: linkOptions({ to: '/relays/$name', params: { name } }),
    }),
  ];
}
