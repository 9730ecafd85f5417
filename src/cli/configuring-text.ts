import { Document, visit } from 'yaml';
import type { Change } from '../domain/declared.ts';
import { shellWord } from '../lib/command.ts';
import type { AppliedView, ExportedView, PlanView } from '../operations/configuring.ts';
import type { RemoteOptions } from './remote.ts';
import { counted, isUnsafe } from './terminal.ts';

/** Plans, what was applied, and exports, as text. */

/** What a plan was made of. */
interface Planned {
  readonly file: string;
  readonly options: RemoteOptions & { readonly prune?: true };
  /** Files of secrets that are not there. */
  readonly missing: readonly string[];
  /** Wall ms. */
  readonly now: number;
}

/** What a file would change, and the command that does it. */
export function planText({ hash, changes, left }: PlanView, planned: Planned): string {
  const { missing, now } = planned;
  const stays = left.map(({ section, name }) => `${section} ${name}`);
  const kept = [
    ...listed('Not in the file, and kept, as --prune is not given:', stays),
    ...listed('These files are missing, so their secrets stay as they are:', missing),
  ];
  if (changes.length === 0) return ['Nothing would change.', ...kept].join('\n\n');
  const over = changes.filter((change) => isExpired(change, now)).map(({ name }) => `keys ${name}`);
  const expired = listed('Already expired, so these keys will not work:', over);
  const summary = `${countText(changes, ['to add', 'to change', 'to remove'])}. To do it: ${commandOf(hash, planned)}`;
  return [...changes.map(changeText), ...expired, ...kept, summary].join('\n\n');
}

/** Names shown of a list: more would hide what changes. */
const MAX_NAMES = 20;

/** A list below its title; nothing, if it is empty. */
function listed(title: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length - MAX_NAMES;
  const shown = more > 0 ? [...names.slice(0, MAX_NAMES), `… and ${more} more`] : names;
  return [[title, ...shown.map((name) => `  ${name}`)].join('\n')];
}

/** The command that carries a plan out, on the same server. */
function commandOf(hash: string, { file, options }: Planned): string {
  const { prune, url, keyFile, data, config } = options;
  const given = Object.entries({ url, 'key-file': keyFile, data, config }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, shellWord(value)],
  );
  const all = ['waybill apply', shellWord(file), ...(prune ? ['--prune'] : []), '--plan', hash, ...given];
  return all.join(' ');
}

function isExpired({ section, action, fields }: Change, now: number): boolean {
  if (section !== 'keys' || action !== 'add') return false;
  return fields.some(({ field, after }) => field === 'expires_at' && Date.parse(String(after)) <= now);
}

/** What was changed, and the secrets that were made. */
export function appliedText({ changes, made }: AppliedView): string {
  const secrets = made.flatMap(({ section, name, secret, signing }) => [
    `${section === 'keys' ? 'Key' : 'Webhook'} ${name}: ${secret}`,
    ...(signing === null
      ? []
      : [`  AWS_ACCESS_KEY_ID=${signing.accessKeyId}`, `  AWS_SECRET_ACCESS_KEY=${signing.secretAccessKey}`]),
  ]);
  const told =
    secrets.length === 0 ? [] : [`Their secrets, which are not shown again:\n${secrets.join('\n')}`];
  const done =
    changes.length === 0
      ? 'Nothing had to change.'
      : `Done: ${countText(changes, ['added', 'changed', 'removed'])}.`;
  const names = changes.filter(hasNewRecords).map(({ name }) => name);
  const [only = 'NAME', ...others] = names;
  const which = others.length === 0 ? only : 'NAME';
  const records =
    names.length === 0
      ? []
      : [`New DNS records to publish, of ${counted(names.length, 'domain')}: waybill domains show ${which}`];
  return [...changes.map(changeText), done, ...told, ...records].join('\n\n');
}

function hasNewRecords({ section, action, fields }: Change): boolean {
  if (section !== 'domains' || action === 'remove') return false;
  return action === 'add' || fields.some(({ after }) => after !== null);
}

const MARKS: Readonly<Record<Change['action'], string>> = { add: '+', change: '~', remove: '-' };

function countText(changes: readonly Change[], words: readonly [string, string, string]): string {
  const count = (action: Change['action']) => changes.filter((one) => one.action === action).length;
  const [added, changed, removed] = words;
  return `${count('add')} ${added}, ${count('change')} ${changed}, ${count('remove')} ${removed}`;
}

function changeText({ section, name, action, fields }: Change): string {
  const lines = action === 'remove' ? [] : fields.flatMap((field) => fieldLines(field, action));
  return [`${MARKS[action]} ${section} ${name}`, ...lines.map((line) => `    ${line}`)].join('\n');
}

function fieldLines({ field, before, after }: Change['fields'][number], action: Change['action']): string[] {
  if (action === 'add' && !isLong(after)) return [`${field}: ${valueText(after)}`];
  if (!isLong(before) && !isLong(after)) return [`${field}: ${valueText(before)} → ${valueText(after)}`];
  const lines = [...lineDifference(linesOf(before), linesOf(after)), ...endDifference(before, after)];
  return [`${field}:`, ...lines.map((line) => `  ${line}`)];
}

/** Of texts of which one alone ends with a line end: their lines do not show it. */
function endDifference(before: unknown, after: unknown): string[] {
  const [had, has] = [before, after].map((value) => typeof value === 'string' && value.endsWith('\n'));
  if (had === has || before === null || after === null) return [];
  return [has ? '  (a line end at the end is new)' : '  (the line end at the end is gone)'];
}

function isLong(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\n');
}

function linesOf(value: unknown): readonly string[] {
  if (value === null) return [];
  // A line end at the end begins no line.
  return (typeof value === 'string' ? value.replace(/\n$/, '') : JSON.stringify(value)).split('\n');
}

function valueText(value: unknown): string {
  return typeof value === 'string' && /^[\w.@:/ +-]+$/.test(value) ? value : JSON.stringify(value);
}

/** Lines shown of a long text. */
const MAX_LINES = 40;

/** What differs between texts, from the first line that does to the last. */
function lineDifference(before: readonly string[], after: readonly string[]): string[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const lines = [
    ...(start > 0 ? [`  (${counted(start, 'line')} as before)`] : []),
    ...before.slice(start, before.length - end).map((line) => `- ${line}`),
    ...after.slice(start, after.length - end).map((line) => `+ ${line}`),
    ...(end > 0 ? [`  (${counted(end, 'line')} as before)`] : []),
  ];
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `  (${counted(more, 'more line')})`] : lines;
}

/** What is there, as a file: YAML that reads the same after it was made harmless to terminals. */
export function exportText({ configuration, files, elsewhere }: ExportedView): string {
  const document = new Document(configuration);
  visit(document, {
    Scalar: (_, scalar) => {
      // Within double quotes, what is unsafe is escaped, and lines that are all space are kept.
      if (typeof scalar.value === 'string' && (isUnsafe(scalar.value) || scalar.value.trim() === ''))
        scalar.type = 'QUOTE_DOUBLE';
    },
  });
  const text = document
    .toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER })
    // Printing adds it again. What else is at the end may be of a value: line ends, and whatever counts as space.
    .replace(/\n$/, '');
  const secrets =
    files.length === 0
      ? []
      : [
          '# Secrets are not in here. For another server, write them into the files that _file fields name. Where such a',
          '# file is missing, a secret that is there already stays.',
        ];
  const others =
    elsewhere.length === 0
      ? []
      : [
          '# Not in here, because waybill.yaml or the environment has it:',
          ...elsewhere.map((one) => `#   ${one}`),
        ];
  return ['# The configuration, for: waybill plan FILE', ...secrets, ...others, text].join('\n');
}
