import { type Faults, faultsOf } from '../../../faults.ts';
import { KEY_FIELDS, type KeyForm } from './key-form.ts';

/** What is wrong with the form of a key. What names a value is put beside the field that the value stands in. */
export function keyFaults(error: Error | null, form: KeyForm): Faults {
  const { fields, rest } = faultsOf(error, KEY_FIELDS);
  if (rest === null) return { fields, rest };
  const field = fieldNamed(rest, form);
  return field === null ? { fields, rest } : { fields: { ...fields, [field]: rest }, rest: null };
}

function fieldNamed(text: string, { name, cidrs, senderDomains }: KeyForm): string | null {
  if (cidrs.some((range) => text.startsWith(`${range}: `))) return 'cidrs';
  if (senderDomains.some((domain) => text.startsWith(`${domain} is no `))) return 'senderDomains';
  return text.startsWith(`There is a key named ${name.trim()} already`) ? 'name' : null;
}
