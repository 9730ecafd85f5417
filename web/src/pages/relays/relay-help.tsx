import { Meaning } from '../settings/setting-row.tsx';
import type { RelayForm } from './definition.ts';

/** Where the credentials of a type of relay are found, and what else to know. */
export function RelayHelp({ form: { help } }: { readonly form: RelayForm }) {
  if (help.length === 0) return null;
  return (
    <aside aria-label="Help" className="rounded-md border border-accent/25 bg-accent-soft px-4 py-3">
      <ul className={help.length > 1 ? 'list-disc space-y-1 pl-4' : ''}>
        {help.map((line) => (
          <li key={line} className="break-words">
            <Meaning text={line} />
          </li>
        ))}
      </ul>
    </aside>
  );
}
