/** The simplest provider there is: posts the message as it stands. For tests of what all have in common. */
import type { ProviderSettings } from '../../../src/domain/relay.ts';
import type { Provider } from '../../../src/transport/providers/provider.ts';
import { type ProviderRig, type ProviderRigOptions, type RigSettings, startProvider } from './rig.ts';

/** Settings to go with it. */
const PLAIN: RigSettings = { type: 'resend' };

/** Starts the rig with the plain provider, `more` of which is different. */
export function startPlain(
  options: ProviderRigOptions & { readonly settings?: Partial<ProviderSettings> } = {},
  more: Partial<Provider> = {},
): Promise<ProviderRig> {
  const { settings = {}, ...rest } = options;
  return startProvider({ ...PLAIN, ...settings } as RigSettings, {
    provider: (made) => ({ ...plainProvider(made), ...more }),
    ...rest,
  });
}

/** Takes `{"id": …}` for an answer, and `{"code": …, "text": …}` for an error. */
export function plainProvider({ endpoint, secret }: ProviderSettings): Provider {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'message/rfc822' };
  return {
    maxMessageBytes: 10_000_000,
    maxRecipients: 3,
    idempotency: null,
    answers: [
      { status: 400, code: 'sick', meaning: 'relay_ill', enhanced: '4.3.5', note: 'Ill' },
      { status: 422, meaning: 'never', enhanced: '5.6.7', note: 'Never' },
    ],
    // biome-ignore lint/correctness/useYield: providers that rebuild messages pause in here; this one has nothing to do that takes long.
    *prepare({ content }) {
      return {
        ok: true,
        request: { method: 'POST', url: `${endpoint}/send?key=1`, headers, body: [content] },
      };
    },
    read({ body }) {
      const { id, code, text } = read(body);
      return { code: code ?? null, text: text ?? null, messageId: id ?? null, understood: id !== undefined };
    },
    check: () => null,
  };
}

function read(body: string): { id?: string; code?: string; text?: string } {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}
