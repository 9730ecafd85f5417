import { z } from 'zod';
import type { FieldFault } from '../../../../http/problem.ts';
import { decodeJson } from '../../../../lib/decode.ts';
import { messageTooLarge } from '../../read-fields.ts';
import { escapeHtml } from '../../unsubscribe-page.ts';

/** SES's inline templates: `{{name}}` in subject, text and HTML. */

/** What stands for the names of a template. */
export type TemplateData = Readonly<Record<string, unknown>>;

const dataSchema = z.record(z.string(), z.unknown());

/** Triple braces first: they begin with two. */
const PLACEHOLDER = /\{\{\{([^{}]*)\}\}\}|\{\{([^{}]*)\}\}/g;
const NAME = /^[\w$-]+(?:\.[\w$-]+)*$/;
/** Further faults are not told. */
const MAX_FAULTS = 20;

/** Reads the JSON text with a template's values; what is wrong with it is added to `faults`. */
export function readTemplateData(
  text: string | null | undefined,
  pointer: string,
  faults: FieldFault[],
): TemplateData {
  if (!text) return {};
  const parsed = dataSchema.safeParse(decodeJson(text));
  if (parsed.success) return parsed.data;
  const detail = 'Must be a JSON object, as a text, with a value for each name in the template.';
  faults.push({ pointer, code: 'type', detail });
  return {};
}

/** How the texts of one message are rendered. */
export interface Rendering {
  readonly data: TemplateData;
  /** Names without a value, and what is no name (conditions, loops), are added to it. */
  readonly faults: FieldFault[];
  /** The most that all values together may have. */
  readonly maxBytes: number;
}

/**
 * Makes texts of templates: `{{name}}` is escaped `asHtml`, `{{{name}}}` never. Throws the problem 413 once the values
 * are more than a message may have: a short template may name a long value very often.
 */
export function rendererOf({ data, faults, maxBytes }: Rendering) {
  let added = 0;
  const tell = (pointer: string, code: string, detail: string) => {
    if (faults.length < MAX_FAULTS) faults.push({ pointer, code, detail });
    return '';
  };
  return (template: string, asHtml: boolean, pointer: string): string =>
    template.replace(PLACEHOLDER, (_, plain?: string, escaped?: string) => {
      const name = (plain ?? escaped ?? '').trim();
      if (!NAME.test(name)) return tell(pointer, 'not_supported', ONLY_NAMES);
      const value = textOf(valueAt(data, name));
      if (value === null)
        return tell(pointer, 'required', `Attribute '${name}' is not present in the rendering data.`);
      const text = asHtml && plain === undefined ? escapeHtml(value) : value;
      added += text.length;
      if (added > maxBytes) throw messageTooLarge(added, maxBytes);
      return text;
    });
}

const ONLY_NAMES = 'Only names are replaced in templates, such as {{name}}: no conditions, loops or parts.';

/** `order.id` is the member `id` of `order`. */
function valueAt(data: TemplateData, name: string): unknown {
  let value: unknown = data;
  for (const key of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
    value = Reflect.get(value, key);
  }
  return value;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : null;
}
