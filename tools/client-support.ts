/**
 * Writes src/preflight/client-support.ts: which mail clients drop which HTML and CSS, from the data of caniemail.com. Of
 * some three hundred features it takes those whose loss breaks a layout or hides something; decoration may be lost.
 * `node tools/client-support.ts FOLDER`: FOLDER is a clone of github.com/hteumeuleu/caniemail.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Where the table lies. */
const TABLE = new URL('../src/preflight/client-support.ts', import.meta.url);

/** The clients that are named, by family and platform. */
const CLIENTS: Readonly<Record<string, readonly [family: string, platform: string]>> = {
  Gmail: ['gmail', 'desktop-webmail'],
  'Gmail (iOS)': ['gmail', 'ios'],
  'Gmail (Android)': ['gmail', 'android'],
  'Outlook (Windows)': ['outlook', 'windows'],
  'Outlook.com': ['outlook', 'outlook-com'],
  'Outlook (macOS)': ['outlook', 'macos'],
  'Outlook (iOS)': ['outlook', 'ios'],
  'Outlook (Android)': ['outlook', 'android'],
  'Apple Mail (macOS)': ['apple-mail', 'macos'],
  'Apple Mail (iOS)': ['apple-mail', 'ios'],
  'Yahoo Mail': ['yahoo', 'desktop-webmail'],
  'Samsung Email': ['samsung-email', 'android'],
  Thunderbird: ['thunderbird', 'macos'],
  'GMX and WEB.DE': ['gmx', 'desktop-webmail'],
};

const KINDS = ['property', 'value', 'function', 'unit', 'at-rule', 'element', 'image'] as const;
type Kind = (typeof KINDS)[number];

/** By caniemail's names: what is looked for. Of a value, `property: value`; of an image, the endings of files. */
// biome-ignore format: a table
const WANTED: readonly (readonly [feature: string, kind: Kind, names: readonly string[]])[] = [
  ['css-display-flex', 'value', ['display: flex', 'display: inline-flex']],
  ['css-display-grid', 'value', ['display: grid', 'display: inline-grid']],
  ['css-gap', 'property', ['gap', 'row-gap', 'column-gap']],
  ['css-grid-template', 'property', ['grid-template', 'grid-template-areas', 'grid-template-columns', 'grid-template-rows']],
  ['css-column-count', 'property', ['column-count']],
  ['css-position', 'value', ['position: absolute', 'position: fixed', 'position: sticky']],
  ['css-float', 'property', ['float']],
  ['css-clip-path', 'property', ['clip-path']],
  ['css-mask-image', 'property', ['mask-image']],
  ['css-filter', 'property', ['filter']],
  ['css-mix-blend-mode', 'property', ['mix-blend-mode']],
  ['css-object-fit', 'property', ['object-fit']],
  ['css-writing-mode', 'property', ['writing-mode']],
  ['css-block-inline-size', 'property', ['block-size', 'inline-size']],
  ['css-margin-inline-block', 'property', ['margin-inline', 'margin-block']],
  ['css-margin-inline-start-end', 'property', ['margin-inline-start', 'margin-inline-end']],
  ['css-margin-block-start-end', 'property', ['margin-block-start', 'margin-block-end']],
  ['css-padding-inline-block', 'property', ['padding-inline', 'padding-block']],
  ['css-padding-inline-start-end', 'property', ['padding-inline-start', 'padding-inline-end']],
  ['css-padding-block-start-end', 'property', ['padding-block-start', 'padding-block-end']],
  ['css-variables', 'function', ['var']],
  ['css-unit-calc', 'function', ['calc']],
  ['css-function-clamp', 'function', ['clamp']],
  ['css-function-max', 'function', ['max']],
  ['css-function-min', 'function', ['min']],
  ['css-function-light-dark', 'function', ['light-dark']],
  ['css-conic-gradient', 'function', ['conic-gradient']],
  ['css-unit-rem', 'unit', ['rem']],
  ['css-unit-vw', 'unit', ['vw']],
  ['css-unit-vh', 'unit', ['vh']],
  ['css-at-import', 'at-rule', ['@import']],
  ['html-audio', 'element', ['audio']],
  ['html-video', 'element', ['video']],
  ['html-svg', 'element', ['svg']],
  ['html-form', 'element', ['form']],
  ['html-select', 'element', ['select']],
  ['html-textarea', 'element', ['textarea']],
  ['html-dialog', 'element', ['dialog']],
  ['html-meter', 'element', ['meter']],
  ['html-progress', 'element', ['progress']],
  ['html-marquee', 'element', ['marquee']],
  ['html-base', 'element', ['base']],
  ['image-base64', 'image', ['data:']],
  ['image-svg', 'image', ['svg']],
  ['image-webp', 'image', ['webp']],
  ['image-avif', 'image', ['avif']],
  ['image-heif', 'image', ['heif', 'heic']],
  ['image-tiff', 'image', ['tif', 'tiff']],
  ['image-bmp', 'image', ['bmp']],
  ['image-ico', 'image', ['ico']],
];

/** Support by the client's version, the oldest first: a record would put `12` before `11.4`. */
type Versions = ReadonlyMap<string, string>;
/** The front matter of a feature's page, as far as it is read: by family and platform. */
type Page = ReadonlyMap<'stats', ReadonlyMap<string, ReadonlyMap<string, Versions>>>;

const folder = process.argv[2];
if (folder === undefined) throw new Error('name the folder of a clone of github.com/hteumeuleu/caniemail');
const dated = execFileSync('git', ['-C', folder, 'log', '-1', '--format=%cs %h'], { encoding: 'utf8' });
const [date = '', commit = ''] = dated.trim().split(' ');
const licence = readFileSync(join(folder, 'LICENSE'), 'utf8').trim();
writeFileSync(TABLE, tableOf(folder));

function tableOf(clone: string): string {
  const rows = WANTED.flatMap(([feature, kind, names]) => {
    const drops = clientsWithout(pageOf(clone, feature));
    if (drops.length === 0) return [];
    return `  { feature: '${feature}', kind: '${kind}', names: ${listOf(names)}, droppedBy: ${listOf(drops)} },\n`;
  });
  return `/**
 * Which mail clients drop which HTML and CSS. Generated by \`node tools/client-support.ts\` from the data of
 * caniemail.com (github.com/hteumeuleu/caniemail, ${commit}, ${date}), whose licence is:
 *
${licence
  .split('\n')
  .map((line) => ` * ${line}`.trimEnd())
  .join('\n')}
 */

/** HTML or CSS that some clients drop. */
export interface Feature {
  /** Its page: https://www.caniemail.com/features/<feature>/ */
  readonly feature: string;
  readonly kind: ${KINDS.map((kind) => `'${kind}'`).join(' | ')};
  /** Of a value, \`property: value\`; of an image, the endings of files, or \`data:\`. */
  readonly names: readonly string[];
  readonly droppedBy: readonly string[];
}

/** The day of the data. */
export const SUPPORT_DATE = '${date}';

/** See {@link Feature}. */
// biome-ignore format: a table
export const FEATURES: readonly Feature[] = [
${rows.join('')}];
`;
}

/** The front matter: flow mappings whose lines are not all indented, as YAML wants them. */
function pageOf(clone: string, feature: string): Page {
  const [, matter = ''] = readFileSync(join(clone, '_features', `${feature}.md`), 'utf8').split(/^---\s*$/m);
  const indented = matter.replaceAll('\t', '  ').replace(/^(?![a-z_]+:)/gm, '  ');
  return parse(indented, { uniqueKeys: false, mapAsMap: true, schema: 'failsafe' });
}

/** The clients whose newest version does not know it. What is known in part (\`a\`) counts as known. */
function clientsWithout(page: Page): string[] {
  return Object.entries(CLIENTS).flatMap(([name, [family, platform]]) => {
    const newest = [...(page.get('stats')?.get(family)?.get(platform)?.values() ?? [])].at(-1);
    return newest !== undefined && /^n\b/.test(newest) ? [name] : [];
  });
}

function listOf(texts: readonly string[]): string {
  return `[${texts.map((text) => `'${text}'`).join(', ')}]`;
}
