import type { SmarthostSettings } from '../../domain/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import { HopFailure } from './failure.ts';
import { openSession } from './open.ts';
import { TIMEOUTS, type Timeouts } from './timeouts.ts';
import { Trace } from './trace.ts';

/** One thing that was tried, for a person to read. */
export interface ProbeStep {
  /** `CONNECT`, `TLS` or an SMTP verb; `READY` for the good end, else the failure's cause. */
  readonly name: string;
  /** False only for the last step of a probe that failed. */
  readonly ok: boolean;
  readonly detail: string;
  /** Milliseconds since the probe began. */
  readonly atMs: number;
}

/** What a probe needs besides the smarthost. */
export interface ProbeContext {
  /** What we call ourselves in EHLO, unless the settings name another. */
  readonly hostname: string;
  readonly clock: Clock;
  readonly timeouts?: Partial<Timeouts>;
}

/**
 * Opens a session as a delivery would, and closes it without sending anything. Yields each step as it happens;
 * the last one says whether mail could be sent. Never throws for what the peer does.
 */
export async function* probeSmarthost(
  settings: SmarthostSettings,
  context: ProbeContext,
  signal: AbortSignal,
): AsyncGenerator<ProbeStep> {
  const { hostname, clock } = context;
  const timeouts = { ...TIMEOUTS, ...context.timeouts };
  const steps: ProbeStep[] = [];
  let heard = Promise.withResolvers<void>();
  const tell = (step: ProbeStep) => {
    steps.push(step);
    heard.resolve();
    heard = Promise.withResolvers();
  };
  const startedAt = clock.mono();
  const atMs = () => Math.round(clock.mono() - startedAt);
  const trace = new Trace(settings.host, clock, ({ verb, reply, atMs }) =>
    tell({ name: verb, ok: true, detail: reply, atMs }),
  );
  void openSession({ settings, hostname, clock, timeouts }, trace, signal).then(
    (connection) => {
      connection.quit();
      tell({ name: 'READY', ok: true, detail: `${settings.host} takes mail from us`, atMs: atMs() });
    },
    (error: unknown) => {
      const { cause, text } =
        error instanceof HopFailure ? error.reply : { cause: 'bug', text: String(error) };
      tell({ name: cause, ok: false, detail: text, atMs: atMs() });
    },
  );
  for (let last = false; !last; ) {
    const next = heard.promise;
    for (const step of steps.splice(0)) {
      yield step;
      last = step.name === 'READY' || !step.ok;
    }
    if (!last) await next;
  }
}
