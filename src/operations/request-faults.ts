import type { z } from 'zod';
import type { FieldFault } from '../http/problem.ts';
import { pointerToken, quote } from '../http/problem.ts';

/** What the schema of an operator's request finds wrong, field by field, in the API's words and codes. */

type Rule = Omit<FieldFault, 'pointer'>;

/** The faults of a request. The values must have been reported with the issues: what is missing is told by that. */
export function requestFaults(issues: readonly z.core.$ZodIssue[]): FieldFault[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [{ pointer: toPointer(issue.path), ...ruleOf(issue) }];
    return issue.keys.map((key) => ({
      pointer: toPointer([...issue.path, key]),
      code: 'unknown_field',
      detail: `There is no field ${quote(key)}.`,
    }));
  });
}

/** Faults as lines of text, each beginning with its field, for who reads no pointers. */
export function faultLines(faults: readonly FieldFault[]): string {
  const line = ({ pointer, detail }: FieldFault) =>
    `${pointer.slice(1).replaceAll('/', '.') || 'The request'}: ${detail}`;
  return faults.map(line).join('\n');
}

function ruleOf(issue: z.core.$ZodIssue): Rule {
  // A rule that a schema has words for says more than its kind.
  if (!WORDS_OF_ZOD.test(issue.message)) return { code: 'type', detail: asSentence(issue.message) };
  const isMissing = issue.input === undefined;
  switch (issue.code) {
    case 'invalid_type': {
      const what = TYPES[issue.expected] ?? `of the type ${issue.expected}`;
      if (isMissing) return { code: 'required', detail: `Is required, as ${what}.` };
      return { code: 'type', detail: `Must be ${what}.` };
    }
    case 'invalid_value': {
      const choice = either(issue.values.map((value) => JSON.stringify(value)));
      if (isMissing) return { code: 'required', detail: `Is required: ${choice}.` };
      return { code: 'type', detail: `Must be ${choice}.` };
    }
    case 'too_small':
      return boundOf(issue.origin, 'least', Number(issue.minimum));
    case 'too_big':
      return boundOf(issue.origin, 'most', Number(issue.maximum));
    default:
      return { code: 'type', detail: 'Does not have the required form.' };
  }
}

const WORDS_OF_ZOD = /^(Invalid |Too small|Too big)/;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function boundOf(origin: string, end: 'least' | 'most', bound: number): Rule {
  if (origin !== 'string' && origin !== 'array')
    return { code: 'out_of_range', detail: `Must be at ${end} ${bound}.` };
  const unit = origin === 'string' ? 'character' : 'element';
  const detail = `Must have at ${end} ${bound} ${unit}${bound === 1 ? '' : 's'}.`;
  if (end === 'least') return { code: 'required', detail };
  return { code: origin === 'string' ? 'too_long' : 'too_many', detail };
}

/** Made for each fault: to make it takes as long as to load a dozen modules, and most who load this one have no fault. */
function either(choices: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(choices);
}

function asSentence(rule: string): string {
  return `${rule.slice(0, 1).toUpperCase()}${rule.slice(1)}${rule.endsWith('.') ? '' : '.'}`;
}

function toPointer(path: readonly PropertyKey[]): string {
  return path.map((token) => `/${pointerToken(String(token))}`).join('');
}
