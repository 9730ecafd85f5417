import { plural } from '../../format.ts';
import { DiffLine, plainText } from '../../parts/values.tsx';
import { differences, type Excerpt, excerpts, tally } from './differences.ts';
import { type Draft, draftOf, type Template } from './draft.ts';

const PARTS: readonly (readonly [keyof Draft, string])[] = [
  ['name', 'Name'],
  ['subject', 'Subject'],
  ['html', 'HTML'],
  ['text', 'Text'],
  ['sample', 'Sample'],
];

/** What differs between two versions of a template, part by part. */
export function TemplateDifferences({
  older,
  newer,
}: {
  readonly older: Template;
  readonly newer: Template;
}) {
  const [before, after] = [draftOf(older), draftOf(newer)];
  const changed = PARTS.filter(([part]) => before[part] !== after[part]);
  if (changed.length === 0) return <p className="text-soft">Nothing differs between them.</p>;
  return (
    <div className="space-y-4">
      {changed.map(([part, name]) => (
        <PartDifferences key={part} name={name} older={before[part]} newer={after[part]} />
      ))}
    </div>
  );
}

function PartDifferences({
  name,
  older,
  newer,
}: {
  readonly name: string;
  readonly older: string;
  readonly newer: string;
}) {
  const runs = differences(older, newer);
  const { added, removed } = tally(runs);
  const shown = excerpts(runs);
  const indent = indentOf(shown);
  return (
    <section className="overflow-hidden rounded-md border border-line">
      <h3 className="flex items-center justify-between border-b border-line bg-paper px-3 py-1.5">
        <span className="font-semibold">{name}</span>
        <span className="text-sm text-soft">
          {[
            added > 0 && `${plural(added, 'line')} added`,
            removed > 0 && `${plural(removed, 'line')} removed`,
          ]
            .filter(Boolean)
            .join(', ')}
        </span>
      </h3>
      <div className="py-1">
        {shown.map((run, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: versions do not change
          <Run key={place} run={run} indent={indent} />
        ))}
      </div>
    </section>
  );
}

/** How far in all lines that are shown begin: nobody needs to see that, and phones have no room for it. */
function indentOf(shown: readonly Excerpt[]): number {
  const lines = shown.flatMap((run) => (run.kind === 'skipped' ? [] : run.lines));
  const indents = lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length);
  return indents.reduce((least, indent) => Math.min(least, indent), Number.POSITIVE_INFINITY);
}

/** More lines of one run are not drawn. */
const MAX_LINES = 400;

function Run({ run, indent }: { readonly run: Excerpt; readonly indent: number }) {
  if (run.kind === 'skipped') return <Left count={run.count} />;
  const { kind, lines } = run;
  return (
    <>
      {lines.slice(0, MAX_LINES).map((line, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: versions do not change
        <DiffLine key={place} close kind={kind} text={plainText(line.slice(indent))} />
      ))}
      {lines.length > MAX_LINES && <Left count={lines.length - MAX_LINES} />}
    </>
  );
}

function Left({ count }: { readonly count: number }) {
  return <p className="my-px bg-sunken px-3 py-px text-sm text-soft">{plural(count, 'line')} not shown</p>;
}
