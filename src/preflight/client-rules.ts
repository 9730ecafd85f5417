import { FEATURES, type Feature } from './client-support.ts';
import { type CssItem, readCss, withoutImportant } from './css.ts';
import type { Html } from './html.ts';
import type { Found, Rule } from './rule.ts';

/** Rules on HTML and CSS that some clients drop, each told of once a message: where it comes first. */
export const CLIENT_RULES: readonly Rule[] = [
  {
    code: 'css-support',
    severity: 'hint',
    looksAt: 'CSS',
    finds: 'CSS that some clients drop, and that a layout may depend on',
    *find({ html }) {
      if (html === null) return;
      const told = new Set<Feature>();
      for (const { item, line } of cssIn(html))
        for (const feature of featuresIn(item)) {
          if (told.has(feature)) continue;
          told.add(feature);
          yield foundIn(feature, nameIn(feature, item), line);
        }
    },
  },
  {
    code: 'html-support',
    severity: 'hint',
    looksAt: 'HTML',
    finds: 'elements that some clients drop',
    *find({ html }) {
      const told = new Set<Feature>();
      for (const { name, line, isShown } of html?.elements ?? []) {
        const feature = ELEMENTS.get(name);
        if (feature === undefined || told.has(feature) || !isShown) continue;
        told.add(feature);
        yield foundIn(feature, `<${name}>`, line);
      }
    },
  },
  {
    code: 'image-format',
    severity: 'hint',
    looksAt: 'pictures',
    finds: 'a format that some clients do not show',
    *find({ html }) {
      const told = new Set<Feature>();
      for (const { source, line } of pictures(html)) {
        const format = formatOf(source);
        const feature = IMAGES.get(format);
        if (feature === undefined || told.has(feature)) continue;
        told.add(feature);
        yield foundIn(feature, `A picture of the format ${format}`, line);
      }
    },
  },
  {
    code: 'image-data',
    severity: 'warning',
    looksAt: 'pictures',
    finds: 'a picture written into the HTML itself (`data:`)',
    *find({ html }) {
      const feature = IMAGES.get('data:');
      if (feature === undefined) return;
      for (const { source, line } of pictures(html))
        if (isData(source))
          yield {
            ...foundIn(feature, 'A picture in the HTML itself (data:)', line),
            fix: 'Attach it with a contentId and refer to it by cid:, or load it over https.',
          };
    },
  },
];

const ELEMENTS = byName('element');
const IMAGES = byName('image');
const PROPERTIES = byName('property');
const VALUES = byName('value');
const FUNCTIONS = byName('function');
const UNITS = byName('unit');
const AT_RULES = byName('at-rule');

const FUNCTION = /(?<![\w-])([a-z-]{1,30})\(/g;
const UNIT = /(?<![\w#-])[\d.]{1,20}([a-z]{1,5})\b/g;

function byName(kind: Feature['kind']): ReadonlyMap<string, Feature> {
  return new Map(
    FEATURES.filter((feature) => feature.kind === kind).flatMap((feature) =>
      feature.names.map((name) => [name, feature]),
    ),
  );
}

/** What holds for every client: what stands in `@media` and the like is for those that know it. */
function* cssIn({
  elements,
  texts,
}: Html): Generator<{ readonly item: CssItem; readonly line: number }, void> {
  for (const { text, line, parent } of texts) {
    if (parent?.name !== 'style') continue;
    for (const item of readCss(text, 'sheet'))
      if (!item.isConditional) yield { item, line: line + item.line };
  }
  for (const { attributes, line } of elements)
    if (attributes['style'] !== undefined)
      for (const item of readCss(attributes['style'], 'attribute')) yield { item, line };
}

function featuresIn({ name, value }: CssItem): Feature[] {
  const plain = withoutImportant(value);
  const used = [
    PROPERTIES.get(name),
    AT_RULES.get(name),
    VALUES.get(`${name}: ${plain}`),
    ...[...value.matchAll(FUNCTION)].map(([, called = '']) => FUNCTIONS.get(called)),
    ...[...value.matchAll(UNIT)].map(([, unit = '']) => UNITS.get(unit)),
  ];
  return used.filter((feature) => feature !== undefined);
}

/** How the message writes a feature. */
function nameIn({ kind, names: [first = ''] }: Feature, { name, value }: CssItem): string {
  switch (kind) {
    case 'value':
      return `${name}: ${value}`;
    case 'function':
      return `${first}()`;
    case 'unit':
      return `The unit ${first}`;
    default:
      return name;
  }
}

function* pictures(html: Html | null): Generator<{ readonly source: string; readonly line: number }, void> {
  for (const { name, attributes, line } of html?.elements ?? [])
    if (name === 'img') yield { source: attributes['src'] ?? '', line };
}

function isData(source: string): boolean {
  return /^\s*data:/i.test(source);
}

/** The ending of a picture's name, in lower case; empty for what has none. */
function formatOf(source: string): string {
  if (isData(source)) return '';
  const [path = ''] = source.split(/[?#]/, 1);
  return path
    .slice(path.lastIndexOf('.') + 1)
    .trim()
    .toLowerCase();
}

function foundIn({ feature, droppedBy }: Feature, what: string, line: number): Found {
  return {
    where: `/html#L${line}`,
    detail: `${what}: not supported by ${droppedBy.join(', ')}.`,
    fix: `See that the message works without it there: https://www.caniemail.com/features/${feature}/`,
  };
}
