import { type CssItem, readCss, withoutImportant } from './css.ts';
import { type Element, type Html, oneBlank, shownTexts } from './html.ts';
import type { Rule } from './rule.ts';

/** What templates are made for, and what a desktop client's narrowest column shows. */
const MAX_WIDTH = 600;
/** Smaller pictures count readers, or keep things apart; nobody looks at them. */
const SPECK = 2;
/** A picture that may be all there is. */
const LARGE_WIDTH = 300;
/** Fewer letters than this beside a large picture say nothing. */
const FEW_LETTERS = 100;

/** Rules on pictures. Their sizes are as the HTML says: nothing is fetched. */
export const IMAGE_RULES: readonly Rule[] = [
  {
    code: 'image-alt',
    severity: 'warning',
    looksAt: 'pictures',
    finds: 'a picture without `alt`',
    *find({ html }) {
      for (const image of imagesIn(html)) {
        const { attributes, line } = image;
        const isDecoration =
          attributes['aria-hidden'] === 'true' || /^(?:none|presentation)$/.test(attributes['role'] ?? '');
        if (Object.hasOwn(attributes, 'alt') || isDecoration || isSpeck(image)) continue;
        yield {
          where: `/html#L${line}`,
          detail: `A picture${namedAs(image)} has no alt: where pictures are blocked, or read aloud, it is missing.`,
          fix: 'Say in alt what it shows; use alt="" if it is only decoration.',
        };
      }
    },
  },
  {
    code: 'image-http',
    severity: 'warning',
    looksAt: 'pictures',
    finds: 'a picture that is loaded over http',
    *find({ html }) {
      for (const { name, attributes, line } of html?.elements ?? []) {
        const source = name === 'img' ? attributes['src'] : attributes['background'];
        if (source === undefined || !/^\s*http:/i.test(source)) continue;
        yield {
          where: `/html#L${line}`,
          detail: `${shortened(source)} is loaded over http: clients may not show it, and others can see and change it.`,
          fix: 'Serve it over https.',
        };
      }
    },
  },
  {
    code: 'image-wide',
    severity: 'hint',
    looksAt: 'pictures',
    finds: `a picture wider than ${MAX_WIDTH} px`,
    *find({ html }) {
      if (html === null || isResponsive(html)) return;
      for (const image of imagesIn(html)) {
        const width = widthOf(image);
        if (width === null || width <= MAX_WIDTH || styleOf(image).some(({ name }) => name === 'max-width'))
          continue;
        yield {
          where: `/html#L${image.line}`,
          detail: `A picture${namedAs(image)} is ${width} px wide; phones, and columns beside a list, show less.`,
          fix: `Give it at most ${MAX_WIDTH} px, or max-width: 100%.`,
        };
      }
    },
  },
  {
    code: 'image-only',
    severity: 'warning',
    looksAt: 'pictures, text of the HTML',
    finds: 'a large picture and hardly any text',
    *find({ html }) {
      const large = [...imagesIn(html)].find((image) => (widthOf(image) ?? 0) >= LARGE_WIDTH);
      if (html === null || html.cut !== null || large === undefined) return;
      const text = shownTexts(html).map((one) => one.text);
      const letters = oneBlank(text.join(' ')).match(/[\p{L}\p{N}]/gu)?.length ?? 0;
      if (letters >= FEW_LETTERS) return;
      yield {
        where: `/html#L${large.line}`,
        detail:
          'The message is mostly a picture: where pictures are blocked it says nothing, and filters distrust it.',
        fix: 'Write what it says as text.',
      };
    },
  },
];

function* imagesIn(html: Html | null): Generator<Element, void> {
  for (const element of html?.elements ?? []) if (element.name === 'img') yield element;
}

function styleOf({ attributes }: Element): CssItem[] {
  return readCss(attributes['style'] ?? '', 'attribute');
}

/** The width in px that the style or the attribute gives; null if neither does so in px. */
function widthOf(image: Element): number | null {
  const style = styleOf(image).findLast(({ name }) => name === 'width')?.value;
  const text = style ?? image.attributes['width']?.trim() ?? '';
  const [, digits] = /^(\d{1,5})(?:\.\d+)?(?:px)?$/.exec(withoutImportant(text)) ?? [];
  return digits === undefined ? null : Number(digits);
}

function isSpeck(image: Element): boolean {
  const height = Number(image.attributes['height'] ?? Number.NaN);
  return (widthOf(image) ?? Number.POSITIVE_INFINITY) <= SPECK || height <= SPECK;
}

/** Whether a style sheet fits pictures to the screen, as most templates do. */
function isResponsive({ texts }: Html): boolean {
  const sheets = texts.filter(({ parent }) => parent?.name === 'style');
  return sheets.some(({ text }) =>
    readCss(text, 'sheet').some(
      ({ name, value }) => name === 'max-width' || (name === 'width' && value.startsWith('100%')),
    ),
  );
}

function namedAs({ attributes }: Element): string {
  const source = attributes['src'] ?? '';
  return source === '' || /^\s*data:/i.test(source) ? '' : ` (${shortened(source)})`;
}

const MAX_SHOWN = 100;

function shortened(url: string): string {
  const text = oneBlank(url);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1)}…`;
}
