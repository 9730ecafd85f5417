import { CircleAlert, CircleCheck, Lightbulb, type LucideIcon, TriangleAlert } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { steadily } from '../connection.ts';
import { plural } from '../format.ts';
import { Badge, type Tone } from './badge.tsx';
import { classNames } from './class-names.ts';
import { type Finding, type Place, placeOf, SEVERITIES } from './findings-words.ts';
import { Said } from './values.tsx';

const SIGNS: Readonly<Record<Finding['severity'], readonly [LucideIcon, Tone, string]>> = {
  error: [CircleAlert, 'bad', 'text-failed'],
  warning: [TriangleAlert, 'warn', 'text-retrying'],
  hint: [Lightbulb, 'busy', 'text-processing'],
};

const FindingPage = lazy(steadily(() => import('./finding-page.tsx')));

/** What preflight found, by severity: what it is, where, and what to do about it. The code of each opens its page. */
export function Findings({
  findings,
  onGo,
}: {
  readonly findings: readonly Finding[];
  /** Goes to a place, where it can be gone to. */
  readonly onGo?: ((place: Place) => (() => void) | null) | undefined;
}) {
  const [asked, setAsked] = useState<Finding | null>(null);
  return (
    <>
      <p role="status" className="sr-only">
        {plural(findings.length, 'finding')}
      </p>
      {findings.length === 0 && <NothingFound />}
      <div className="space-y-5">
        {SEVERITIES.map(([severity, { name, means }]) => {
          const some = findings.filter((finding) => finding.severity === severity);
          const [Icon, tone, color] = SIGNS[severity];
          return (
            some.length > 0 && (
              <section key={severity} aria-label={name}>
                <h3 className="mb-2 flex flex-wrap items-center gap-x-2 gap-y-1">
                  <Icon aria-hidden size={16} className={classNames('shrink-0', color)} />
                  <span className="font-semibold">{name}</span>
                  <Badge tone={tone}>{some.length}</Badge>
                  <span className="text-sm text-soft">{means}</span>
                </h3>
                <ul className="divide-y divide-line rounded-md border border-line">
                  {some.map((finding, place) => (
                    <FindingRow
                      // biome-ignore lint/suspicious/noArrayIndexKey: the same may be found twice
                      key={place}
                      finding={finding}
                      onGo={onGo}
                      onAsk={setAsked}
                    />
                  ))}
                </ul>
              </section>
            )
          );
        })}
      </div>
      <Suspense>{asked && <FindingPage of={asked} onClose={() => setAsked(null)} />}</Suspense>
    </>
  );
}

function FindingRow({
  finding,
  onGo,
  onAsk,
}: {
  readonly finding: Finding;
  readonly onGo: Parameters<typeof Findings>[0]['onGo'];
  readonly onAsk: (finding: Finding) => void;
}) {
  const { code, where, detail, fix } = finding;
  const place = placeOf(where);
  const go = onGo?.(place) ?? null;
  return (
    <li className="px-3 py-2.5">
      <p className="font-medium">
        <Said text={detail} lines="several" />
      </p>
      <p className="mt-0.5 text-soft">
        <Said text={fix} lines="several" />
      </p>
      <p className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-sm">
        {go === null ? (
          <span className="text-soft">{place.words}</span>
        ) : (
          <button type="button" onClick={go} className="link rounded-sm">
            {place.words}
          </button>
        )}
        <button
          type="button"
          onClick={() => onAsk(finding)}
          aria-label={`Why: ${code}`}
          className="link rounded-sm font-mono"
        >
          {code}
        </button>
      </p>
    </li>
  );
}

/** Quiet: it is what one hopes for. */
function NothingFound() {
  return (
    <p className="flex items-center gap-2 px-1 py-3 text-soft">
      <CircleCheck aria-hidden size={16} className="shrink-0 text-delivered" />
      No findings: every check passed.
    </p>
  );
}
