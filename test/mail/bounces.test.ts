/** What many servers write when they cannot deliver, as their families of forms in `bounces/` have it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type BounceReading, readBounce } from '../../src/mail/bounce-reading.ts';
import { readReportParts } from '../../src/mail/report-reading.ts';

const FOLDER = join(import.meta.dirname, 'bounces');
/** The forms there are at least: a file that is not read must not go unnoticed. */
const LEAST_FORMS = 100;

interface Form {
  readonly name: string;
  readonly sender: string;
  /** As {@link told} writes it. */
  readonly expected: string;
  readonly message: string;
}

const families = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.txt'))
  .map((file) => ({ file, forms: formsIn(readFileSync(join(FOLDER, file), 'utf8')) }));

function formsIn(text: string): Form[] {
  return text.split(/^=== /m).slice(1).map(formOf);
}

function formOf(section: string): Form {
  const end = section.indexOf('\n---\n');
  const [name = '', ...lines] = section.slice(0, end).split('\n');
  const sender = lines.find((line) => line.startsWith('sender: '))?.slice('sender: '.length) ?? '';
  expect(
    lines.filter((line) => line.startsWith('source: ')),
    name,
  ).toHaveLength(1);
  const expected = lines.filter((line) => /^(?:expect|recipient|returned): /.test(line)).join('\n');
  return { name, sender, expected, message: section.slice(end + '\n---\n'.length) };
}

/** A reading as the forms have it. */
function told(reading: BounceReading, expected: string): string {
  const statuses = 'recipients' in reading ? reading.recipients : [];
  const recipients = statuses.map(
    ({ action, code, enhancedCode, finalRecipient, remoteMta, text }) =>
      `recipient: ${[action, code, enhancedCode, finalRecipient?.address, remoteMta, text].map(shown).join(' | ')}`,
  );
  const { returned } = reading;
  // A form that returns nothing need not say so.
  const isTold = returned !== null || expected.includes('\nreturned:');
  const last = isTold ? [`returned: ${shown(returned?.messageId)} ${shown(returned?.returnPath)}`] : [];
  return [`expect: ${reading.kind}`, ...recipients, ...last].join('\n');
}

function shown(value: string | number | null | undefined): string {
  return value === null || value === undefined || value === '' ? '-' : `${value}`;
}

describe.each(families)('$file', ({ forms }) => {
  test.each(forms)('$name', ({ sender, expected, message }) => {
    for (const end of ['\n', '\r\n']) {
      const bytes = Buffer.from(message.replaceAll('\n', end));
      expect(told(readBounce(readReportParts(bytes), sender), expected)).toBe(expected);
    }
  });
});

test(`there are at least ${LEAST_FORMS} forms`, () => {
  expect(families.flatMap(({ forms }) => forms).length).toBeGreaterThanOrEqual(LEAST_FORMS);
});
