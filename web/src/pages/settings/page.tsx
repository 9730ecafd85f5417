import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { SearchX, ShieldCheck } from 'lucide-react';
import { lazy, Suspense, useCallback, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { useAddress } from '../../address.ts';
import { steadily } from '../../connection.ts';
import { plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { classNames } from '../../parts/class-names.ts';
import {
  actsColumn,
  type Column,
  codeColumn,
  countColumn,
  DataTable,
  timeColumn,
} from '../../parts/data-table.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { EmptyState, Fetched, LoadingState, NotFoundPage } from '../../parts/states.tsx';
import { SearchField, Toolbar } from '../../parts/toolbar.tsx';
import { LeaveGuard, UnsavedBar } from '../../parts/unsaved.tsx';
import { useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import AllowDialog from '../overview/allow-dialog.tsx';
import { type ChangesInHand, useChanges } from './changes.ts';
import { KeysSection } from './keys/keys-section.tsx';
import { ReviewDialog } from './review-dialog.tsx';
import { found, isSeldom, SECTION_NAMES, SECTIONS, type SectionName, sectionNamed } from './sections.ts';
import { SettingRow } from './setting-row.tsx';
import type { Setting } from './setting-values.ts';

/** One section shows it: the others do not wait for its code. */
const CertificateCard = lazy(steadily(() => import('./certificate-card.tsx')));

const NONE: readonly Setting[] = [];

/** Everything that can be set, in sections. Changes are gathered over all of them, and stored together. */
export function SettingsPage() {
  const { section } = useParams({ from: '/settings/$section' });
  const name = sectionNamed(section);
  const settings = useCall('settings', {}, { topics: ['settings'] });
  const hand = useChanges(settings.data ?? NONE);
  if (name === null) return <NotFoundPage />;
  const { label, note } = SECTIONS[name];
  return (
    <Page title={`${label} · Settings`} heading="Settings">
      <div className="grid gap-x-8 gap-y-4 lg:grid-cols-[11rem_minmax(0,1fr)]">
        <SectionNav at={name} />
        <div className="min-w-0">
          <h2 className="text-lg font-semibold">{label}</h2>
          <p className="mb-4 text-soft">{note}</p>
          {name === 'api-keys' ? (
            <KeysSection />
          ) : (
            <Fetched query={settings} lines={9}>
              {(all) => <Section name={name} all={all} hand={hand} />}
            </Fetched>
          )}
        </div>
      </div>
      <LeaveGuard isDirty={hand.pending.length > 0} within="/settings" title="Leave without saving?">
        What you have changed here is not saved, and would be lost.
      </LeaveGuard>
    </Page>
  );
}

/** Whose list of allowed sources a section shows the refusals of. */
const DENIALS_OF: Readonly<Partial<Record<SectionName, Denied['setting']>>> = {
  smtp: 'listener.allowed_cidrs',
  'http-api': 'api.allowed_cidrs',
  security: 'webui.allowed_cidrs',
};

function Section({
  name,
  all,
  hand,
}: {
  readonly name: SectionName;
  readonly all: readonly Setting[];
  readonly hand: ChangesInHand;
}) {
  const denied = DENIALS_OF[name];
  const rows = all.filter((setting) => name === 'all' || setting.group === name);
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
        <Folded rows={rows} hand={hand} title={name === 'certificate' ? 'Files and ACME' : 'Settings'} />
      )}
      {denied && <DenialsCard of={denied} />}
      <ChangesBar hand={hand} />
    </div>
  );
}

interface ListProps {
  readonly rows: readonly Setting[];
  readonly hand: ChangesInHand;
  readonly title: string;
}

/** Settings one below the other. */
function List({ rows, hand: { changes, faults, change }, title }: ListProps) {
  return (
    <Card title={title} flush>
      {rows.length === 0 ? (
        <EmptyState icon={SearchX} title="No setting is like that">
          Try a part of its key, such as <code className="font-mono">rate</code> or{' '}
          <code className="font-mono">timeout</code>.
        </EmptyState>
      ) : (
        <ul>
          {rows.map((setting) => (
            <SettingRow
              key={setting.key}
              setting={setting}
              change={changes[setting.key]}
              fault={faults.fields[setting.key]}
              onChange={(next) => change(setting.key, next)}
            />
          ))}
        </ul>
      )}
    </Card>
  );
}

/** What is often changed, and the rest behind a button. */
function Folded({ rows, hand, title }: ListProps) {
  const [asked, setAsked] = useState(false);
  const seldom = rows.filter(isSeldom);
  const usual = rows.filter((row) => !isSeldom(row));
  const isOpen = asked || seldom.some(({ key }) => hand.changes[key] !== undefined);
  return (
    <>
      <List rows={usual} hand={hand} title={title} />
      {seldom.length > 0 && !isOpen && (
        <Button label={`Show ${seldom.length} that are seldom changed`} onClick={() => setAsked(true)} />
      )}
      {seldom.length > 0 && isOpen && <List rows={seldom} hand={hand} title="Seldom changed" />}
    </>
  );
}

function AllSettings({ rows, hand }: Omit<ListProps, 'title'>) {
  const [{ q = '' }, put] = useAddress();
  const search = useCallback((text: string) => put({ q: text || undefined }), [put]);
  const matching = found(rows, q);
  return (
    <>
      <Toolbar>
        <SearchField label="Search settings" value={q} settleMs={120} onSearch={search} />
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
        choices={SECTION_NAMES.map((name) => ({ value: name, label: SECTIONS[name].label }))}
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
                {SECTIONS[name].label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </>
  );
}

/** Stands at the foot of the window while there is something to store. */
function ChangesBar({ hand }: { readonly hand: ChangesInHand }) {
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
        <UnsavedBar
          save="Review and save"
          disabled={pending.length === 0 || unread > 0}
          onSave={() => setReviewing(true)}
          onDiscard={hand.discard}
        >
          {pending.length === 0
            ? 'Nothing is changed yet.'
            : `${plural(pending.length, 'change')} not saved.`}
          {unread > 0 && <span className="text-failed"> Look at what is marked.</span>}
        </UnsavedBar>
      )}
      {reviewing && isOpen && (
        <ReviewDialog
          onClose={() => setReviewing(false)}
          onStore={() => hand.store(() => setReviewing(false))}
          pending={pending}
          busy={hand.isStoring}
          problem={said === '' ? null : said}
        />
      )}
    </>
  );
}

type Denied = ResultOf<'denials'>[number];

/** Who was refused lately, and a way to let them in. */
function DenialsCard({ of }: { readonly of: Denied['setting'] }) {
  const denials = useCall('denials', {}, { topics: ['denials'] });
  const [asked, setAsked] = useState<Denied | null>(null);
  const mayAllow = useMay('admin');
  const columns: readonly Column<Denied>[] = [
    codeColumn({ header: 'Source' }, ({ sourceAddress }) => sourceAddress),
    { header: 'Why', cell: ({ reason }) => <span className="break-words">{reason}</span> },
    countColumn({ header: 'Times', width: '5rem' }, ({ count }) => count),
    timeColumn({ header: 'Last', width: '7rem' }, ({ lastAt }) => lastAt),
    actsColumn(
      '5rem',
      (row) =>
        mayAllow &&
        row.setting !== null && (
          <Button
            small
            label="Allow"
            aria-label={`Allow ${row.sourceAddress}`}
            onClick={() => setAsked(row)}
          />
        ),
    ),
  ];
  return (
    <Card title="Refused lately" note="Sources that were turned away since the start." flush>
      <Fetched query={denials} lines={3}>
        {(rows) => (
          <DataTable
            label="Refused sources"
            columns={columns}
            rows={rows.filter(({ setting }) => setting === null || setting === of)}
            rowId={({ sourceAddress, reason }) => `${sourceAddress} ${reason}`}
            empty={<EmptyState icon={ShieldCheck} title="Nobody was refused" />}
          />
        )}
      </Fetched>
      {asked !== null && <AllowDialog denied={asked} onClose={() => setAsked(null)} />}
    </Card>
  );
}
