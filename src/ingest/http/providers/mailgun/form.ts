import type { Exchange } from '../../../../http/exchange.ts';
import type { ReadFields } from '../../fields.ts';
import { type FormEntry, fieldsFromForm } from '../../form-fields.ts';
import { tellIgnored } from '../submitting.ts';

/** Mailgun's fields, most of which are those of our own forms (`../../form-fields.ts`). A table of a provider's
 * fields is a file of its own. */

/** Ask for what Waybill never does, and no recipient sees; `no` asks for what happens anyway. */
const IGNORABLE = [
  'o:tracking',
  'o:tracking-clicks',
  'o:tracking-opens',
  'o:tracking-pixel-location-top',
  'o:sending-ip',
  'o:sending-ip-pool',
  'o:deliverytime-optimize-period',
  'o:time-zone-localize',
];
const ASKS_NOTHING = /^(?:no|false|)$/i;

/** The fields of a form; names in the answer's header those that are ignored. */
export function fieldsOf(exchange: Exchange, form: readonly FormEntry[]): ReadFields {
  const ignorable = (entry: FormEntry) => IGNORABLE.includes(entry.name) && 'value' in entry;
  const asked = form.flatMap((entry) =>
    ignorable(entry) && 'value' in entry && !ASKS_NOTHING.test(entry.value) ? [[entry.name, true]] : [],
  );
  tellIgnored(exchange, Object.fromEntries(asked), IGNORABLE);
  return fieldsFromForm(form.filter((entry) => !ignorable(entry)));
}
