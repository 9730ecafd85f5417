import { type Html, oneBlank, shownTexts } from './html.ts';
import { linksOf, ownerOf, urlsIn, webAddress } from './links.ts';
import type { Mail } from './mail.ts';
import type { Rule } from './rule.ts';

/** Owners of links that only the text has, and hosts of each that are looked for: the HTML is searched for each. */
const MAX_OTHERS = 20;
const MAX_HOSTS = 5;

/** Rules that compare the text and the HTML of a message. */
export const TEXT_RULES: readonly Rule[] = [
  {
    code: 'text-missing',
    severity: 'warning',
    looksAt: 'text',
    finds: 'HTML without text',
    *find({ text, html }) {
      if (html === null || (text !== null && text.trim() !== '')) return;
      const fix = 'Send the same content as text, too.';
      yield {
        where: '/text',
        detail: 'There is HTML, but no text for readers whose clients do not show HTML.',
        fix,
      };
    },
  },
  {
    code: 'text-links',
    severity: 'warning',
    looksAt: 'text, HTML',
    finds: 'links that differ between the two',
    *find(mail) {
      const both = bothOf(mail);
      if (both === null) return;
      const { text, html } = both;
      const inText = urlsIn(text);
      const inHtml = linksOf(html).flatMap(({ href }) => webAddress(href) ?? []);
      const shown = shownText(html);
      const owners = new Set([...inHtml, ...urlsIn(shown)].map(ownerOf));
      const others = [...Map.groupBy(inText, ownerOf)].filter(([owner]) => !owners.has(owner));
      const lost = others
        .slice(0, MAX_OTHERS)
        .filter(([, urls]) => !urls.slice(0, MAX_HOSTS).some(({ hostname }) => shown.includes(hostname)));
      for (const [owner] of lost)
        yield {
          where: '/text',
          detail: `The text links to ${owner}; the HTML does not.`,
          fix: 'Make both link to the same places.',
        };
      const personal = inHtml.find(isPersonal);
      if (inText.length > 0 || personal === undefined) return;
      yield {
        where: '/text',
        detail: `The HTML has a link for this reader (${personal.hostname}); the text has no link at all.`,
        fix: 'Write the address of the link into the text, too.',
      };
    },
  },
  {
    code: 'text-amounts',
    severity: 'warning',
    looksAt: 'text, HTML',
    finds: 'amounts of money that differ between the two',
    *find(mail) {
      const both = bothOf(mail);
      if (both === null) return;
      const shown = shownText(both.html);
      if (amountsIn(shown).length === 0) return;
      const known = numbersIn(shown);
      if (known === null) return;
      const others = amountsIn(both.text).filter(({ cents }) => !cents.some((one) => known.has(one)));
      for (const amount of new Set(others.map(({ written }) => written)))
        yield {
          where: '/text',
          detail: `The text says ${amount}; the HTML does not.`,
          fix: 'Make both from the same values.',
        };
    },
  },
];

/** Text and HTML of a message that has both, and whose HTML was read to its end. */
function bothOf({ text, html }: Mail): { readonly text: string; readonly html: Html } | null {
  if (text === null || text.trim() === '' || html === null || html.cut !== null) return null;
  return { text, html };
}

/** All that the HTML says, also where pictures are not shown. */
function shownText(html: Html): string {
  const alts = html.elements.flatMap(({ attributes }) => attributes['alt'] ?? []);
  return oneBlank([...shownTexts(html).map(({ text }) => text), ...alts].join(' '));
}

/** Such as the link that resets a password: somewhere in its path or query there is something long and random. */
const PERSONAL_LENGTH = 16;

function isPersonal({ pathname, searchParams }: URL): boolean {
  const pieces = [...pathname.split('/'), ...searchParams.values()];
  return pieces.some((piece) => piece.length >= PERSONAL_LENGTH && /\d/.test(piece) && /[a-z]/i.test(piece));
}

// Amounts of money: numbers beside the sign or the code of a currency (ISO 4217).

/** Characters that are searched. */
const MAX_SEARCHED = 512 * 1024;
/** Numbers that are looked at. */
const MAX_NUMBERS = 5_000;
/** A blank before three digits keeps thousands apart, as in `1 234,50 €`. */
const NUMBER = /\d(?:[\d.,'’]|[ \xa0\u202f](?=\d{3}(?!\d))){0,30}/g;
const BLANK = /[ \xa0\u202f]/;
const CURRENCY =
  '[$€£¥₹₽₩₺]|\\b(?:USD|EUR|GBP|CHF|CAD|AUD|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR)\\b';
const BEFORE = new RegExp(`(?:${CURRENCY})\\s?$`);
const BEHIND = new RegExp(`^\\s?(?:${CURRENCY})`);
/** Characters around a number in which a currency may stand. */
const NEAR = 6;

interface Amount {
  /** Of the whole, and of each part where a blank may keep thousands apart, or only stand between two numbers. */
  readonly cents: readonly number[];
  readonly written: string;
}

function amountsIn(text: string): Amount[] {
  return [...numbersOf(text)].flatMap(({ digits, at }) => {
    const end = at + digits.length;
    const before = text.slice(Math.max(0, at - NEAR), at);
    const behind = text.slice(end, end + NEAR);
    const [sign] = BEFORE.exec(before) ?? [];
    const [unit] = sign === undefined ? (BEHIND.exec(behind) ?? []) : [];
    if (sign === undefined && unit === undefined) return [];
    return [
      {
        cents: [digits, ...digits.split(BLANK)].map(centsOf),
        written: `${sign ?? ''}${digits}${unit ?? ''}`.trim(),
      },
    ];
  });
}

/**
 * Every number of a text, in hundredths; also two that are one, where cents are set apart: `$12` and a small `99`, or
 * where a blank between them may keep thousands apart. Null: there are too many.
 */
function numbersIn(text: string): ReadonlySet<number> | null {
  if (text.length > MAX_SEARCHED) return null;
  const found = new Set<number>();
  let last: number | null = null;
  let count = 0;
  for (const { digits } of numbersOf(text)) {
    if (++count >= MAX_NUMBERS) return null;
    const cents = centsOf(digits);
    found.add(cents);
    for (const piece of digits.split(BLANK)) found.add(centsOf(piece));
    if (last !== null && digits.length === 2) found.add(last + Number(digits));
    last = cents;
  }
  return found;
}

function* numbersOf(text: string): Generator<{ readonly digits: string; readonly at: number }, void> {
  let count = 0;
  for (const match of text.slice(0, MAX_SEARCHED).matchAll(NUMBER)) {
    if (++count > MAX_NUMBERS) return;
    yield { digits: match[0].replace(/[.,'’]{1,31}$/, ''), at: match.index };
  }
}

/** In hundredths: the last comma or point before one or two digits is the decimal one. */
function centsOf(digits: string): number {
  const [, whole = digits, fraction = ''] = /^(.*)[.,](\d{1,2})$/.exec(digits) ?? [];
  return Number(whole.replace(/\D/g, '')) * 100 + Number(fraction.padEnd(2, '0'));
}
