import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { steadily } from '../../connection.ts';
import { plural } from '../../format.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Card } from '../../parts/page.tsx';
import { Notice } from '../../parts/states.tsx';
import { SPANS_ROW } from '../../parts/table-row.tsx';
import { Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { IfMay } from '../../session.tsx';
import { RestActs, RestWords, useRestDialog } from '../relays/rest.tsx';
import { type Cure, cureFor, DOCTOR, saidOf } from '../system/cures.ts';

type Shown = ResultOf<'overview'>['banners'][number];
type Relay = ResultOf<'overview'>['relays'][number];
type Denied = ResultOf<'denials'>[number];

const AllowDialog = lazy(steadily(() => import('./allow-dialog.tsx')));

/** Refused sources that are shown; the page of the listener has all. */
const DENIALS_SHOWN = 3;
/** Resting relays that are shown; the page of relays has all. */
const RESTING_SHOWN = 3;
/** As health names a relay whose next hop refuses us. */
const NAMED = /, relay (\S+):/g;
const MORE = 'The same applies to';

/** What someone should know now, the worst first; which relays rest, and who was refused and could be allowed. */
export function Banners({
  banners,
  relays,
}: {
  readonly banners: readonly Shown[];
  readonly relays: readonly Relay[];
}) {
  const {
    critical = [],
    warning = [],
    info = [],
  } = useMemo(() => {
    const shown = restingOf(relays).slice(0, RESTING_SHOWN);
    const others = banners.filter((one) => !isToldByRows(one, shown));
    return Object.groupBy(others, ({ level }) => level);
  }, [banners, relays]);
  return (
    <ul
      aria-label="What you should know"
      className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface empty:hidden"
    >
      {critical.map(told)}
      <Resting relays={restingOf(relays)} />
      {[...warning, ...info].map(told)}
      <Denials />
    </ul>
  );
}

function restingOf(relays: readonly Relay[]): readonly Relay[] {
  return relays.filter(({ rest }) => rest !== null);
}

/**
 * Whether rows of relays that rest say more than health's check of relays. They do not where it names one that does not
 * rest, such as one that is paused because its next hop refuses us, or more than it names.
 */
export function isToldByRows(
  { code, text }: Pick<Shown, 'code' | 'text'>,
  rows: readonly { readonly name: string }[],
): boolean {
  if (code !== 'relays' || rows.length === 0 || text.includes(MORE)) return false;
  const named = [...text.matchAll(NAMED)].map(([, name]) => name);
  return named.every((name) => rows.some((row) => row.name === name));
}

function told({ code, level, text, foundAt }: Shown) {
  const cure = cureFor(code);
  const { label, target } = cure ?? (foundAt === null ? HEALTH : DOCTOR);
  return (
    <Notice key={`${code} ${text}`} level={level} actions={<ButtonLink small {...target} label={label} />}>
      {saidOf(code, text)}
      {foundAt !== null && (
        <span className="block text-sm text-soft">
          The doctor found it <Time at={foundAt} />.
        </span>
      )}
    </Notice>
  );
}

function Resting({ relays }: { readonly relays: readonly Relay[] }) {
  const { open, dialog } = useRestDialog();
  const others = relays.length - RESTING_SHOWN;
  return (
    <>
      {relays.slice(0, RESTING_SHOWN).map(
        ({ name, state, rest, waiting }) =>
          rest && (
            <Notice key={name} level="warning" actions={<RestActs relay={name} open={open} />}>
              <Link to="/relays/$name" params={{ name }} className="link font-mono text-sm font-semibold">
                {name}
              </Link>{' '}
              {state === 'resting'
                ? 'rests, because its next hop fails:'
                : 'is being tested after it failed:'}
              <RestWords rest={rest} waiting={waiting} />
            </Notice>
          ),
      )}
      {others > 0 && (
        <Notice level="warning" actions={<ButtonLink small label="Relays" to="/relays" />}>
          {plural(others, 'more relay rests', 'more relays rest')}.
        </Notice>
      )}
      {dialog}
    </>
  );
}

function Denials() {
  const denials = useCall('denials', {}, { topics: ['denials'] });
  const [allowing, setAllowing] = useState<Denied | null>(null);
  const allowable = (denials.data ?? []).filter(({ setting }) => setting !== null).slice(0, DENIALS_SHOWN);
  return (
    <>
      {allowable.map((denied) => (
        <Notice
          key={`${denied.sourceAddress} ${denied.reason}`}
          level="info"
          actions={
            <IfMay role="admin">
              <Button small label="Allow…" onClick={() => setAllowing(denied)} />
            </IfMay>
          }
        >
          <strong className="font-mono text-sm font-semibold">{denied.sourceAddress}</strong> was refused{' '}
          {plural(denied.count, 'time')}, last <Time at={denied.lastAt} />: it is not in{' '}
          <code className="font-mono text-sm">{denied.setting}</code>.
        </Notice>
      ))}
      <Suspense>{allowing && <AllowDialog denied={allowing} onClose={() => setAllowing(null)} />}</Suspense>
    </>
  );
}

/** Where the whole of health is, for what no other page can cure. */
const HEALTH: Cure = { label: 'Health', target: { to: '/system' } };

type Failure = ResultOf<'overview'>['failures'][number];

/** There may be more than so many; the answer has no more of them, and finds them among so many. */
const FAILURES_SHOWN = 8;
const FAILURES_SOUGHT = 50;

/** What the failures that are shown are the last of; null: they are all. */
export function failuresNote(shown: number): string | null {
  return shown < FAILURES_SHOWN
    ? null
    : `The last ${shown} of the ${FAILURES_SOUGHT} newest messages that failed.`;
}

/** What failed last, and why. */
export function Failures({ failures }: { readonly failures: readonly Failure[] }) {
  const note = failuresNote(failures.length);
  return (
    <Card
      flush
      title="Failed last"
      {...(note !== null && { note })}
      className="flex flex-col"
      actions={
        failures.length > 0 && (
          <Link to="/messages" search={{ q: 'status:failed' }} className="link text-sm">
            All that failed
          </Link>
        )
      }
    >
      {failures.length === 0 ? (
        <p className="px-4 py-10 text-center text-soft">Nothing has failed.</p>
      ) : (
        <ul data-list className="divide-y divide-line">
          {failures.map((failure) => (
            <FailureRow key={failure.id} failure={failure} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function FailureRow({ failure }: { readonly failure: Failure }) {
  const { id, to, cc, bcc, timestamp, lastError, outcome } = failure;
  const recipients = [...to, ...cc, ...bcc];
  const recipient = lastError?.recipient ?? recipients[0] ?? 'nobody';
  const others = recipients.length - 1;
  return (
    <li className="relative px-4 py-2 hover:bg-sunken/60">
      <div className="flex items-baseline gap-2">
        <Link
          to="/messages/$id"
          params={{ id }}
          data-row=""
          className={`flex-1 truncate font-medium ${SPANS_ROW}`}
        >
          {recipient}
          {others > 0 && <span className="font-normal text-soft"> and {others} more</span>}
        </Link>
        <span className="shrink-0 text-xs text-soft">
          <Time at={timestamp} />
        </span>
      </div>
      <div className="truncate text-sm text-soft" title={lastError?.message}>
        {lastError?.message ?? outcome ?? 'No reason was recorded.'}
      </div>
    </li>
  );
}
