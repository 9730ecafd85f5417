import type { Rule } from './rule.ts';

/** Longer subjects are cut by phones and by most lists. */
const MAX_SUBJECT = 70;
/** Fewer capitals may be an abbreviation. */
const SHOUTED_LETTERS = 12;

/** Rules on the header. */
const HEADER_RULES: readonly Rule[] = [
  {
    code: 'subject-empty',
    severity: 'warning',
    looksAt: 'Subject',
    finds: 'is missing or empty',
    *find({ subject }) {
      if (subject.trim() !== '') return;
      const fix = 'Say in a few words what the message is about.';
      yield { where: '/subject', detail: 'The subject is empty.', fix };
    },
  },
  {
    code: 'subject-shouted',
    severity: 'hint',
    looksAt: 'Subject',
    finds: 'has capitals only',
    *find({ subject }) {
      const letters = subject.match(/\p{L}/gu) ?? [];
      const capitals = letters.filter((letter) => letter !== letter.toLowerCase());
      // Only words count that are no abbreviation: of more than four letters.
      const words = subject.match(/\p{L}{5,}/gu) ?? [];
      if (capitals.length < SHOUTED_LETTERS || words.length < 2) return;
      if (!letters.every((letter) => letter === letter.toUpperCase())) return;
      const fix = 'Write it as a sentence, with a capital where one belongs.';
      yield { where: '/subject', detail: 'The subject is all in capitals.', fix };
    },
  },
  {
    code: 'subject-long',
    severity: 'hint',
    looksAt: 'Subject',
    finds: `has over ${MAX_SUBJECT} characters`,
    *find({ subject }) {
      const length = [...subject.trim()].length;
      if (length <= MAX_SUBJECT) return;
      const detail = `The subject has ${length} characters; most clients show fewer than ${MAX_SUBJECT}.`;
      yield { where: '/subject', detail, fix: 'Shorten it, or put what matters first.' };
    },
  },
];

/** Gmail shows the first 102 KB of the HTML, and a link to the rest. */
const GMAIL_CLIPS_AT = 102 * 1024;

/** Rules on the text and the HTML as a whole. */
const BODY_RULES: readonly Rule[] = [
  {
    code: 'gmail-clipping',
    severity: 'warning',
    looksAt: 'HTML',
    finds: 'is so large that Gmail cuts it off',
    *find({ htmlBytes }) {
      if (htmlBytes <= GMAIL_CLIPS_AT) return;
      const detail = `The HTML has ${kilobytes(htmlBytes)}; Gmail cuts it off after 102 KB, and hides the rest behind a link.`;
      const fix = 'Shorten it: move styles that repeat into one place, leave out comments and unused rules.';
      yield { where: '/html', detail, fix };
    },
  },
  {
    code: 'text-missing',
    severity: 'warning',
    looksAt: 'text',
    finds: 'is missing beside HTML',
    *find({ text, html }) {
      if (html === null || (text !== null && text.trim() !== '')) return;
      const fix = 'Send the same as text, too.';
      yield { where: '/text', detail: 'There is HTML, but no text for those who do not show HTML.', fix };
    },
  },
];

function kilobytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KB`;
}

/** Every rule, in the order of the pages. */
export const RULES: readonly Rule[] = [...HEADER_RULES, ...BODY_RULES];
