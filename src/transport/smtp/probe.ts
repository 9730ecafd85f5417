import type { SmarthostSettings } from '../../domain/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TokenDesk } from '../transport.ts';
import { type ProbeStep, probeSteps, type Tell } from '../transport.ts';
import { TIMEOUTS, type Timeouts } from './deadline.ts';
import { SourceAddresses } from './dial.ts';
import { HopFailure } from './failure.ts';
import { openSession } from './open.ts';
import { smarthostDestination } from './smtp.ts';
import { Trace } from './trace.ts';

/** A negative SMTP reply (RFC 5321 §4.2.1). Texts about connections or TLS do not match. */
const REFUSAL = /^[45]\d\d /;

/** What a probe needs besides the smarthost. */
export interface ProbeContext {
  /** Our EHLO name, unless the settings name another. */
  readonly hostname: string;
  readonly clock: Clock;
  /** The source of access tokens, if the settings have OAuth. The probe closes it. */
  readonly tokens?: TokenDesk;
  readonly timeouts?: Partial<Timeouts>;
}

/**
 * Opens a session as a delivery would, and closes it without sending anything. Yields each step as it happens; the last
 * one says whether mail could be sent. Never throws for peer errors.
 */
export async function* probeSmarthost(
  settings: SmarthostSettings,
  context: ProbeContext,
  signal: AbortSignal,
): AsyncGenerator<ProbeStep> {
  const { hostname, clock, tokens } = context;
  const timeouts = { ...TIMEOUTS, ...context.timeouts };
  const terms = { helo: settings.helo ?? hostname, sources: new SourceAddresses(settings), clock, timeouts };
  yield* stepsOf(clock, settings.host, async (tell, trace) => {
    const { host } = settings;
    try {
      const connection = await openSession(smarthostDestination(settings, tokens), terms, trace, signal);
      connection.quit();
      tell('READY', true, `${host} is ready for mail`);
    } catch (error) {
      const { cause, text } = failureOf(error);
      tell(cause, false, text);
    } finally {
      await tokens?.close();
    }
  });
}

/** Yields what `run` reports, and every step of its trace, until it ends. */
export async function* stepsOf(
  clock: Clock,
  host: string | null,
  run: (tell: Tell, trace: Trace) => Promise<void>,
): AsyncGenerator<ProbeStep> {
  yield* probeSteps(
    () => clock.mono(),
    (tell) => run(tell, new Trace(host, clock, ({ verb, reply }) => tell(verb, !REFUSAL.test(reply), reply))),
  );
}

/** Describes why a session was not opened. */
export function failureOf(error: unknown): { readonly cause: string; readonly text: string } {
  return error instanceof HopFailure ? error.reply : { cause: 'bug', text: String(error) };
}
