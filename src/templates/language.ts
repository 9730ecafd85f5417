import type { TemplateTexts } from '../domain/template.ts';

/** What a template is when it has been read, and what can be wrong with it. */

/** The texts of a template. */
export type Field = keyof TemplateTexts;

/** What is wrong with a template, or with a value in it. */
export interface TemplateFault {
  readonly field: Field;
  /** In the template, from 1. */
  readonly line: number;
  readonly code: TemplateFaultCode;
  /** What is wrong, and what to write instead. */
  readonly detail: string;
  /** The value that is at fault: the keys that lead to it. Null: the template is. */
  readonly value: readonly string[] | null;
}

/**
 * - `template_syntax`: a tag that is none, or has no end.
 * - `template_place`: a tag cannot stand there.
 * - `template_limit`: a bound of the language is met.
 * - `template_value`: a value cannot be written there.
 */
export type TemplateFaultCode = 'template_syntax' | 'template_place' | 'template_limit' | 'template_value';

/** Further faults are not told. */
export const MAX_FAULTS = 20;

/** The bounds of one text. */
export const MAX_TAGS = 10_000;
export const MAX_DEPTH = 16;
export const MAX_NAME = 200;
/** The bounds of what is made of all texts of a template: characters, and parts and repetitions that are gone through. */
export const MAX_OUTPUT = 2 * 1024 * 1024;
export const MAX_STEPS = 200_000;
