import type { Loaded } from '../../config/load.ts';
import { serverName } from '../../config/names.ts';
import type { Config } from '../../config/schema.ts';
import { MISSING_CURE, missingDetail } from '../../domain/health.ts';
import { missingRelays } from '../../domain/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import type { Finding } from '../../operations/system.ts';
import { probeProvider } from '../../transport/providers/probe.ts';
import { providerFor } from '../../transport/providers/provider-for.ts';
import { probeSmarthost } from '../../transport/smtp/probe.ts';
import { layoutOf } from '../layout.ts';
import { freshResolver } from '../mail-dns.ts';
import {
  configurationCheck,
  databaseCheck,
  encryptionCheck,
  limitsCheck,
  secretKeyCheck,
  sourcesCheck,
} from './configuration.ts';
import { fail, late, ok, skipped, warn } from './finding.ts';
import { hooksCheck } from './hooks.ts';
import { bouncesCheck, certificateCheck, domainsCheck, tlsReportsCheck } from './identity.ts';
import { signingCheck } from './keys.ts';
import { readRuntime, realMachine } from './machine.ts';
import { namesCheck, sourceAddressesCheck } from './names.ts';
import { portsCheck } from './ports.ts';
import type { Check, Dialogue, Premises } from './premises.ts';
import { isRangeInside, prefixOf, setOf } from './ranges.ts';
import { quotasCheck, relaysCheck } from './relays.ts';
import { signInCheck } from './sign-in.ts';
import { webhooksCheck } from './webhooks.ts';

/** How long one DNS server may take: time must remain to ask another. */
const DNS_TIMEOUT_MS = 1_200;

/** What an examination needs. */
interface ExaminationOptions
  extends Pick<
    Premises,
    | 'dataDir'
    | 'views'
    | 'storeFault'
    | 'takeBackDenied'
    | 'hookProvenAt'
    | 'spool'
    | 'webhooks'
    | 'issuing'
    | 'keyring'
  > {
  readonly loaded: Loaded;
  /** Whether a server runs on the data directory. */
  readonly running: boolean;
  readonly clock: Clock;
  readonly random: Random;
}

/** Examines an installation on this machine. Never rejects. */
export async function examineInstallation(options: ExaminationOptions): Promise<readonly Finding[]> {
  const { loaded, dataDir, running, clock } = options;
  const hostname = serverName(loaded.config);
  return await examine({
    ...options,
    bound: running ? readRuntime(layoutOf(dataDir).runtime) : null,
    machine: realMachine(clock),
    resolver: freshResolver({
      config: () => loaded.config,
      clock,
      random: options.random,
      timeoutMs: DNS_TIMEOUT_MS,
      attempts: 1,
    }),
    probe: (settings, signal) => probeSmarthost(settings, { hostname, clock }, signal),
    probeProvider: (settings, signal) =>
      probeProvider(settings, { provider: providerFor(settings), clock }, signal),
  });
}

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
/** How long to measure flushes. */
const FLUSH_BUDGET_MS = 600;
/** A slower flush limits throughput: messages share flushes, but each waits for one. */
const SLOW_FLUSH_MS = 20;
/** A faster flush cannot reach a disk: even a drive's cache is slower. */
const TOO_FAST_FLUSH_MS = 0.01;

/** Whether there is room for mail, by the thresholds of health. */
export const diskCheck: Check = async ({ machine, dataDir, loaded }) => {
  const { diskCriticalBytes, diskLowBytes } = loaded.config.health;
  const { freeBytes, totalBytes } = await machine.space(dataDir);
  const found = `${sizeText(freeBytes)} of ${sizeText(totalBytes)} are free on the disk of ${dataDir}`;
  const cure = `free space there, keep less (retention.content_max_bytes: ${Math.floor(totalBytes / 10)}), or move it: waybill serve --data DIR`;
  const isCritical = freeBytes < diskCriticalBytes && loaded.config.database.url === '';
  if (isCritical)
    return [fail('disk', `${found}, less than health.disk_critical_bytes: no mail is accepted.`, cure)];
  if (freeBytes < diskLowBytes) return [warn('disk', `${found}, less than health.disk_low_bytes.`, cure)];
  return [ok('disk', `${found}.`)];
};

/** Whether flushed data is safe, and how long a flush takes. */
export const flushCheck: Check = async ({ machine, dataDir, loaded }) => {
  const name = 'disk flush';
  if (loaded.config.database.url !== '')
    return [skipped(name, 'Mail is kept in PostgreSQL; a server that does not flush is refused.')];
  const elsewhere = 'put the data directory on a disk: waybill serve --data DIR';
  if (await machine.inMemory(dataDir))
    return [fail(name, `${dataDir} lies in memory: all mail is gone when the machine stops.`, elsewhere)];
  const times = [...(await machine.flushTimes(dataDir, FLUSH_BUDGET_MS))].sort((a, b) => a - b);
  const median = times[times.length >> 1] ?? 0;
  const found = `${median.toFixed(2)} ms to flush, the median of ${times.length} times`;
  if (median > SLOW_FLUSH_MS)
    return [
      warn(
        name,
        `${found}: mail is accepted slowly.`,
        `put the data directory on a faster disk, without a network or a hypervisor's cache between: waybill serve --data DIR`,
      ),
    ];
  if (median < TOO_FAST_FLUSH_MS)
    return [
      warn(
        name,
        `${found}: too fast for a disk. What is accepted may be lost when the power fails.`,
        elsewhere,
      ),
    ];
  return [ok(name, `${found}.`)];
};

function sizeText(bytes: number): string {
  return bytes >= GIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${Math.floor(bytes / MIB)} MiB`;
}

/** Tolerated difference of a file's time: some file systems store whole seconds, or two. */
const FILE_TOLERANCE_MS = 3_000;
/** A message this far in the future was accepted under another clock time. */
const FUTURE_MS = 60_000;
const SET = 'sudo timedatectl set-ntp true';

/**
 * Whether the clock can be right. Reports only what is certain, since nobody else is asked for the time. A wrong clock
 * puts wrong dates into mail, tries too early or late, and refuses valid certificates.
 */
export const clockCheck: Check = async ({ clock, machine, views, dataDir }, signal) => {
  const name = 'clock';
  const wall = clock.wall();
  const found: Finding[] = [];
  const shown = new Date(wall).toISOString();
  if (wall < machine.builtAt())
    found.push(fail(name, `It says ${shown}, which is before this program was installed.`, SET));
  const [fileTime, newest, synchronised] = await Promise.all([
    machine.fileTime(dataDir),
    newestMessage(views),
    machine.clockSynchronised(signal),
  ]);
  const apart = Math.round(fileTime - clock.wall());
  if (Math.abs(apart) > FILE_TOLERANCE_MS)
    found.push(
      warn(
        name,
        `Files in ${dataDir} are dated ${apart} ms from our time: the disk is another machine's, and one clock is wrong.`,
        `${SET} (on both machines)`,
      ),
    );
  if (newest !== null && newest > wall + FUTURE_MS)
    found.push(
      fail(name, `It says ${shown}, but the newest message is from ${new Date(newest).toISOString()}.`, SET),
    );
  if (synchronised === false)
    found.push(warn(name, `It says ${shown}, and the system says that nobody sets it.`, SET));
  const note = synchronised === null ? 'whether it is set by others cannot be told here' : 'synchronised';
  return found.length > 0 ? found : [ok(name, `${shown}, ${note}.`)];
};

async function newestMessage(views: Parameters<Check>[0]['views']): Promise<number | null> {
  const page = await views?.list({ owner: 'all', statuses: [], before: null, limit: 1 });
  return page?.messages[0]?.createdAt ?? null;
}

const NAME = 'holds';
/** Held lanes and relays reported singly. */
const MAX_TOLD = 20;
const HELD = {
  pause: 'is paused by an operator: nothing is sent by it, and its mail may wait',
  drain: 'is draining by an operator: nothing new is routed to it',
} as const;

/** Whether an operator holds mail back, and may have forgotten it. */
export const holdsCheck: Check = async ({ loaded: { holds } }) => {
  if (holds.size === 0) return [ok(NAME, 'No relay and no lane is held back.')];
  return [...holds]
    .slice(0, MAX_TOLD)
    .map(([target, kind]) =>
      warn(`hold ${target}`, `${target} ${HELD[kind]}.`, `waybill queue resume ${target}`),
    );
};

/** Whether every relay that a rule names exists. */
const routesCheck: Check = async ({ loaded }) => {
  const { routes, relays } = loaded.config;
  const missing = missingRelays(routes, relays);
  if (missing.length === 0) return [ok('routes', 'Every relay that a rule names exists.')];
  return missing.map((one) =>
    warn(`route ${one.rule}`, missingDetail(one), `add the relay ${one.relay}, or ${MISSING_CURE}`),
  );
};

const OPEN_RELAY = 'open relay';
const KEY = 'listener.allowed_cidrs';
/** A public range with fewer fixed bits covers more than one customer's network. */
const WIDE_IPV4 = 16;
const WIDE_IPV6 = 32;
/** A range with so few fixed bits is the world, or a large part of it. */
const WORLD = 7;
/** An address that cannot exist (RFC 2606): a server that accepts it relays to anybody. */
const STRANGER = 'open-relay-test@example.com';

/**
 * Whether strangers can send mail through us: by the settings and, from an address of this machine that they do not
 * allow, by the listener's actual answers.
 */
export const openRelayCheck: Check = async (premises, signal) => {
  const { config } = premises.loaded;
  const { ports, implicitTlsPorts } = config.listener;
  if (ports.length + implicitTlsPorts.length === 0)
    return [skipped(OPEN_RELAY, 'The SMTP listener is switched off.')];
  return [...byPolicy(config.listener), ...(await byDialogue(premises, signal))];
};

function byPolicy({ allowedCidrs: ranges, requireAuth }: Config['listener']): Finding[] {
  if (requireAuth) return [ok(OPEN_RELAY, 'Everybody needs a key (listener.require_auth).')];
  const good = ranges.filter(isRangeInside);
  const others = ranges.filter((range) => !good.includes(range));
  const cure = `listener: { allowed_cidrs: ${JSON.stringify(good.length > 0 ? good : ['127.0.0.0/8', '::1/128'])} }  # and a key for everybody else: waybill keys create NAME`;
  const world = others.filter((range) => prefixOf(range) <= WORLD);
  if (world.length > 0)
    return [fail(OPEN_RELAY, `${KEY} has ${world.join(', ')}: anybody can send mail to anybody.`, cure)];
  const wide = others.filter((range) => prefixOf(range) < (range.includes(':') ? WIDE_IPV6 : WIDE_IPV4));
  if (wide.length > 0)
    return [warn(OPEN_RELAY, `${KEY} has ${wide.join(', ')}: public ranges of very many machines.`, cure)];
  return [ok(OPEN_RELAY, `Without a key only these may send: ${ranges.join(', ')}.`)];
}

/** Asks the running listener to relay for a stranger, and quits before any mail. */
async function byDialogue(premises: Premises, signal: AbortSignal): Promise<Finding[]> {
  const { bound, machine, loaded, takeBackDenied } = premises;
  const { config } = loaded;
  const [port] = bound?.smtp ?? [];
  if (port === undefined)
    return [
      skipped(`${OPEN_RELAY} test`, 'No server with an SMTP port is running, so this could not be tested.'),
    ];
  const allowed = setOf(config.listener.allowedCidrs);
  const from = machine.addresses().find((address) => !allowed.contains(address));
  if (from === undefined)
    return [
      skipped(
        `${OPEN_RELAY} test`,
        `Every address of this machine may send by ${KEY}, so the test could not act as a stranger.`,
      ),
    ];
  const host = serverName(config);
  const lines = [`EHLO ${host}`, `MAIL FROM:<open-relay-test@${host}>`, `RCPT TO:<${STRANGER}>`];
  const heard = await machine.dialogue({ host: from, port, from }, lines, signal);
  // Our own test must not appear among the sources that one could allow.
  if (heard.replies.length > lines.length && !isTaken(heard, lines.length))
    takeBackDenied(from, 'relay_not_allowed');
  return [verdict(heard, from, port, lines.length)];
}

/** Whether the last line, RCPT, was accepted. */
function isTaken({ replies }: Dialogue, lines: number): boolean {
  return replies.length > lines && replies.at(-1)?.startsWith('2') === true;
}

/** Only an accepted RCPT is an open relay. */
function verdict(heard: Dialogue, from: string, port: number, lines: number): Finding {
  const name = `${OPEN_RELAY} test`;
  const { connected, replies } = heard;
  if (!connected) return ok(name, `Port ${port} does not answer at ${from}: strangers cannot even connect.`);
  const last = replies.at(-1) ?? '';
  if (!isTaken(heard, lines))
    return ok(name, `From ${from}, mail to a stranger is refused: ${last || 'the connection was closed'}`);
  return fail(
    name,
    `From ${from}, which ${KEY} does not list, RCPT TO:<${STRANGER}> was accepted: ${last}`,
    'listener: { require_auth: true }',
  );
}

/** How long a check may take: with the command's start and the socket, the total stays below 5 s. */
export const CHECK_LIMIT_MS = 3_000;
/** How long a check may still report results after it was told to end. */
const GRACE_MS = 300;

/** In the order of the report. */
const CHECKS: Readonly<Record<string, Check>> = {
  configuration: configurationCheck,
  'secret key': secretKeyCheck,
  encryption: encryptionCheck,
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
  bounces: bouncesCheck,
  'tls reports': tlsReportsCheck,
  hooks: hooksCheck,
  webhooks: webhooksCheck,
  'identity provider': signInCheck,
  signing: signingCheck,
  holds: holdsCheck,
};

/** Runs every check. Never rejects, and takes hardly longer than {@link CHECK_LIMIT_MS}. */
export async function examine(premises: Premises): Promise<readonly Finding[]> {
  return await runChecks(CHECKS, premises, CHECK_LIMIT_MS);
}

/** Runs checks in parallel. One that fails, or does not finish in time, is reported as skipped; the others stand. */
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
    const over = isOver(premises.clock, limitMs, limit, done.signal);
    // Called inside a promise, so that synchronous exceptions are caught as well.
    const found = Promise.resolve().then(() => check(premises, limit.signal));
    const first = await Promise.race([found, over]);
    return first ?? [late(name, { seconds: limitMs / 1000 })];
  } catch (error) {
    return [late(name, { error })];
  } finally {
    limit.abort();
    done.abort();
  }
}

async function isOver(
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
