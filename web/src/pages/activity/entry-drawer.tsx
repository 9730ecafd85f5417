import { Filter } from 'lucide-react';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { KeyValue } from '../../parts/page.tsx';
import { DiffLine, Time } from '../../parts/values.tsx';
import { actorWords, type Entry, refusalOf } from './words.ts';

/** Everything about something that was done, with what it changed. */
export function EntryDrawer({
  entry,
  onClose,
  onFilter,
}: {
  readonly entry: Entry;
  readonly onClose: () => void;
  readonly onFilter: (change: { actor?: string; action?: string }) => void;
}) {
  const refusal = refusalOf(entry);
  return (
    <Dialog
      kind="drawer"
      onClose={onClose}
      size="large"
      title={`${entry.words}${refusal === null ? '' : ': not done'}`}
      footer={
        <>
          {entry.actor !== '' && (
            <Button
              icon={Filter}
              label={`All by ${entry.actor}`}
              onClick={() => onFilter({ actor: entry.actor })}
            />
          )}
          <Button icon={Filter} label="All of this kind" onClick={() => onFilter({ action: entry.action })} />
        </>
      }
    >
      <div className="space-y-6">
        <KeyValue
          rows={{
            When: <Time at={entry.at} exact />,
            Who: actorWords(entry),
            From: entry.sourceAddress ?? 'this machine',
            'To what': entry.subject === '' ? null : entry.subject,
            Action: <code className="font-mono text-sm">{entry.action}</code>,
            Number: entry.number,
            'Not done':
              refusal === null ? undefined : <code className="font-mono text-sm text-failed">{refusal}</code>,
          }}
        />
        {refusal === null && <Changes before={entry.before} after={entry.after} />}
      </div>
    </Dialog>
  );
}

function Changes({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const changes = changesBetween(before, after);
  if (changes.length === 0) return null;
  return (
    <section>
      <h3 className="mb-2 font-semibold">{headingOf(before, after)}</h3>
      <ul className="space-y-2">
        {changes.map(({ path, before: old, after: fresh }) => (
          <li key={path} className="overflow-hidden rounded-md border border-line">
            {path !== '' && (
              <div className="border-b border-line bg-paper px-3 py-1 font-mono text-sm">{path}</div>
            )}
            {old !== null && <DiffLine kind="removed" text={old} />}
            {fresh !== null && <DiffLine kind="added" text={fresh} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function headingOf(before: unknown, after: unknown): string {
  if (before === null) return 'Details';
  return after === null ? 'What it was' : 'What changed';
}

/** A value that changed, by its place. */
export interface Change {
  /** Such as `rules.1.via`; empty where the whole is no object. */
  readonly path: string;
  /** As JSON; null where there was, or is, no such value. */
  readonly before: string | null;
  readonly after: string | null;
}

/** More than these are not listed. */
const MAX_CHANGES = 200;

/** What differs between two plain JSON values, place by place, those of the first in their order. Null is as good as absent. */
export function changesBetween(before: unknown, after: unknown): readonly Change[] {
  const changes: Change[] = [];
  collect('', before ?? undefined, after ?? undefined, changes);
  return changes;
}

function collect(path: string, before: unknown, after: unknown, changes: Change[]): void {
  if (changes.length >= MAX_CHANGES || same(before, after)) return;
  const one = placesOf(before);
  const other = placesOf(after);
  if ((one ?? other) && (one || before === undefined) && (other || after === undefined)) {
    const names = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})]);
    for (const name of names)
      collect(path === '' ? name : `${path}.${name}`, one?.[name], other?.[name], changes);
    return;
  }
  changes.push({ path, before: written(before), after: written(after) });
}

/** The values of an object, or of a list of objects, by name or number; null for what is shown in one piece. */
function placesOf(value: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value) && !value.some((item) => typeof item === 'object' && item !== null)) return null;
  // Sound because an array's and an object's own values are found by their names alike.
  return value as Readonly<Record<string, unknown>>;
}

function same(one: unknown, other: unknown): boolean {
  return (one ?? null) === (other ?? null) || JSON.stringify(one) === JSON.stringify(other);
}

function written(value: unknown): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
