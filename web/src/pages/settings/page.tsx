import { Link, useBlocker, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Select } from '../../parts/choice.tsx';
import { classNames } from '../../parts/class-names.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Page } from '../../parts/page.tsx';
import { NotFoundPage } from '../../parts/problem-pages.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx';
import { SearchField, Toolbar } from '../../parts/toolbar.tsx';
import { useCall } from '../../queries.ts';
import type { Change, Changes } from './changes.ts';
import { type ChangesInHand, useChanges } from './changes.ts';
import { DenialsCard } from './denials-card.tsx';
import { KeysSection } from './keys/keys-section.tsx';
import { ReviewDialog } from './review-dialog.tsx';
import {
  found,
  isSeldom,
  SECTION_NAMES,
  type SectionName,
  sectionFacts,
  sectionNamed,
  sectionOf,
} from './sections.ts';
import { SettingRow } from './setting-row.tsx';
import type { Setting } from './setting-values.ts';

/** One section shows it: the others do not wait for its code. */
const CertificateCard = lazy(() => import('./certificate-card.tsx'));

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
      {name === 'certificate' && (
        <Suspense fallback={<LoadingState />}>
          <CertificateCard />
        </Suspense>
      )}
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

/** Stands at the foot of the window while there is something to store. */
export function ChangesBar({ hand }: { readonly hand: ChangesInHand }) {
  const [reviewing, setReviewing] = useState(false);
  const { pending, faults } = hand;
  const unread = pending.filter(({ reading }) => 'fault' in reading).length;
  const isOpen = Object.keys(hand.changes).length > 0;
  const said = [...Object.entries(faults.fields).map(([key, fault]) => `${key}: ${fault}`), faults.rest]
    .filter((line) => line !== null)
    .join('\n');
  return (
    <>
      {isOpen && (
        <div className="sticky bottom-0 z-20 -mx-1 mt-4 px-1 pb-3">
          <div className="flex flex-wrap items-center gap-3 rounded-lg border border-edge/60 bg-raised px-4 py-2.5 shadow-raised">
            <span role="status" className="min-w-0 flex-1 basis-48">
              {pending.length === 0
                ? 'Nothing is changed yet.'
                : `${plural(pending.length, 'change')} not saved.`}
              {unread > 0 && <span className="text-failed"> Look at what is marked.</span>}
            </span>
            <Button small onClick={hand.discard}>
              Discard
            </Button>
            <Button
              small
              look="primary"
              disabled={pending.length === 0 || unread > 0}
              onClick={() => setReviewing(true)}
            >
              Review and save
            </Button>
          </div>
        </div>
      )}
      <ReviewDialog
        open={reviewing && isOpen}
        onClose={() => setReviewing(false)}
        onStore={() => hand.store(() => setReviewing(false))}
        pending={pending}
        busy={hand.isStoring}
        problem={said === '' ? null : said}
      />
    </>
  );
}

/** Settings one below the other. */
export function SettingsList({
  title,
  settings,
  changes,
  faults,
  onChange,
}: {
  readonly title: string;
  readonly settings: readonly Setting[];
  readonly changes: Changes;
  readonly faults: Readonly<Record<string, string>>;
  readonly onChange: (key: string, change: Change | undefined) => void;
}) {
  return (
    <Card title={title} flush>
      {settings.length === 0 ? (
        <EmptyState icon={SearchX} title="No setting is like that">
          Try a part of its key, such as <code className="font-mono">rate</code> or{' '}
          <code className="font-mono">timeout</code>.
        </EmptyState>
      ) : (
        <ul>
          {settings.map((setting) => (
            <SettingRow
              key={setting.key}
              setting={setting}
              change={changes[setting.key]}
              fault={faults[setting.key]}
              onChange={(change) => onChange(setting.key, change)}
            />
          ))}
        </ul>
      )}
    </Card>
  );
}
