import type { TemplateTexts, TemplateValues } from '../../../../domain/template.ts';
import type { FieldFault } from '../../../../http/problem.ts';
import { inSlices } from '../../../../lib/clock.ts';
import { type Compilation, compileTemplate } from '../../../../templates/compile.ts';
import { MAX_STEPS } from '../../../../templates/language.ts';
import { renderTemplate } from '../../../../templates/render.ts';
import { messageTooLarge } from '../../read-fields.ts';
import { valuesIn } from '../../templating.ts';
import type { Template } from './fields.ts';

/** SES's inline templates, in the language of stored ones; their faults are told as SES tells them. */

/** Reads the JSON text with a template's values; what is wrong with it is added to `faults`. */
export function readTemplateData(
  text: string | null | undefined,
  pointer: string,
  faults: FieldFault[],
): TemplateValues {
  if (!text) return {};
  const read = valuesIn(text);
  if ('values' in read) return read.values;
  faults.push({ pointer, code: read.code, detail: read.detail });
  return {};
}

/** A template that is given with the message. */
type InlineTemplate = NonNullable<Template['TemplateContent']>;

/** Inline templates that have been read: the messages of a request share theirs. */
const READ = new WeakMap<object, Compilation>();

/** How the texts of one message are rendered. */
export interface Rendering {
  readonly values: TemplateValues;
  /** Where the request has each text. */
  readonly places: Readonly<Record<keyof TemplateTexts, string>>;
  /** Names without a value, and what the language does not have, are added to it. */
  readonly faults: FieldFault[];
  readonly maxMessageBytes: number;
}

/**
 * What the texts say with these values. Throws the problem 413 once they are more than a message may have: a short
 * template may name a long value very often.
 */
export async function renderInline(
  content: InlineTemplate,
  { values, places, faults, maxMessageBytes }: Rendering,
): Promise<TemplateTexts> {
  const compilation = READ.get(content) ?? compileTemplate(textsOf(content));
  READ.set(content, compilation);
  const { template, faults: wrong } = compilation;
  for (const { field, line, detail } of wrong)
    faults.push({ pointer: places[field], code: 'not_supported', detail: `Line ${line}: ${detail}` });
  const bounds = { maxOutput: maxMessageBytes, maxSteps: MAX_STEPS };
  const rendered = await inSlices(renderTemplate({ ...template, textOfHtml: false }, values, bounds));
  for (const { name, field } of rendered.missing)
    faults.push({
      pointer: places[field],
      code: 'required',
      detail: `Attribute '${name}' is not present in the rendering data.`,
    });
  for (const { field, code, line, detail } of rendered.faults) {
    if (code === 'template_limit') throw messageTooLarge(maxMessageBytes + 1, maxMessageBytes);
    faults.push({ pointer: places[field], code, detail: `Line ${line}: ${detail}` });
  }
  const { subject, text, html } = rendered.texts;
  return { subject: subject ?? '', text, html };
}

function textsOf({ Subject, Text, Html }: InlineTemplate): TemplateTexts {
  return { subject: Subject ?? '', text: Text || null, html: Html || null };
}
