import type { Clock } from '../../lib/clock.ts';
import { certificateCheck } from './certificate.ts';
import { clockCheck } from './clock.ts';
import { configurationCheck, databaseCheck, secretKeyCheck } from './configuration.ts';
import { diskCheck, flushCheck } from './disk.ts';
import { domainsCheck } from './domains.ts';
import { type Finding, skipped } from './finding.ts';
import { holdsCheck } from './holds.ts';
import { limitsCheck } from './limits.ts';
import { namesCheck, sourceAddressesCheck } from './names.ts';
import { openRelayCheck } from './open-relay.ts';
import { portsCheck } from './ports.ts';
import type { Check, Premises } from './premises.ts';
import { quotasCheck } from './quotas.ts';
import { relaysCheck } from './relays.ts';
import { routesCheck } from './routes.ts';
import { sourcesCheck } from './sources.ts';

/** How long a check may take: with the start of a command and the way through the socket, 5 s are not reached. */
export const CHECK_LIMIT_MS = 3_000;
/** What a check still gets to tell what it knows, once it was told to end. */
const GRACE_MS = 300;

/** In the order in which they are told. */
const CHECKS: Readonly<Record<string, Check>> = {
  configuration: configurationCheck,
  'secret key': secretKeyCheck,
  database: databaseCheck,
  disk: diskCheck,
  'disk flush': flushCheck,
  clock: clockCheck,
  limits: limitsCheck,
  ports: portsCheck,
  certificate: certificateCheck,
  'open relay': openRelayCheck,
  sources: sourcesCheck,
  names: namesCheck,
  'source addresses': sourceAddressesCheck,
  routes: routesCheck,
  relays: relaysCheck,
  quotas: quotasCheck,
  domains: domainsCheck,
  holds: holdsCheck,
};

/** Looks at everything. Never rejects, and takes hardly longer than {@link CHECK_LIMIT_MS}. */
export async function examine(premises: Premises): Promise<readonly Finding[]> {
  return await runChecks(CHECKS, premises, CHECK_LIMIT_MS);
}

/** Runs checks beside each other. One that fails, or is not done in time, is told as skipped; the others stand. */
export async function runChecks(
  checks: Readonly<Record<string, Check>>,
  premises: Premises,
  limitMs: number,
): Promise<readonly Finding[]> {
  const found = await Promise.all(
    Object.entries(checks).map(([name, check]) => runCheck(name, check, premises, limitMs)),
  );
  return found.flat();
}

async function runCheck(
  name: string,
  check: Check,
  premises: Premises,
  limitMs: number,
): Promise<readonly Finding[]> {
  const limit = new AbortController();
  const done = new AbortController();
  try {
    const late = isLate(premises.clock, limitMs, limit, done.signal);
    // Called within a promise, so that what it throws at once is caught as well.
    const found = Promise.resolve().then(() => check(premises, limit.signal));
    const first = await Promise.race([found, late]);
    return first ?? [skipped(name, `There was no answer within ${limitMs / 1000} s.`)];
  } catch (error) {
    return [skipped(name, `It could not be looked at: ${String(error)}`)];
  } finally {
    limit.abort();
    done.abort();
  }
}

async function isLate(
  clock: Clock,
  limitMs: number,
  limit: AbortController,
  done: AbortSignal,
): Promise<null> {
  await clock.sleep(limitMs, done);
  limit.abort();
  await clock.sleep(GRACE_MS, done);
  return null;
}
