import type { ResultOf } from '../../../src/operations/table.ts';
import { plural } from '../format.ts';

/** What preflight found, in words and in order. */

/** Something that a message should not have, or lacks. Its texts may quote the message. */
export type Finding = ResultOf<'preflight'>['findings'][number];
type Severity = Finding['severity'];

/** What the severities are called, the worst first, and what they mean. */
export const SEVERITIES: readonly (readonly [Severity, { readonly name: string; readonly means: string }])[] =
  [
    ['error', { name: 'Errors', means: 'It will fail, or arrive broken.' }],
    ['warning', { name: 'Warnings', means: 'Many people will not get it, or not as intended.' }],
    ['hint', { name: 'Hints', means: 'Some people will not see it as intended.' }],
  ];

const PARTS: Readonly<Record<string, string>> = {
  '': 'The whole message',
  '/subject': 'Subject',
  '/html': 'HTML',
  '/text': 'Text',
  '/from': 'From',
  '/to': 'To',
  '/headers': 'Headers',
};

/** A place in a message. */
export interface Place {
  /** In words, such as `HTML, line 12`. */
  readonly words: string;
  /** The JSON pointer, or the name of the field of the header, without the line. */
  readonly part: string;
  readonly line: number | null;
}

/** Reads where a finding is: `/html#L12`, `/attachments/0`, `header:Reply-To`; empty for the whole message. */
export function placeOf(where: string): Place {
  const [, part = '', digits] = /^([^#]*)(?:#L(\d{1,9}))?/.exec(where) ?? [];
  const line = digits === undefined ? null : Number(digits);
  const named = PARTS[part] ?? otherPart(part);
  return { words: line === null ? named : `${named}, line ${line}`, part, line };
}

function otherPart(part: string): string {
  const [, attachment] = /^\/attachments\/(\d+)$/.exec(part) ?? [];
  if (attachment !== undefined) return `Attachment ${Number(attachment) + 1}`;
  return part.startsWith('header:') ? `${part.slice('header:'.length)} (header)` : part;
}

/** How many there are of each severity, as a sentence's part: `1 error, 2 hints`. */
export function countWords(findings: readonly Finding[]): string {
  return SEVERITIES.map(([severity]) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return count === 0 ? '' : plural(count, severity);
  })
    .filter((words) => words !== '')
    .join(', ');
}
