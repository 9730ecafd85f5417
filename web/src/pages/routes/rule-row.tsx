import { ArrowRight, GripVertical, Pencil, Trash2 } from 'lucide-react';
import { Fragment } from 'react';
import { Badge } from '../../parts/badge.tsx';
import { IconButton } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import type { Reorder } from './editing.ts';
import { clausesOf, type RuleDraft } from './rules.ts';

/** A rule in the list: its place, what it looks at, where its mail goes, and what can be done with it. */
export function RuleRow({
  rule,
  place,
  known,
  fault,
  reorder,
  onEdit,
  onRemove,
}: {
  readonly rule: RuleDraft;
  /** From 0 on. */
  readonly place: number;
  readonly known: readonly string[] | null;
  readonly fault: string | undefined;
  /** Null where the table is read-only. */
  readonly reorder: Reorder | null;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}) {
  return (
    <li
      ref={reorder?.rowRef(rule.id)}
      className={classNames(
        'flex items-start gap-2 border-b border-line bg-surface py-3 pr-2 pl-2 last:border-b-0 sm:pr-3',
        reorder?.dragged === rule.id && 'relative z-1 bg-accent-soft shadow-raised',
      )}
    >
      {reorder === null ? (
        <span className="w-2" />
      ) : (
        <button
          type="button"
          aria-label={`Move ${rule.name}: place ${place + 1}. Arrow keys move it.`}
          title="Drag, or use the arrow keys"
          {...reorder.handle(rule.id)}
          className="flex size-8 shrink-0 cursor-grab touch-none items-center justify-center rounded-md text-soft hover:bg-sunken hover:text-ink active:cursor-grabbing"
        >
          <GripVertical aria-hidden size={16} />
        </button>
      )}
      <span className="mt-1 w-6 shrink-0 text-right font-mono text-sm text-soft">{place + 1}</span>
      <div className="min-w-0 flex-1 pl-1">
        <h3 className="mt-1 font-mono text-sm font-medium break-all">{rule.name}</h3>
        <p className="mt-0.5 break-words">
          <MatchWords match={rule.match} />
          <To />
          <ViaWords via={rule.via} weighted={rule.weighted} known={known} />
        </p>
        {fault !== undefined && (
          <p role="alert" className="mt-1 text-sm text-failed">
            {fault}
          </p>
        )}
      </div>
      {reorder !== null && (
        <span className="flex shrink-0 max-sm:flex-col">
          <IconButton icon={Pencil} label={`Edit ${rule.name}`} small onClick={onEdit} />
          <IconButton icon={Trash2} label={`Remove ${rule.name}`} small onClick={onRemove} />
        </span>
      )}
    </li>
  );
}

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
            {place > 0 && <span className="text-sm text-soft">{weighted ? 'or' : 'else'}</span>}
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
