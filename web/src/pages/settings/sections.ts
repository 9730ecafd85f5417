import type { Setting } from './setting-values.ts';

/** The sections of the settings, each with a part of the table of settings. */

interface SectionFacts {
  readonly label: string;
  /** One line on what it is about. */
  readonly note: string;
  /** First parts of keys. */
  readonly of: readonly string[];
}

const SECTIONS = {
  'api-keys': { label: 'API keys', note: 'Who may send, and what each may do.', of: [] },
  'http-api': { label: 'HTTP API', note: 'Where programs submit mail over HTTP, and how much.', of: ['api'] },
  smtp: {
    label: 'SMTP listener',
    note: 'Where programs and devices submit mail over SMTP.',
    of: ['listener'],
  },
  certificate: {
    label: 'TLS certificate',
    note: 'What this server shows to those who connect to it.',
    of: ['tls'],
  },
  delivery: {
    label: 'Delivery',
    note: 'How mail is tried again, and when it is given up.',
    of: ['delivery', 'dns'],
  },
  retention: { label: 'Retention', note: 'How long contents and records are kept.', of: ['retention'] },
  security: {
    label: 'Security',
    note: 'Who may reach this dashboard, and for how long.',
    of: ['webui', 'secrets'],
  },
  limits: {
    label: 'Limits and health',
    note: 'When mail has to wait, and when to worry.',
    of: ['limits', 'health'],
  },
  server: {
    label: 'Server and log',
    note: 'Names, the log, and how it stops.',
    of: ['server', 'log', 'shutdown', 'database'],
  },
  all: { label: 'All settings', note: 'The whole table, to search in.', of: [] },
} as const satisfies Readonly<Record<string, SectionFacts>>;

/** The last part of a section's address. */
export type SectionName = keyof typeof SECTIONS;

/** Every section, in the order in which they are shown. */
export const SECTION_NAMES = Object.keys(SECTIONS) as readonly SectionName[];

/** What a section is called and about. */
export function sectionFacts(name: SectionName): SectionFacts {
  return SECTIONS[name];
}

/** The section of that name; null where there is none. */
export function sectionNamed(name: string): SectionName | null {
  return SECTION_NAMES.find((known) => known === name) ?? null;
}

/** The section where a setting stands: what no section knows stands with the server's own. */
export function sectionOf({ section }: Pick<Setting, 'section'>): SectionName {
  return SECTION_NAMES.find((name) => sectionFacts(name).of.includes(section)) ?? 'server';
}

/** Settings that are seldom changed: how much of everything is taken, and for how long clients may be slow. */
const SELDOM =
  /^(api|listener|limits)\.(max_(?!message_bytes|recipients|queued|connections$)|min_|soft_|hard_|greet_|first_|command_|data_|busy_|header_|body_|keep_|batch_|bare_|quoted_|received_)/;

/** Whether a setting can stand aside: it is seldom changed, and is as by default. */
export function isSeldom({ key, origin }: Pick<Setting, 'key' | 'origin'>): boolean {
  return origin === 'default' && SELDOM.test(key);
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

/** A key as a heading: `api.rate_limit_per_key` is `Rate limit per key`. */
export function headingOf(key: string): string {
  const words = key.slice(key.indexOf('.') + 1).replaceAll(/[._]/g, ' ');
  const known = words
    .replaceAll(/\bcidrs?\b/g, (word) => `${word === 'cidr' ? 'range' : 'ranges'}`)
    .replaceAll(/\b(tls|json|cors|smtp|url|dns|http|ip|ad)\b/g, (word) => word.toUpperCase());
  return known.charAt(0).toUpperCase() + known.slice(1);
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
