import type { ProviderSettings } from '../domain/relay.ts';
import type { RelayValues } from './relay-fields.ts';
import {
  isProviderType,
  MAILGUN_ENDPOINTS,
  MICROSOFT_AUTHORITY,
  PUBLIC_ENDPOINTS,
  sesEndpoint,
} from './relay-types.ts';

/** How the provider of a checked definition is spoken to; null for types that speak SMTP. */
export function providerOf(values: RelayValues, allowPrivate: boolean): ProviderSettings | null {
  const { type, region } = values;
  if (!isProviderType(type)) return null;
  // Missing only where it cannot be read: such a relay is kept, and rests.
  const secret = values.secret ?? '';
  const at = (usual: string) => ({ endpoint: bare(values.endpoint ?? usual), allowPrivate, secret });
  switch (type) {
    case 'ses':
      return {
        ...at(sesEndpoint(region ?? '')),
        type,
        region: region ?? '',
        accessKeyId: values.access_key_id ?? '',
        configurationSet: values.configuration_set,
      };
    case 'mailgun':
      return { ...at(MAILGUN_ENDPOINTS[region === 'eu' ? 'eu' : 'us']), type, domain: values.domain ?? '' };
    case 'postmark':
      return { ...at(PUBLIC_ENDPOINTS.postmark), type, messageStream: values.message_stream };
    case 'graph':
      return {
        ...at(PUBLIC_ENDPOINTS.graph),
        type,
        tenant: values.tenant ?? '',
        clientId: values.client_id ?? '',
        mailbox: values.mailbox,
        authority: bare(values.authority ?? MICROSOFT_AUTHORITY),
      };
    case 'webhook':
      // The whole URL, whose last slash may matter.
      return { type, endpoint: values.url ?? '', allowPrivate, secret };
    default:
      return { ...at(PUBLIC_ENDPOINTS[type]), type };
  }
}

/** A base URL, to which paths are added. */
function bare(url: string): string {
  return url.replace(/\/+$/, '');
}
