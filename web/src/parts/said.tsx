import { classNames } from './class-names.ts';

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

/** The address of a mailbox, without the name that stands before it. */
export function bareAddress(mailbox: string): string {
  return /<([^<>]+)>\s*$/.exec(mailbox)?.[1] ?? mailbox;
}

/** Characters that show nothing, or make others show otherwise: controls, and overrides of the direction. */
const TRICKS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
/** Longer texts are cut: nobody reads them in one place. */
const MAX_CHARACTERS = 20_000;
/** Marks that are piled on one letter; more of them would cover the lines around. */
const PILE = /(\p{M}{4})\p{M}+/gu;

/** Text of strangers with nothing in it that plays tricks on its readers; that is shown as an escape, such as `\u202e`. */
export function plainText(text: string): string {
  const short = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
  return short.replaceAll('\r\n', '\n').replace(TRICKS, escaped).replace(PILE, '$1');
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
