import { classNames } from './class-names.ts';
import { plainText } from './plain-text.ts';

/**
 * What a stranger has written: a subject, an address, a peer's reply. It stays a run of its own whatever direction its
 * letters have, in one line that is cut short, or in several that break anywhere.
 */
export function Said({
  text,
  none = '–',
  mono = false,
  lines = 'one',
  className,
}: {
  readonly text: string | null | undefined;
  /** In its place when it is empty. */
  readonly none?: string;
  readonly mono?: boolean;
  readonly lines?: 'one' | 'several';
  readonly className?: string;
}) {
  const shown = plainText(text ?? '');
  if (shown.trim() === '') return <span className="text-faint">{none}</span>;
  return (
    <bdi
      dir="auto"
      title={lines === 'one' ? shown : undefined}
      className={classNames(
        lines === 'one' ? 'block truncate' : 'break-words whitespace-pre-wrap [overflow-wrap:anywhere]',
        // Letters of right-to-left scripts begin at the same edge as the rest of the list.
        'text-left',
        mono && 'font-mono text-sm',
        className,
      )}
    >
      {shown}
    </bdi>
  );
}
