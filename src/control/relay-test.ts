import { serverName } from '../config/names.ts';
import type { Relay } from '../domain/relay.ts';
import { OperationError } from '../operations/call.ts';
import type { Progress } from '../operations/operation.ts';
import type { RelayTest } from '../operations/relays.ts';
import type { RequestOf } from '../operations/table.ts';
import { mxMeans } from '../transport/mx/means.ts';
import { probeMx, READY } from '../transport/mx/probe.ts';
import { probeProvider } from '../transport/providers/probe.ts';
import { providerFor } from '../transport/providers/provider-for.ts';
import { smarthostTokens } from '../transport/providers/tokens.ts';
import { probeSmarthost } from '../transport/smtp/probe.ts';
import type { ProbeStep } from '../transport/transport.ts';
import type { LocalDeps } from './deps.ts';
import { readRuntime } from './doctor/machine.ts';
import { layoutOf } from './layout.ts';
import { createMailDns, NOTHING_BOUND } from './mail-dns.ts';
import { readDefinition } from './relay-changes.ts';
import { noSuchRelay } from './relay-views.ts';

/** How long a test connection may take in all. */
const PROBE_LIMIT_MS = 60_000;
/** How long it waits for each of several hosts to answer at all. */
const PROBE_CONNECT_MS = 5_000;
/** More steps than any next hop needs; beyond it, the test runs in a circle. */
const MAX_STEPS = 1000;

/** See {@link RelayOperations.testRelay}. */
export async function testRelay(
  request: RequestOf<'testRelay'>,
  deps: LocalDeps,
  { tell, signal }: Progress<ProbeStep>,
): Promise<RelayTest> {
  const relay = relayOf(request, deps);
  const { name, to } = request;
  if (relay.mx !== null && to === null)
    throw new OperationError(
      'invalid',
      `The relay ${name} delivers to recipients' own servers. Say whose to try: waybill relays test ${name} --to someone@example.net`,
    );
  if (relay.mx === null && to !== null)
    throw new OperationError('invalid', `The relay ${name} is not of type mx: leave --to out.`);
  const limit = new AbortController();
  void deps.clock.sleep(PROBE_LIMIT_MS, limit.signal).then(() => limit.abort());
  const steps: ProbeStep[] = [];
  try {
    for await (const step of probeSteps(relay, to ?? '', deps, AbortSignal.any([limit.signal, signal]))) {
      const told = limit.signal.aborted && !step.ok ? outOfTime(step) : step;
      steps.push(told);
      tell(told);
      if (steps.length === MAX_STEPS) break;
    }
  } finally {
    limit.abort();
  }
  // Of a domain's hosts one suffices; a smarthost may refuse EHLO and accept HELO.
  const ok = relay.mx === null ? steps.at(-1)?.ok === true : steps.some((step) => step.name === READY);
  if (ok && request.unsaved === null) deps.foundWell(name);
  return { ok, steps };
}

/** Replaces "stopped" by the actual cause, which the step cannot know: time was up. */
function outOfTime({ atMs }: ProbeStep): ProbeStep {
  const detail = `No answer came within ${PROBE_LIMIT_MS / 1000} s.`;
  return { name: 'timeout', ok: false, code: 'timeout', detail, atMs };
}

/** The relay to test: an existing one, or an unsaved one with its own secret. */
function relayOf({ name, unsaved }: RequestOf<'testRelay'>, deps: LocalDeps): Relay {
  if (unsaved !== null) return readDefinition({ ...unsaved.definition, name }, unsaved.secret, deps);
  const { config } = deps.resolution();
  const relay = config.relays.find((candidate) => candidate.name === name);
  if (relay === undefined) throw noSuchRelay(name);
  if (config.unreadableRelays.includes(name))
    throw new OperationError(
      'refused',
      `The ${relay.provider === null ? 'password' : 'secret'} of ${name} cannot be read with the present key. Put back the secret.key of before, or remove the relay and add it again.`,
    );
  return relay;
}

async function* probeSteps(
  relay: Relay,
  to: string,
  { resolution, clock, random, running, dataDir }: LocalDeps,
  signal: AbortSignal,
): AsyncGenerator<ProbeStep> {
  const { config } = resolution();
  const hostname = serverName(config);
  if (relay.smtp !== null) {
    const { oauth } = relay.smtp;
    const tokens = oauth === undefined ? {} : { tokens: smarthostTokens(oauth, { clock }) };
    yield* probeSmarthost(relay.smtp, { hostname, clock, ...tokens }, signal);
  } else if (relay.mx !== null) {
    // Without caches: the user has probably just changed something.
    const bound = (running ? readRuntime(layoutOf(dataDir).runtime) : null) ?? NOTHING_BOUND;
    const dns = createMailDns(
      () => resolution().config,
      () => bound,
      clock,
      random,
    );
    const timeouts = { connect: PROBE_CONNECT_MS };
    const means = mxMeans({ relay, hostname, clock, random, timeouts, ...dns });
    yield* probeMx(to, means, dns.resolver, signal);
  } else if (relay.provider !== null) {
    const provider = providerFor(relay.provider);
    yield* probeProvider(relay.provider, { provider, clock }, signal);
  } else yield { name: 'CAPTURE', ok: true, detail: 'Connects to nothing.', atMs: 0 };
}
