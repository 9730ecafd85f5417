/** What the configuration knows of providers is what they are. */
import { expect, test } from 'vitest';
import { MOST_RECIPIENTS, PROVIDER_TYPES } from '../../../src/config/relay-types.ts';
import { readRelay } from '../../../src/config/relays.ts';
import { providerFor } from '../../../src/transport/providers/provider-for.ts';

const FIELDS: Readonly<Record<string, object>> = {
  ses: { region: 'eu-west-1', access_key_id: 'AKIAIOSFODNN7EXAMPLE' },
  mailgun: { domain: 'mg.example.com' },
  graph: { tenant: 'contoso.com', client_id: '11111111-2222-3333-4444-555555555555' },
  webhook: { url: 'https://hooks.example.com/mail' },
};

test.each(PROVIDER_TYPES)(
  'a relay of type %s may be given as many recipients at once as it takes',
  (type) => {
    const raw = { name: 'out', type, secret: 'a-secret-of-32-characters-or-more', ...FIELDS[type] };
    const readSecret = () => '';
    const { relay } = readRelay({ raw, key: 'relay', source: 'file', origin: 'file', readSecret });
    if (!relay?.provider) throw new Error(`no relay of type ${type}`);
    expect(providerFor(relay.provider).maxRecipients).toBe(MOST_RECIPIENTS[type]);
  },
);
