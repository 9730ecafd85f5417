import { formatFault } from '../config/fault.ts';
import { type GivenSecret, SECRET_FIELDS, secretFields } from '../config/relay-fields.ts';
import { readRelay } from '../config/relays.ts';
import type { Relay } from '../domain/relay.ts';
import { OperationError } from '../operations/call.ts';
import type { LocalDeps } from './local-deps.ts';

/** In the place of a secret that is not asked for before the rest is known to be right. */
export const SECRET_TO_COME = Symbol('secret to come');

/** The relay of a definition that came with a request, and of its secrets, which came apart. Throws `invalid`. */
export function readDefinition(
  definition: Readonly<Record<string, unknown>>,
  secret: GivenSecret | null | typeof SECRET_TO_COME,
  deps: LocalDeps,
): Relay {
  // What is in the definition is stored and shown in clear.
  const inside = SECRET_FIELDS.flatMap((name) => [name, `${name}_file`]).filter((name) =>
    Object.hasOwn(definition, name),
  );
  if (inside.length > 0)
    throw new OperationError('invalid', `A secret is given apart from the definition: ${inside.join(', ')}`);
  const reading = readRelay({
    raw: secret === SECRET_TO_COME ? definition : { ...definition, ...secretFields(definition, secret) },
    key: 'relay',
    source: 'command line',
    origin: 'stored',
    secretElsewhere: secret === SECRET_TO_COME,
    privateRelays: deps.resolution().config.delivery.privateRelays,
    readSecret: () => {
      throw new Error('give the secret itself');
    },
  });
  if (reading.relay !== null) return reading.relay;
  throw new OperationError('invalid', reading.faults.map(formatFault).join('\n'));
}
