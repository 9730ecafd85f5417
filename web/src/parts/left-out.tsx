import { formatCount, plural } from '../format.ts';

/** Below a table of names: what it has no rows for. */
export function LeftOut({
  names,
  noun,
  recipients,
}: {
  /** Names with less mail. */
  readonly names: number;
  /** What one of them is, such as `tag`. */
  readonly noun: string;
  /** Recipients that are only counted in the total. */
  readonly recipients: number;
}) {
  if (names === 0 && recipients === 0) return null;
  const areMany = names !== 1;
  return (
    <p className="space-x-1.5 border-t border-line px-4 py-2.5 text-sm text-soft">
      {names > 0 && (
        <span>
          {formatCount(names)} more {areMany ? `${noun}s have` : `${noun} has`} less mail and{' '}
          {areMany ? 'are' : 'is'} not shown.
        </span>
      )}
      {recipients > 0 && (
        <span>
          {plural(recipients, 'more recipient')} {recipients === 1 ? 'is' : 'are'} only in the total, because
          there were too many kinds of mail to tell apart.
        </span>
      )}
    </p>
  );
}
