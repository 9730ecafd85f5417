import { z } from 'zod';
import { BOX_RULE, isBox } from '../../../domain/box.ts';
import type { ApiKey } from '../../../domain/key.ts';
import { Problem } from '../../../http/problem.ts';
import { FILTER_PARAMETERS, LIST_PARAMETERS, listFilter } from '../list.ts';
import { asBoolean, type ParameterValues } from '../query.ts';
import type { CapturedFilter } from './captured-mail.ts';

/** How requests ask for captured mail. */

const MAX_TEXT = 500;
const MAX_WORDS = 20;

const { tag, to, from, subject, since, until } = FILTER_PARAMETERS;

const textSchema = z
  .string()
  .max(MAX_TEXT)
  .transform((text, context) => {
    const words = text
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    if (words.length > 0 && words.length <= MAX_WORDS) return words;
    context.issues.push({ code: 'custom', input: text, message: 'not words' });
    return z.NEVER;
  });

/** The box that a request asks for. */
// biome-ignore format: a table
export const BOX_PARAMETER = {
  box: { schema: z.string().refine(isBox).meta({ pattern: '^[a-z0-9._-]{1,64}$' }).optional(), code: 'box', rule: BOX_RULE, meaning: 'Only messages in this box.', example: 'worker-1' },
};

/** Filters of captured mail. */
// biome-ignore format: a table
export const CAPTURED_FILTERS = {
  to, from, subject, tag,
  text: { schema: textSchema.optional(), code: 'words', rule: `1 to ${MAX_WORDS} words, at most ${MAX_TEXT} characters in total`, meaning: 'Only messages that contain these words, in any order, in their text, or in the HTML if there is no text (case-insensitive).', example: 'your code' },
  ...BOX_PARAMETER,
  has: { schema: z.literal('attachment').optional(), code: 'has', rule: 'attachment', meaning: '`attachment`: only messages with a file that is not shown within the text.', example: 'attachment' },
  since, until,
};

const { limit, cursor } = LIST_PARAMETERS;

/** The parameters of the list. */
// biome-ignore format: a table
export const CAPTURED_LIST_PARAMETERS = { limit, ...CAPTURED_FILTERS, cursor };

/** The parameters of removing many. */
// biome-ignore format: a table
export const CAPTURED_REMOVAL_PARAMETERS = {
  ...CAPTURED_FILTERS,
  all: { schema: z.boolean().default(false), fromText: asBoolean, code: 'type', rule: 'true or false', meaning: '`true`: all captured messages of the key. Without it, a filter is needed.', example: 'true' },
};

/** The filter of what the parameters say. */
export function capturedFilter(values: Partial<ParameterValues<typeof CAPTURED_FILTERS>>): CapturedFilter {
  return {
    ...listFilter(values),
    box: values.box ?? null,
    text: values.text ?? [],
    hasAttachment: values.has !== undefined,
  };
}

/** The content of a test key's mail is meant for the tester; that of other mail needs its scope. Throws 403. */
export function requireContent({ mode, scopes }: ApiKey): void {
  if (mode === 'test' || scopes.includes('messages:content')) return;
  throw new Problem(
    403,
    'scope_missing',
    'Only test keys, and keys with the scope messages:content, may read captured mail.',
  );
}
