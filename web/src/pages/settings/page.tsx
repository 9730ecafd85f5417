import { Link, useBlocker, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { classNames } from '../../parts/class-names.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Page } from '../../parts/page.tsx';
import { NotFoundPage } from '../../parts/problem-pages.tsx';
import { ErrorState, LoadingState } from '../../parts/states.tsx';
import { SearchField, Toolbar } from '../../parts/toolbar.tsx';
import { useCall } from '../../queries.ts';
import { CertificateCard } from './certificate-card.tsx';
import { ChangesBar } from './changes-bar.tsx';
import { DenialsCard } from './denials-card.tsx';
import { KeysSection } from './keys/keys-section.tsx';
import {
  found,
  isSeldom,
  SECTION_NAMES,
  type SectionName,
  sectionFacts,
  sectionNamed,
  sectionOf,
} from './sections.ts';
import type { Setting } from './setting-values.ts';
import { SettingsList } from './settings-list.tsx';
import { type ChangesInHand, useChanges } from './use-changes.ts';

const NONE: readonly Setting[] = [];

/** Everything that can be set, in sections. Changes are gathered over all of them, and stored together. */
export function SettingsPage() {
  const { section } = useParams({ from: '/settings/$section' });
  const name = sectionNamed(section);
  const settings = useCall('settings', {}, { topics: ['settings'] });
  const hand = useChanges(settings.data ?? NONE);
  if (name === null) return <NotFoundPage />;
  const { label, note } = sectionFacts(name);
  return (
    <Page title={`${label} · Settings`} heading="Settings">
      <div className="grid gap-x-8 gap-y-4 lg:grid-cols-[11rem_minmax(0,1fr)]">
        <SectionNav at={name} />
        <div className="min-w-0">
          <h2 className="text-lg font-semibold">{label}</h2>
          <p className="mb-4 text-soft">{note}</p>
          <Section name={name} settings={settings} hand={hand} />
        </div>
      </div>
      <LeaveGuard isDirty={hand.pending.length > 0} />
    </Page>
  );
}

function Section({
  name,
  settings,
  hand,
}: {
  readonly name: SectionName;
  readonly settings: ReturnType<typeof useCall<'settings'>>;
  readonly hand: ChangesInHand;
}) {
  if (name === 'api-keys') return <KeysSection />;
  if (settings.error && !settings.data)
    return <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />;
  if (!settings.data) return <LoadingState lines={9} />;
  const rows = settings.data.filter((setting) => name === 'all' || sectionOf(setting) === name);
  return (
    <div className="space-y-5">
      {name === 'certificate' && <CertificateCard />}
      {name === 'all' ? (
        <AllSettings rows={rows} hand={hand} />
      ) : (
        <Folded rows={rows} hand={hand} title={name === 'certificate' ? 'From files' : 'Settings'} />
      )}
      {name === 'smtp' && <DenialsCard of={['listener.allowed_cidrs']} />}
      {name === 'http-api' && <DenialsCard of={['api.allowed_cidrs']} />}
      {name === 'security' && <DenialsCard of={['webui.allowed_cidrs']} />}
      <ChangesBar hand={hand} />
    </div>
  );
}

function List({
  rows,
  hand,
  title,
}: {
  readonly rows: readonly Setting[];
  readonly hand: ChangesInHand;
  readonly title: string;
}) {
  return (
    <SettingsList
      title={title}
      settings={rows}
      changes={hand.changes}
      faults={hand.faults.fields}
      onChange={hand.change}
    />
  );
}

/** What is often changed, and the rest behind a button. */
function Folded({ rows, hand, title }: Parameters<typeof List>[0]) {
  const [asked, setAsked] = useState(false);
  const seldom = rows.filter(isSeldom);
  const usual = rows.filter((row) => !isSeldom(row));
  const isOpen = asked || seldom.some(({ key }) => hand.changes[key] !== undefined);
  return (
    <>
      <List rows={usual} hand={hand} title={title} />
      {seldom.length > 0 && !isOpen && (
        <Button onClick={() => setAsked(true)}>Show {seldom.length} that are seldom changed</Button>
      )}
      {seldom.length > 0 && isOpen && <List rows={seldom} hand={hand} title="Seldom changed" />}
    </>
  );
}

function AllSettings({ rows, hand }: { readonly rows: readonly Setting[]; readonly hand: ChangesInHand }) {
  const { q = '' } = useSearch({ from: '/settings/$section' });
  const navigate = useNavigate({ from: '/settings/$section' });
  const matching = found(rows, q);
  return (
    <>
      <Toolbar>
        <SearchField
          label="Search settings"
          value={q}
          settleMs={120}
          onSearch={(next) => void navigate({ search: next === '' ? {} : { q: next }, replace: true })}
        />
      </Toolbar>
      <List rows={matching} hand={hand} title={`${matching.length} of ${rows.length} settings`} />
    </>
  );
}

function SectionNav({ at }: { readonly at: SectionName }) {
  const navigate = useNavigate();
  return (
    <>
      <Select
        className="lg:hidden"
        bare
        label="Section"
        choices={SECTION_NAMES.map((name) => ({ value: name, label: sectionFacts(name).label }))}
        value={at}
        onChange={(section) => void navigate({ to: '/settings/$section', params: { section } })}
      />
      <nav aria-label="Sections of the settings" className="hidden lg:block">
        <ul className="sticky top-7 space-y-px">
          {SECTION_NAMES.map((name) => (
            <li key={name}>
              <Link
                to="/settings/$section"
                params={{ section: name }}
                activeOptions={{ includeSearch: false }}
                className={classNames(
                  'block rounded-md px-2.5 py-1.5 text-soft hover:bg-sunken hover:text-ink',
                  'aria-[current=page]:bg-sunken aria-[current=page]:font-medium aria-[current=page]:text-ink',
                )}
              >
                {sectionFacts(name).label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </>
  );
}

/** Asks before changes that are not stored are left behind. */
function LeaveGuard({ isDirty }: { readonly isDirty: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ next }) => isDirty && !next.pathname.startsWith('/settings/'),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      open={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      onConfirm={() => blocker.proceed?.()}
      title="Leave without saving?"
      confirm="Leave"
      danger
    >
      <p>What you have changed here is not saved, and would be lost.</p>
    </ConfirmDialog>
  );
}
