import type { ProviderSettings, ProviderType } from '../../domain/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import { type ProbeStep, probeSteps, type Tell } from '../transport.ts';
import { type Call, callsOver } from './calls.ts';
import { Connections } from './connections.ts';
import { type DialTerms, hostOf, type Resolve, systemResolve } from './dial.ts';
import { findingOf, formsOf } from './judge.ts';
import { PROVIDER_TIMEOUTS, type ProviderTimeouts } from './limits.ts';
import type { Provider } from './provider.ts';
import { providerFor } from './provider-for.ts';
import { Tokens } from './tokens.ts';
import { ProviderTrace } from './trace.ts';
import { Trouble } from './trouble.ts';

/** The providers' names for people. */
const NAMES: Readonly<Record<ProviderType, string>> = {
  ses: 'Amazon SES',
  mailgun: 'Mailgun',
  postmark: 'Postmark',
  sendgrid: 'SendGrid',
  resend: 'Resend',
  graph: 'Microsoft Graph',
  webhook: 'The receiver',
};

/** What a probe needs besides the relay's settings. */
export interface ProviderProbeParts {
  readonly clock: Clock;
  /** Overrides the provider of the settings. */
  readonly provider?: Provider;
  readonly timeouts?: Partial<ProviderTimeouts>;
  readonly resolve?: Resolve;
}

/**
 * Connects as a delivery would, and has the provider check the credentials where it can, without sending anything.
 * Yields each step as it happens; the last one says whether mail could be sent. Never throws for peer errors.
 */
export async function* probeProvider(
  settings: ProviderSettings,
  { clock, provider = providerFor(settings), timeouts: some, resolve = systemResolve }: ProviderProbeParts,
  signal: AbortSignal,
): AsyncGenerator<ProbeStep> {
  const timeouts = { ...PROVIDER_TIMEOUTS, ...some };
  const terms = { allowPrivate: settings.allowPrivate, resolve, clock, timeouts };
  const host = hostOf(new URL(settings.endpoint));
  yield* probeSteps(
    () => clock.mono(),
    async (tell) => {
      const trace = new ProviderTrace(host, clock, ({ verb, reply }) => {
        // The check's own request is reported with its result.
        if (!/^(GET|POST) /.test(verb)) tell(verb, true, reply);
      });
      await probe(settings, { provider, terms, host, trace, tell }, signal);
    },
  );
}

interface Probing {
  readonly provider: Provider;
  readonly terms: DialTerms;
  readonly host: string;
  readonly trace: ProviderTrace;
  readonly tell: Tell;
}

async function probe(
  settings: ProviderSettings,
  { provider, terms, host, trace, tell }: Probing,
  signal: AbortSignal,
): Promise<void> {
  const connections = new Connections(2, terms);
  const { secret } = settings;
  const { clock } = terms;
  const call = callsOver({ connections, secret: () => secret });
  try {
    connections.giveBack(await connections.take(new URL(settings.endpoint), false, trace, signal));
    const token = await tokenOf(provider, call, terms, tell, signal);
    if (!token.ok) return tell(token.reply.cause, false, token.reply.text);
    const request = provider.check({ now: terms.clock.wall(), token: token.token });
    if (request === null)
      return tell('READY', true, `${host} can be reached; only a message would show whether it accepts mail`);
    // An answer may take long, and silence would look like a hang.
    tell('ASK', true, `${request.method} to ${host}: waits for its answer`);
    const exchanged = await call(request, trace, signal);
    if (exchanged.kind === 'none') throw exchanged.trouble;
    const secrets = formsOf(secret, request.headers);
    const { good, text, code } = findingOf(provider, { ...exchanged, secrets, now: clock.wall() });
    tell('CHECK', good, text, code);
    if (good) tell('READY', true, `${NAMES[settings.type]} (${host}) is ready for mail`);
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    tell(error.reply.cause, false, error.reply.text);
  } finally {
    await connections.close();
  }
}

async function tokenOf(
  { tokens: source }: Provider,
  call: Call,
  { clock }: DialTerms,
  tell: Tell,
  signal: AbortSignal,
) {
  if (!source) return { ok: true, token: '' } as const;
  return await new Tokens({ source, call, clock }).get(signal, (text) => tell('TOKEN', true, text));
}
