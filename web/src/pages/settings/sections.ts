import type { Setting } from './setting-values.ts';

/** The sections of the settings, each with a group of the table of settings. */

/** What each section is called, and one line on what it is about. */
export const SECTIONS = {
  'api-keys': { label: 'API keys', note: 'Who may send, and what each may do.' },
  'http-api': { label: 'HTTP API', note: 'Where programs submit mail over HTTP, and how much.' },
  smtp: {
    label: 'SMTP listener',
    note: 'Where programs and devices submit mail over SMTP.',
  },
  certificate: {
    label: 'TLS certificate',
    note: 'What this server shows to those who connect to it.',
  },
  delivery: {
    label: 'Delivery',
    note: 'How mail is tried again, and when it is given up.',
  },
  retention: { label: 'Retention', note: 'How long contents and records are kept.' },
  security: {
    label: 'Security',
    note: 'Who may reach this dashboard, and for how long.',
  },
  limits: {
    label: 'Limits and health',
    note: 'When mail has to wait, and when health degrades.',
  },
  server: {
    label: 'Server and log',
    note: 'Names, the log, and how it stops.',
  },
  all: { label: 'All settings', note: 'The whole table, with search.' },
} as const satisfies Readonly<
  Record<Setting['group'] | 'api-keys' | 'all', Record<'label' | 'note', string>>
>;

/** The last part of a section's address. */
export type SectionName = keyof typeof SECTIONS;

/** Every section, in the order in which they are shown. */
export const SECTION_NAMES = Object.keys(SECTIONS) as readonly SectionName[];

/** The section of that name; null where there is none. */
export function sectionNamed(name: string): SectionName | null {
  return SECTION_NAMES.find((known) => known === name) ?? null;
}

/** Whether a setting can stand aside: it is seldom changed, and is as by default. */
export function isSeldom({ seldom, origin }: Pick<Setting, 'seldom' | 'origin'>): boolean {
  return origin === 'default' && seldom;
}

/** The settings that a search finds: all its words, in key or meaning. */
export function found<Row extends Pick<Setting, 'key' | 'meaning'>>(
  rows: readonly Row[],
  search: string,
): readonly Row[] {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return rows;
  return rows.filter(({ key, meaning }) => {
    const text = `${key} ${key.replaceAll(/[._]/g, ' ')} ${meaning}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** A piece of what a setting means: `code` in the way of keys. */
export interface MeaningPiece {
  readonly text: string;
  readonly code: boolean;
}

/** A meaning as it stands in the documents, in pieces: backticks are code, of links the words stay, and null is no value. */
export function piecesOf(meaning: string): readonly MeaningPiece[] {
  return meaning
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/(^|[.,;] )null (?=means|switches)/g, (_, before: string) =>
      /[,;]/.test(before) ? `${before}no value ` : `${before}No value `,
    )
    .split('`')
    .map((text, index) => ({ text, code: index % 2 === 1 }))
    .filter(({ text }) => text !== '');
}
