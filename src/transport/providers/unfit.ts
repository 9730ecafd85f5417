import type { Envelope } from '../../domain/envelope.ts';
import { localReply, type Reply } from '../../domain/outcome.ts';
import type { ProviderMessage } from './provider.ts';

const ASCII = /^\p{ASCII}*$/u;

/** Why a provider that knows only ASCII in headers and addresses cannot be given a message; null where it can. */
export function unfitForAscii({ envelope, flags }: ProviderMessage): Reply | null {
  if (!flags.utf8 && addressesOf(envelope).every((address) => ASCII.test(address))) return null;
  const text = 'The message has headers or addresses that are not ASCII, which the provider does not take';
  return localReply('smtputf8_unsupported', '5.6.7', text);
}

function addressesOf({ reversePath, recipients }: Envelope): string[] {
  return [reversePath, ...recipients.map(({ address }) => address)];
}
