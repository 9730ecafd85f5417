/** `waybill relays show` and `waybill relays edit`: a relay as it is, and as it is to be. */

import type { Command } from 'commander';
import type { RelayDetail } from '../operations/relays.ts';
import { type Context, collect, command, print } from './context.ts';
import { Exit } from './exit.ts';
import {
  type DescribingOptions,
  fieldsOf,
  givenSecretOf,
  inOptions,
  withRelayOptions,
} from './relay-options.ts';
import { detailText } from './relays-text.ts';
import { withOperations } from './session.ts';

interface EditOptions extends DescribingOptions {
  readonly unset?: readonly string[];
}

/** `waybill relays edit NAME`. */
export function editCommand(context: Context): Command {
  const shell = command('edit', 'change a stored relay; what is not given stays', [
    'waybill relays edit out --max-concurrency 5',
    'waybill relays edit out --host smtp2.example.net --password-file /run/secrets/p',
    'waybill relays edit out --unset max_per_day --unset warmup_start',
  ]).argument('<name>', "the relay's name");
  return withRelayOptions(shell, false)
    .option('--unset <field>', 'leave a field out, such as max_per_day; may be repeated', collect)
    .action(async (name: string, options: EditOptions) => {
      const given = { ...fieldsOf(options), ...(options.type === undefined ? {} : { type: options.type }) };
      const secret = await givenSecretOf(options);
      const unset = options.unset ?? [];
      if (Object.keys(given).length === 0 && unset.length === 0 && secret === null)
        throw new Exit(2, 'Say what is to change. See: waybill relays edit --help');
      await withOperations(context, options, {}, async (operations) => {
        const present = definitionOf(await operations.relay({ name }));
        const kept = Object.entries(present).filter(([field]) => !unset.includes(field));
        const definition = { ...Object.fromEntries(kept), ...given };
        await inOptions(operations.updateRelay({ name, definition, secret }));
        const changed = await operations.relay({ name });
        print(context, options, changed, () => detailText(changed));
      });
    });
}

function definitionOf({ name, definition }: RelayDetail): Readonly<Record<string, unknown>> {
  if (definition !== null) return definition;
  throw new Exit(1, `The relay ${name} is built in and cannot be changed.`);
}
