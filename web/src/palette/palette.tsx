import { Dialog as Base } from '@base-ui/react/dialog';
import { useRouter } from '@tanstack/react-router';
import { CornerDownLeft, Search, X } from 'lucide-react';
import { type KeyboardEvent, lazy, Suspense, useEffect, useId, useMemo, useRef, useState } from 'react';
import { steadily } from '../connection.ts';
import { opensPalette, PALETTE_KEYS, takeTypedAhead } from '../keyboard.ts';
import { ask } from '../parts/ask.tsx';
import { classNames } from '../parts/class-names.ts';
import { useOverPage } from '../parts/over-page.ts';
import { useNow } from '../parts/values.tsx';
import { useAct, useCall } from '../queries.ts';
import { setSession, useMay, useSession, useSessionAct } from '../session.tsx';
import { setTheme } from '../theme.ts';
import { HAS_CHOICE, setTimes, ZONE_HERE } from '../zone.ts';
import {
  type Deed,
  type Entry,
  GROUPS,
  type Known,
  namedEntries,
  type Opened,
  standingEntries,
} from './entries.ts';
import { foundEntries, missingNote, searchEntries } from './found.ts';
import { useAnswers } from './look-ups.ts';
import { matching } from './matching.ts';
import { recognise } from './recognise.ts';

const ComposeDialog = lazy(
  steadily(async () => ({ default: (await import('../pages/compose/dialog.tsx')).ComposeDialog })),
);
const KeyDrawer = lazy(steadily(() => import('../pages/settings/keys/key-drawer.tsx')));
const SuppressDialog = lazy(
  steadily(async () => ({ default: (await import('../pages/suppressions/add-dialog.tsx')).AddDialog })),
);
const RestDialog = lazy(steadily(() => import('../pages/relays/rest-dialog.tsx')));

/** Longer texts are cut. */
const MAX_TYPED = 1000;

interface Props {
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

/** Finds whatever an id, an address or a name leads to, and does what is typed. Over every page. */
export default function Palette({ onClose, onHelp }: Props) {
  const [opened, setOpened] = useState<Opened | null>(null);
  const act = useDeeds({ onClose, onHelp, onOpen: setOpened });
  if (opened === null) return <Finder onClose={onClose} onChoose={act} />;
  return (
    <Suspense>
      {opened.what === 'compose' && <ComposeDialog onClose={onClose} />}
      {opened.what === 'key' && <KeyDrawer of={null} onClose={onClose} />}
      {opened.what === 'suppress' && <SuppressDialog onClose={onClose} />}
      {opened.what === 'test' && <RestDialog relay={opened.relay} act="test" onClose={onClose} />}
    </Suspense>
  );
}

/** What choosing does. */
function useDeeds({ onClose, onHelp, onOpen }: Props & { readonly onOpen: (dialog: Opened) => void }) {
  const router = useRouter();
  const leave = useSessionAct('logout', { onDone: setSession });
  const resume = useAct('hold', { done: ({ target }) => `${target} goes on.` });
  return (deed: Deed) => {
    if (deed.kind === 'open') return onOpen(deed.dialog);
    // First, so that the focus is where it was, and goes on from there.
    onClose();
    switch (deed.kind) {
      case 'go':
        return void router.navigate(deed.to);
      case 'hold':
        return askToHold(deed.relay);
      case 'resume':
        return resume.mutate({ target: deed.relay, kind: null });
      case 'theme':
        return setTheme(deed.theme);
      case 'times':
        return setTimes(deed.times);
      case 'help':
        return onHelp();
      case 'leave':
        return leave.mutate({});
    }
  };
}

function askToHold(relay: string): void {
  ask('hold', {
    request: { target: relay, kind: 'pause' },
    done: `${relay} is paused.`,
    title: `Pause ${relay}?`,
    text: 'It sends nothing until it is resumed. Mail that is routed to it waits; attempts in progress finish.',
    confirm: 'Pause relay',
  });
}

const UNKNOWN: Known = { relays: [], domains: [], keys: [], templates: [] };

/** What there is by name, kept up to date while the palette is open. */
function useKnown(): Known {
  const relays = useCall('relays', {}, { topics: ['relays'] });
  const domains = useCall('domains', {}, { topics: ['domains'] });
  const keys = useCall('listKeys', {}, { topics: ['keys'] });
  const templates = useCall('templates', {}, { topics: ['templates'] });
  return useMemo(
    () => ({
      relays: relays.data ?? UNKNOWN.relays,
      domains: domains.data ?? UNKNOWN.domains,
      keys: keys.data ?? UNKNOWN.keys,
      templates: templates.data ?? UNKNOWN.templates,
    }),
    [relays.data, domains.data, keys.data, templates.data],
  );
}

/** The entries for what is typed, and what is said about it. */
function useEntries(typed: string): { readonly entries: readonly Entry[]; readonly note: string | null } {
  const { resident } = useSession();
  const may = { viewer: true, operator: useMay('operator'), admin: useMay('admin') };
  const known = useKnown();
  const now = useNow();
  const guesses = useMemo(() => recognise(typed), [typed]);
  const answers = useAnswers(guesses);
  const standing = useMemo(
    () => standingEntries({ resident, zone: HAS_CHOICE ? ZONE_HERE : null }),
    [resident],
  );
  const isEmpty = typed.trim() === '';
  const found = guesses.flatMap((guess) => foundEntries(guess, answers.get(guess), known, now));
  const all = isEmpty ? standing : matching([...standing, ...namedEntries(known, now)], typed);
  const entries = [...found, ...all, ...searchEntries(typed, guesses)].filter(({ from }) => may[from]);
  return {
    entries: inGroups(entries),
    note: missingNote(guesses, answers, known),
  };
}

/** By their groups; what was found by its form is not told of by its name as well. */
function inGroups(entries: readonly Entry[]): readonly Entry[] {
  const where = ({ deed }: Entry) => JSON.stringify(deed);
  const found = new Set(entries.filter(({ group }) => group === 'Found').map(where));
  return GROUPS.flatMap((group) =>
    entries.filter((entry) => entry.group === group && (group !== 'Named so' || !found.has(where(entry)))),
  );
}

function Finder({
  onClose,
  onChoose,
}: {
  readonly onClose: () => void;
  readonly onChoose: (deed: Deed) => void;
}) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useOverPage(true);
  const [typed, type] = useState('');
  const [at, setAt] = useState(0);
  const { entries, note } = useEntries(typed);
  const active = entries[Math.min(at, entries.length - 1)];
  const move = (to: number) => setAt((to + entries.length) % Math.max(1, entries.length));
  // What is found later comes first: what was chosen by keys stays chosen, and else the first is.
  const place = active === undefined ? -1 : entries.indexOf(active);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever becomes the active one is shown
  useEffect(() => {
    document.getElementById(`${id}-${place}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, place, active]);
  // Who closes it before its field had the focus types for the page again.
  useEffect(() => () => void takeTypedAhead(), []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (opensPalette(event)) onClose();
    else if (event.key === 'ArrowDown') move(place + 1);
    else if (event.key === 'ArrowUp') move(place - 1);
    else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      if (active) onChoose(active.deed);
    } else return;
    event.preventDefault();
  };
  return (
    <Base.Root open onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-scrim transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Popup
          aria-label="Find or do"
          initialFocus={field}
          className="fixed top-3 left-1/2 z-50 flex max-h-[calc(100dvh-1.5rem)] w-[calc(100vw-1.5rem)] max-w-2xl -translate-x-1/2 flex-col overflow-hidden rounded-lg border border-line bg-raised shadow-raised outline-none transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0 sm:top-[12vh] sm:max-h-[min(36rem,76dvh)]"
        >
          <div className="flex items-center gap-2.5 border-b border-line px-4">
            <Search aria-hidden size={17} className="shrink-0 text-soft" />
            <input
              ref={field}
              role="combobox"
              aria-label="Find or do"
              aria-expanded
              aria-controls={id}
              aria-autocomplete="list"
              aria-activedescendant={place < 0 ? undefined : `${id}-${place}`}
              aria-describedby={note === null ? undefined : `${id}-note`}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              enterKeyHint="go"
              maxLength={MAX_TYPED}
              placeholder="Paste an id, an address, an IP; or type what to do"
              value={typed}
              onChange={({ target }) => {
                type(target.value);
                setAt(0);
              }}
              onFocus={() => {
                const ahead = takeTypedAhead();
                if (ahead !== '') type((already) => already + ahead);
              }}
              onKeyDown={onKeyDown}
              className="h-13 min-w-0 flex-1 bg-transparent text-lg outline-none"
            />
            <Base.Close className="shrink-0 rounded-sm border border-line bg-paper px-1.5 py-0.5 font-mono text-xs text-soft hover:text-ink">
              <span className="sr-only">Close</span>
              <span className="pointer-coarse:hidden"> Esc</span>
              <X aria-hidden size={16} className="hidden pointer-coarse:block" />
            </Base.Close>
          </div>
          <p
            role="status"
            id={`${id}-note`}
            className={note === null ? 'sr-only' : 'border-b border-line px-4 py-2.5 text-soft'}
          >
            {note ?? (entries.length === 1 ? '1 result' : `${entries.length} results`)}
          </p>
          <Options id={id} entries={entries} place={place} onPoint={setAt} onChoose={onChoose} />
          <Foot />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

function Options({
  id,
  entries,
  place,
  onPoint,
  onChoose,
}: {
  readonly id: string;
  readonly entries: readonly Entry[];
  /** Of the active one. */
  readonly place: number;
  readonly onPoint: (place: number) => void;
  readonly onChoose: (deed: Deed) => void;
}) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label="Results"
      className="min-h-0 flex-1 overflow-y-auto overscroll-contain p-2"
    >
      {GROUPS.map((group) => {
        const ofGroup = entries.filter((entry) => entry.group === group);
        if (ofGroup.length === 0) return null;
        return (
          // biome-ignore lint/a11y/useSemanticElements: groups of options are no fieldsets
          <div key={group} role="group" aria-label={group} className="not-first:mt-2">
            <div aria-hidden className="caption px-2 pb-1">
              {group}
            </div>
            {ofGroup.map((entry) => {
              const index = entries.indexOf(entry);
              return (
                <Option
                  key={entry.id}
                  id={`${id}-${index}`}
                  entry={entry}
                  isActive={index === place}
                  onPoint={() => onPoint(index)}
                  onChoose={() => onChoose(entry.deed)}
                />
              );
            })}
          </div>
        );
      })}
      {entries.length === 0 && <p className="px-2 py-6 text-center text-soft">Nothing is called so.</p>}
    </div>
  );
}

function Option({
  id,
  entry: { icon: Icon, label, detail },
  isActive,
  onPoint,
  onChoose,
}: {
  readonly id: string;
  readonly entry: Entry;
  readonly isActive: boolean;
  readonly onPoint: () => void;
  readonly onChoose: () => void;
}) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys act in the field
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      onPointerDown={(event) => event.preventDefault()}
      onPointerMove={onPoint}
      onClick={onChoose}
      className={classNames(
        'flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2 py-1.5 pointer-coarse:min-h-11',
        isActive && 'bg-accent-soft',
      )}
    >
      <Icon
        aria-hidden
        size={16}
        className={classNames('shrink-0', isActive ? 'text-accent' : 'text-soft')}
      />
      <span className="min-w-0 flex-1 break-words">{label}</span>
      {detail !== undefined && <span className="max-w-[45%] truncate text-sm text-soft">{detail}</span>}
      <CornerDownLeft
        aria-hidden
        size={14}
        className={classNames('shrink-0 text-soft', !isActive && 'invisible')}
      />
    </div>
  );
}

/** The keys that act here, where there are keys. */
function Foot() {
  return (
    <div
      aria-hidden
      className="flex gap-5 border-t border-line px-4 py-2 text-xs text-soft pointer-coarse:hidden"
    >
      <span>↑ ↓ choose</span>
      <span>Enter opens it</span>
      <span>Esc closes</span>
      <span className="ml-auto">{PALETTE_KEYS.join(' ')}</span>
    </div>
  );
}
