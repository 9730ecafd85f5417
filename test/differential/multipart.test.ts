import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JUDGED, type JudgedForm, tell } from './multipart-cases.ts';
import { JUDGED_REFUSALS, JUDGED_TEXTS } from './multipart-explained.ts';
import { damaged, wellFormed } from './multipart-forms.ts';
import { type Reading, type ReadPart, readBusboy, readFastifyBusboy, readOurs } from './multipart-readers.ts';

/** Our multipart parser beside two others: every disagreement is judged, and none is new. */

const OTHERS = [
  ['busboy', readBusboy],
  ['@fastify/busboy', readFastifyBusboy],
] as const;

test.each(OTHERS)('%s reads well-formed forms as we do', (_, readTheirs) =>
  fc.assert(
    fc.asyncProperty(wellFormed, async (form) => {
      const ours = readOurs(form);
      expect(ours).toHaveProperty('parts');
      expect(await readTheirs(form)).toEqual(ours);
    }),
    { numRuns: 3000 },
  ),
);

describe('a judged disagreement', () => {
  test.each(JUDGED)('$what', async ({ form, ours, busboy, fastify }) => {
    const bytes = Buffer.from(form, 'latin1');
    expect({
      ours: tell(readOurs(bytes)),
      busboy: tell(await readBusboy(bytes)),
      fastify: tell(await readFastifyBusboy(bytes)),
    }).toEqual({ ours, busboy, fastify });
  });

  test('is in the decision record, word for word', async () => {
    const path = new URL('../../docs/decisions/0003-multipart-disagreements.md', import.meta.url);
    const record = await readFile(path, 'utf8');
    const rows = record.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Form'));
    expect(rows).toEqual(JUDGED.map(recordRow));
  });
});

function recordRow({ what, ours, busboy, fastify, verdict, right }: JudgedForm): string {
  const told = [ours, busboy, fastify].map((outcome) => `\`${outcome}\``);
  return `| ${[what, ...told, verdict, right].join(' | ')} |`;
}

/** The same forms in every run: a new disagreement is judged by whoever changes a parser, not by whom it strikes. */
const SEED = 20_261_121;

test.each(OTHERS)('%s disagrees with us about damaged forms only where that was judged', (_, readTheirs) =>
  fc.assert(
    fc.asyncProperty(damaged, async (form) => {
      const ours = readOurs(form);
      const theirs = await readTheirs(form);
      if (agree(ours, theirs)) return;
      if ('refused' in ours) {
        const { refused } = ours;
        expect(
          JUDGED_REFUSALS.filter((reason) => reason.test(refused)),
          refused,
        ).not.toHaveLength(0);
      } else if (!agree(canonical(ours), canonical(theirs))) {
        const text = form.toString('latin1');
        expect(
          JUDGED_TEXTS.filter((judged) => judged.test(text)),
          text,
        ).not.toHaveLength(0);
      }
    }),
    { numRuns: 10_000, seed: SEED },
  ),
);

function agree(one: Reading, other: Reading): boolean {
  if ('refused' in one || 'refused' in other) return 'refused' in one && 'refused' in other;
  return JSON.stringify(one.parts) === JSON.stringify(other.parts);
}

/** A reading told so that judged differences of a part do not show. */
function canonical(reading: Reading): Reading {
  return 'refused' in reading ? reading : { parts: reading.parts.map(canonicalPart) };
}

function canonicalPart({ name, filename, type, body }: ReadPart): ReadPart {
  const isEmptyFile = filename === '' || (filename === null && type === 'application/octet-stream');
  const told = filename === null || isEmptyFile ? null : unescaped(filename);
  return { name: unescaped(name ?? ''), filename: told, type, body };
}

function unescaped(text: string): string {
  return text.replace(/%(22|0d|0a)/gi, (escaped) => decodeURIComponent(escaped));
}
