import { organizationalDomain } from '../lib/organizational-domain.ts';
import { type Html, shownBlocks } from './html.ts';
import { ownerOf, webAddress } from './links.ts';
import { type Mail, mailboxesIn } from './mail.ts';
import type { Rule } from './rule.ts';

/** Gmail shows the first 102 KB of the HTML, and a link to the rest. */
const GMAIL_CLIPS_AT = 102 * 1024;

/** What templates of many kinds leave behind where nobody fills them in. Each is bounded, and tried once a character. */
const PLACEHOLDERS: readonly RegExp[] = [
  // Mustache, Handlebars, Liquid, Jinja, SendGrid, Postmark; `${{ }}` is what build systems write.
  /(?<!\$)\{\{[^{}\n]{1,100}\}\}/g,
  /\{%[^%\n]{1,100}%\}/g,
  // ERB, EJS
  /<%[=-]?[^%\n]{1,100}%>/g,
  // JavaScript
  /\$\{[A-Za-z_][\w.$()[\]'"-]{0,80}\}/g,
  /\[object Object\]/g,
  /\bInvalid Date\b/g,
  // Mailchimp
  /\*\|[A-Z0-9_:]{1,60}\|\*/g,
  // Mailgun, and our own %unsubscribe_url%: by name, for percent-encoded URLs have the same form.
  /%(?:recipient|(?:tag_|mailing_list_)?unsubscribe)[._][A-Za-z0-9._-]{1,60}%/g,
];

/** A greeting without a name. Blanks are named one by one: what else counts as one may also begin a line. */
const GREETING = String.raw`[ \t\xa0]{0,200}\p{L}{2,20}(?: \p{L}{1,20}\.?)? (?:undefined|null|NaN)[,!:][ \t\xa0]{0,200}`;
/** In plain text it is a paragraph of its own; anything else may be a line of a sentence that was wrapped. */
const GREETING_OF_TEXT = new RegExp(
  String.raw`(?<=^|\n[ \t]{0,200}\r?\n)${GREETING}(?=\r?\n[ \t]{0,200}\r?\n|\s?$)`,
  'gu',
);
/** In HTML every line was meant as one. */
const GREETING_OF_HTML = new RegExp(`(?<=^|\\n)${GREETING}(?=\\n|$)`, 'gu');

/** A value that was none, where a value belongs: in a number or an amount. */
const NO_VALUE: readonly RegExp[] = [/[#$€£](?:undefined|null|NaN)\b/g, /\bNaN ?[€$£%]/g];
/** The same where it is all that there is. */
const ALONE = /^\s*(?:undefined|NaN)\s*$/;
/** The same in the address of a link or picture. */
const NO_VALUE_IN_URL = /=(?:undefined|NaN|\[object(?: |%20)Object\])(?=[&#]|$)|\{\{|%7B%7B/;
/** And in its path; there is a page on `undefined` somewhere, but hardly one of the author's. */
const NO_VALUE_IN_PATH = /\/(?:undefined|NaN)(?=\/|$)/;

/** Characters of a text that are searched. */
const MAX_SEARCHED = 512 * 1024;
const MAX_URL = 4_096;
const MAX_SHOWN = 60;

/** Rules on what is said, and how much of it. */
export const CONTENT_RULES: readonly Rule[] = [
  {
    code: 'placeholder',
    severity: 'error',
    looksAt: 'subject, text, HTML',
    finds: 'a placeholder that nobody filled in',
    *find(mail) {
      for (const { where, text } of places(mail))
        yield {
          where,
          detail: `"${text}" stands where a value belongs.`,
          fix: 'Give the value, or refuse to send without it.',
        };
    },
  },
  {
    code: 'gmail-clipping',
    severity: 'warning',
    looksAt: 'HTML',
    finds: 'so much that Gmail clips the message',
    *find({ htmlBytes }) {
      if (htmlBytes <= GMAIL_CLIPS_AT) return;
      const kilobytes = Math.ceil(htmlBytes / 1024);
      const detail = `The HTML has ${kilobytes} KB; Gmail clips it after 102 KB, and hides the rest behind a link.`;
      const fix = 'Shorten it: leave out comments and unused styles, and move repeated styles into one rule.';
      yield { where: '/html', detail, fix };
    },
  },
  {
    code: 'html-unread',
    severity: 'hint',
    looksAt: 'HTML',
    finds: 'more than is checked',
    *find({ html }) {
      if (html === null || html.cut === null) return;
      const why = { length: 'is too long', elements: 'has too many elements', depth: 'is nested too deeply' };
      const detail = `The HTML ${why[html.cut]}: only its beginning was checked.`;
      yield { where: '/html', detail, fix: 'Make it smaller and simpler; clients have such limits, too.' };
    },
  },
];

function* places(mail: Mail): Generator<{ readonly where: string; readonly text: string }, void> {
  const { subject, text, html } = mail;
  for (const { text: found } of placeholdersIn(subject, GREETING_OF_TEXT))
    yield { where: '/subject', text: found };
  for (const { text: found, line } of placeholdersIn(text ?? '', GREETING_OF_TEXT))
    yield { where: `/text#L${line}`, text: found };
  if (html === null) return;
  for (const { text: block, lineAt } of shownBlocks(html)) {
    if (ALONE.test(block)) yield { where: `/html#L${lineAt(0)}`, text: block.trim() };
    for (const { text: found, at } of placeholdersIn(block, GREETING_OF_HTML))
      yield { where: `/html#L${lineAt(at)}`, text: found };
  }
  const [author] = mailboxesIn(mail, 'from');
  for (const { url, line } of addressesIn(html))
    if (NO_VALUE_IN_URL.test(url) || hasNoValueInPath(url, author?.domain))
      yield { where: `/html#L${line}`, text: shortened(url) };
}

/** What links lead to, and pictures are loaded from. */
function addressesIn(html: Html): { readonly url: string; readonly line: number }[] {
  return html.elements.flatMap(({ name, attributes, line }) => {
    const url = attributes[name === 'img' ? 'src' : 'href'];
    return url === undefined || url.length > MAX_URL ? [] : [{ url: url.trim(), line }];
  });
}

function hasNoValueInPath(text: string, author: string | undefined): boolean {
  const url = webAddress(text);
  if (url === null || author === undefined || !NO_VALUE_IN_PATH.test(url.pathname)) return false;
  return ownerOf(url) === organizationalDomain(author);
}

interface Placeholder {
  readonly text: string;
  readonly at: number;
  readonly line: number;
}

function* placeholdersIn(given: string, greeting: RegExp): Generator<Placeholder, void> {
  const text = given.slice(0, MAX_SEARCHED);
  for (const pattern of [...PLACEHOLDERS, greeting, ...NO_VALUE]) {
    let line = 1;
    let counted = 0;
    // Between two backticks of a line, as programmers write it in text.
    let isCode = false;
    for (const match of text.matchAll(pattern)) {
      for (; counted < match.index; counted++) {
        if (text[counted] === '\n') {
          line++;
          isCode = false;
        } else if (text[counted] === '`') isCode = !isCode;
      }
      if (isCode) continue;
      yield { text: shortened(match[0].trim()), at: match.index, line };
    }
  }
}

function shortened(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1)}…`;
}
