/** One thing that was tried, for a person to read. */
export interface ProbeStep {
  /**
   * `RESOLVE`, `CONNECT`, `TLS`, an SMTP verb, or `CHECK` of a provider's credentials; `READY` for the good end, else the
   * failure's cause.
   */
  readonly name: string;
  /** What to search for, of a step that failed: `connect_refused`, `provider_401`. */
  readonly code?: string;
  /** False for a step that failed. A probe may go on after one, by another way: its last step tells how it ended. */
  readonly ok: boolean;
  readonly detail: string;
  /** Milliseconds since the probe began. */
  readonly atMs: number;
}

/** Tells of a step: its name, whether it is good, what there is to say, and what to search for where it is not the name. */
export type Tell = (name: string, ok: boolean, detail: string, code?: string) => void;

/** Yields what `run` tells, as it is told, until it ends. `mono`: monotonic ms. */
export async function* probeSteps(
  mono: () => number,
  run: (tell: Tell) => Promise<void>,
): AsyncGenerator<ProbeStep> {
  const steps: ProbeStep[] = [];
  let heard = Promise.withResolvers<void>();
  const startedAt = mono();
  const tell: Tell = (name, ok, detail, code = name) => {
    const atMs = Math.round(mono() - startedAt);
    steps.push(ok ? { name, ok, detail, atMs } : { name, ok, code, detail, atMs });
    heard.resolve();
  };
  let done = false;
  const running = run(tell).finally(() => {
    done = true;
    heard.resolve();
  });
  while (!done || steps.length > 0) {
    if (steps.length === 0) await heard.promise;
    heard = Promise.withResolvers();
    yield* steps.splice(0);
  }
  await running;
}
