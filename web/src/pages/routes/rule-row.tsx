import { GripVertical, Pencil, Trash2 } from 'lucide-react';
import { IconButton } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { MatchWords, To, ViaWords } from './rule-words.tsx';
import type { RuleDraft } from './rules.ts';
import type { Reorder } from './use-reorder.ts';

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
