import { ArrowRight } from 'lucide-react';
import { Fragment } from 'react';
import { Badge } from '../../parts/badge.tsx';
import { clausesOf, type RuleDraft } from './rules.ts';

/** More values of one condition than this are counted, not shown. */
const MAX_SHOWN = 4;

/** What a rule looks at, in words. */
export function MatchWords({ match }: { readonly match: RuleDraft['match'] }) {
  const clauses = clausesOf(match);
  if (clauses.length === 0) return <span className="text-soft">All mail</span>;
  return (
    <span className="leading-relaxed">
      Mail{' '}
      {clauses.map(({ words, values }, place) => (
        <Fragment key={words + String(values[0])}>
          {place > 0 && <span className="text-soft">, and </span>}
          <span className="text-soft">{words}</span>{' '}
          {values.slice(0, MAX_SHOWN).map((value, index) => (
            <Fragment key={value}>
              {index > 0 && <span className="text-soft"> or </span>}
              <code className="rounded-sm bg-sunken px-1 box-decoration-clone py-px font-mono text-sm break-words">
                {value}
              </code>
            </Fragment>
          ))}
          {values.length > MAX_SHOWN && (
            <span className="text-soft" title={values.join(', ')}>
              {' '}
              or {values.length - MAX_SHOWN} more
            </span>
          )}
        </Fragment>
      ))}
    </span>
  );
}

/** The relays of a rule: in their order, or with their shares. */
export function ViaWords({
  via,
  weighted,
  known,
}: Pick<RuleDraft, 'via' | 'weighted'> & {
  /** Names of the relays there are; null while they are not known. */
  readonly known: readonly string[] | null;
}) {
  const total = via.reduce((sum, { weight }) => sum + weight, 0);
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      {via.map(({ relay, weight }, place) => {
        const isMissing = known !== null && !known.includes(relay);
        return (
          <Fragment key={relay}>
            {place > 0 &&
              (weighted ? (
                <span className="text-sm text-soft">or</span>
              ) : (
                <span className="text-sm text-soft">else</span>
              ))}
            <Badge
              tone={isMissing ? 'bad' : 'accent'}
              {...(isMissing && { title: 'There is no such relay' })}
            >
              <span className="font-mono">{relay}</span>
              {weighted && total > 0 && <span>{Math.round((weight / total) * 100)} %</span>}
            </Badge>
          </Fragment>
        );
      })}
    </span>
  );
}

/** An arrow between what a rule looks at and where its mail goes. */
export function To() {
  return <ArrowRight aria-label="goes to" size={14} className="mx-1 inline shrink-0 text-soft" />;
}
