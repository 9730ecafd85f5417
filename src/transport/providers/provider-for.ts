import type { ProviderSettings } from '../../domain/relay.ts';
import { graphProvider } from './graph.ts';
import { mailgunProvider } from './mailgun.ts';
import { postmarkProvider } from './postmark.ts';
import type { Provider } from './provider.ts';
import { resendProvider } from './resend.ts';
import { sendgridProvider } from './sendgrid.ts';
import { sesProvider } from './ses.ts';
import { webhookProvider } from './webhook.ts';

/** The provider for a relay's settings. */
export function providerFor(settings: ProviderSettings): Provider {
  switch (settings.type) {
    case 'ses':
      return sesProvider(settings);
    case 'mailgun':
      return mailgunProvider(settings);
    case 'postmark':
      return postmarkProvider(settings);
    case 'graph':
      return graphProvider(settings);
    case 'sendgrid':
      return sendgridProvider(settings);
    case 'resend':
      return resendProvider(settings);
    case 'webhook':
      return webhookProvider(settings);
  }
}
