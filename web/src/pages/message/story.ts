import type { ResultOf } from '../../../../src/operations/table.ts';

/** All that is known of a message. */
export type Story = ResultOf<'messageStory'>;
/** One of its recipients, and what became of that copy. */
export type Recipient = Story['record']['recipients'][number];
/** One try to hand it on. */
export type Attempt = Story['attempts'][number];

/** A point in a message's life. */
export interface Happening {
  readonly key: string;
  /** RFC 3339; null when it is not known. */
  readonly at: string | null;
  readonly title: string;
  readonly detail: string | null;
  /** A status or outcome, for its colour. */
  readonly mark: string;
  /** The attempt that it was; null for what was none. */
  readonly attempt: number | null;
  /** It has not happened yet. */
  readonly ahead: boolean;
}

/** A point of which only what is special is said. */
export function point(
  key: string,
  title: string,
  mark: string,
  { at = null, detail = null, attempt = null, ahead = false }: Partial<Happening> = {},
): Happening {
  return { key, title, mark, at, detail, attempt, ahead };
}

/** A reply with its codes, each once. */
export function replyText(code: number | null, enhanced: string | null, text: string | null): string {
  const said = (text ?? '').trim();
  const codes = [code === null ? '' : String(code), enhanced ?? ''].filter(
    (one) => one !== '' && !said.split(/\s+/, 2).includes(one),
  );
  return [...codes, said].filter((part) => part !== '').join(' ');
}
