import { type Fault, showValue } from './fault.ts';
import { type RelayFieldName, relayField } from './relay-fields.ts';

/** A definition, where it stands, and how to read what it points to. */
export interface RelaySource {
  readonly raw: unknown;
  /** Where it stands, such as `relays[0]`. */
  readonly key: string;
  readonly source: string;
  readonly origin: 'file' | 'stored';
  /** A secret file's text; throws with a message when it cannot be read. */
  readonly readSecret: (path: string) => string;
  /** Names of relays that may connect to private addresses although their definition cannot say so; absent: none. */
  readonly privateRelays?: readonly string[];
  /** It has a secret, which is not here: it may be missing. The present key does not open it, or it is yet to be given. */
  readonly secretElsewhere?: boolean;
}

/** What is wrong at a place in the definition. `value` is what stands there; undefined where it is not to be shown. */
export function relayFault(source: RelaySource, suffix: string, value: unknown, rule: string): Fault {
  const shown = value === undefined ? null : showValue(value);
  return { key: source.key + suffix, value: shown, rule, source: source.source };
}

/** What is wrong with a field; its value is shown unless it is a secret, or may hold one. */
export function fieldFault(source: RelaySource, name: RelayFieldName, value: unknown, rule: string): Fault {
  return relayFault(source, `.${name}`, isShown(name, value) ? value : undefined, rule);
}

/** What has a user name or a query in front of or behind it may be a URL with a secret. */
function isShown(name: RelayFieldName, value: unknown): boolean {
  const { secret, url } = relayField(name);
  if (secret) return false;
  return !url || (typeof value === 'string' && !/[@?#]/.test(value));
}
