import { API_KEYS, type Cure, pageFor } from '../system/cures.ts';

// A file of its own: its tests need no page.

/** What to do about a refusal, as the table of codes has it: a sentence, and the pages that the sentence leads to. */

/** Buttons beside one sentence. */
const MAX_BUTTONS = 3;
/** Such as `listener.allowed_cidrs`. */
const SETTING = /^[a-z]+\.[a-z_]+$/;
/** Of an application. */
const KEY = /\bkeys?\b/;
/** A command line that says nothing but where its button leads. */
const COMMAND_LINE = /: `waybill [^`]*`| \(`waybill [^`]*`\)/g;

/** What a refusal means, and what to do about it. */
type Explained = Readonly<Record<'meaning' | 'cure', string | null>>;

/**
 * The pages on which something can be done, by the settings and command lines of the sentences; where they name none, but
 * a key, the page of keys. `without`: a setting that has a button already.
 */
export function curesIn({ meaning, cure }: Explained, without: string | null = null): readonly Cure[] {
  const text = `${cure ?? ''} ${meaning ?? ''}`;
  const pieces = text.split('`').filter((piece, place) => place % 2 === 1 && piece !== without);
  const cures = pieces.flatMap((piece) =>
    SETTING.test(piece) ? [settingCure(piece)] : (pageFor(piece) ?? []),
  );
  if (cures.length === 0 && without === null && KEY.test(text)) return [API_KEYS];
  return [...new Map(cures.map((one) => [one.label, one])).values()].slice(0, MAX_BUTTONS);
}

/** The sentence for those who have the buttons. */
export function cureWords(cure: string): string {
  return cure.replaceAll(COMMAND_LINE, '');
}

function settingCure(key: string): Cure {
  return {
    label: `Setting ${key}`,
    target: { to: '/settings/$section', params: { section: 'all' }, search: { q: key } },
  };
}
