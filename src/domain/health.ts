import { SOON_DAYS } from './certificate.ts';
import { isShort, type SpentRelay, spentText } from './quota.ts';
import type { MissingRelay } from './route.ts';

/**
 * The meaning of the server's state (contract §7): a list of checks, each healthy, degraded or critical, and the worst
 * of them as the overall status. Details are fixed texts: they contain no driver error, path or URL.
 */

/** See {@link HealthStatus}. */
export const HEALTH_STATUSES = ['healthy', 'degraded', 'critical'] as const;

/** From best to worst. Degraded: mail is accepted, but an operator should look. Critical: mail cannot be accepted. */
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

/** One check. */
export interface HealthCheck {
  readonly name: string;
  readonly status: HealthStatus;
  /** A sentence for the operator. */
  readonly detail: string;
}

/** How much room the volume has. `unknown` if it could not be read. */
export type DiskStatus = 'ok' | 'low' | 'critical' | 'unknown';

/** Free bytes below which the disk is low, and critical. */
export interface DiskLimits {
  readonly lowBytes: number;
  readonly criticalBytes: number;
}

/** A configured listening port that could not be bound. */
export interface PortFault {
  /** The setting of the port, such as `listener.ports`. */
  readonly key: string;
  readonly port: number;
  /** `unavailable`: an address of the list is not on this machine. */
  readonly reason: 'in_use' | 'no_privilege' | 'unavailable' | 'failed';
  /** The operator set it; false for a default. */
  readonly set: boolean;
  /** The port bound instead; null for none. */
  readonly fallback: number | null;
}

/** Whether a relay is used: `open` while its next hop is unhealthy and rests, `half_open` while it is tested. */
export type BreakerState = 'closed' | 'half_open' | 'open';

/** The facts that decide health. */
export interface HealthFacts {
  /** `silent`: does not answer in time; `failed`: answers, but can no longer commit. */
  readonly store: 'well' | 'silent' | 'failed';
  readonly disk: DiskStatus;
  /** Mail is kept on it, rather than on the disks of a remote database. */
  readonly diskHoldsMail: boolean;
  readonly portFaults: readonly PortFault[];
  /** A port accepts mail over SMTP. */
  readonly smtpBound: boolean;
  readonly relays: readonly {
    readonly name: string;
    readonly state: BreakerState;
    readonly disabled: boolean;
    /** The reply, in short, by which its next hop refuses us; null if it does not. */
    readonly refusal: string | null;
  }[];
  /** Relays whose quota for today is used up. */
  readonly spent: readonly SpentRelay[];
  /** How late the longest waiting due delivery is, apart from those of these relays, in ms; 0 if none is due. */
  readonly latenessMs: number;
  /** Restored recipients that nobody has decided on. */
  readonly restored: number;
  /** Mail waits for a route. */
  readonly unrouted: boolean;
  /** Of the rules in force. */
  readonly missingRelays: readonly MissingRelay[];
  /** Ids of nodes that have not been heard of for a while, without announcing their end. */
  readonly missingNodes: readonly string[];
  /** Time until the TLS certificate expires, in ms; null if there is none. */
  readonly certificateLeftMs: number | null;
  /** Findings of other parts, such as an unreadable configuration file. */
  readonly notices: readonly HealthCheck[];
}

/** The overall status and its checks. */
export interface HealthVerdict {
  readonly status: HealthStatus;
  readonly message: string;
  readonly checks: readonly HealthCheck[];
}

const DAY_MS = 86_400_000;
/** Health is degraded if a due delivery is later than this. */
const LATE_MS = 5 * 60_000;
/** Health is degraded if a certificate expires sooner than this. */
const EXPIRING_MS = SOON_DAYS * DAY_MS;

/** Derives health from the facts. */
export function assessHealth(facts: HealthFacts): HealthVerdict {
  const checks = [
    checkStore(facts.store),
    facts.diskHoldsMail ? checkDisk(facts.disk) : checkSmallDisk(facts.disk),
    checkPorts(facts.portFaults, facts.smtpBound),
    checkRelays(facts.relays),
    checkQueue(facts.latenessMs),
    checkQuotas(facts.spent),
    checkRoutes(facts.unrouted, facts.missingRelays),
    ...(facts.missingNodes.length === 0 ? [] : [checkNodes(facts.missingNodes)]),
    ...(facts.restored === 0 ? [] : [RESTORED]),
    ...(facts.certificateLeftMs === null ? [] : [checkCertificate(facts.certificateLeftMs)]),
    ...facts.notices,
  ];
  const ill = checks.filter((check) => check.status !== 'healthy');
  return {
    status: worst(checks),
    message: ill.length === 0 ? 'All is well.' : ill.map((check) => check.detail).join(' '),
    checks,
  };
}

/** Classifies the free bytes of a volume; null means unknown. */
export function diskStatus(freeBytes: number | null, limits: DiskLimits): DiskStatus {
  if (freeBytes === null) return 'unknown';
  if (freeBytes < limits.criticalBytes) return 'critical';
  return freeBytes < limits.lowBytes ? 'low' : 'ok';
}

function worst(checks: readonly HealthCheck[]): HealthStatus {
  const ranks = checks.map((check) => HEALTH_STATUSES.indexOf(check.status));
  return HEALTH_STATUSES[Math.max(...ranks)] ?? 'healthy';
}

function checkStore(store: HealthFacts['store']): HealthCheck {
  switch (store) {
    case 'well':
      return healthy('database', 'The database answers.');
    case 'silent':
      return critical('database', 'The database does not answer: nothing can be accepted.');
    case 'failed':
      return critical('database', 'The database cannot commit: nothing can be accepted.');
  }
}

function checkDisk(disk: DiskStatus): HealthCheck {
  switch (disk) {
    case 'ok':
      return healthy('disk', 'There is enough disk space.');
    case 'low':
      return degraded('disk', 'The disk is nearly full: less is free than health.disk_low_bytes.');
    case 'critical':
      return critical('disk', 'The disk is full: less is free than health.disk_critical_bytes.');
    case 'unknown':
      return degraded('disk', 'The free disk space is unknown.');
  }
}

/** Certificates and the like need room to be written; mail is accepted all the same. */
function checkSmallDisk(disk: DiskStatus): HealthCheck {
  switch (disk) {
    case 'ok':
      return healthy('disk', "There is space on this node's disk; mail is kept on the database's.");
    case 'low':
    case 'critical':
      return degraded('disk', "This node's disk is nearly full: less is free than health.disk_low_bytes.");
    case 'unknown':
      return degraded('disk', "The free space on this node's disk is unknown.");
  }
}

function checkPorts(faults: readonly PortFault[], smtpBound: boolean): HealthCheck {
  // A port is configured or switched off; only a configured one can be missing.
  if (faults.length === 0) return healthy('ports', 'Every configured port is bound.');
  const detail = faults.map(portDetail).join(' ');
  if (!smtpBound)
    return degraded('ports', `No SMTP port is bound: nobody can send mail over SMTP. ${detail}`);
  return faults.every(isExcused) ? healthy('ports', detail) : degraded('ports', detail);
}

/**
 * Nobody asked for this port, and an unprivileged process cannot have it, or mail has another way in: it is mentioned,
 * no more. A port that was set is relied on, wherever else mail is accepted.
 */
function isExcused({ set, reason, fallback }: PortFault): boolean {
  return !set && (reason === 'no_privilege' || fallback !== null);
}

const PORT_REASONS: Readonly<Record<PortFault['reason'], string>> = {
  in_use: 'another program uses it.',
  no_privilege: 'it needs CAP_NET_BIND_SERVICE, or a lower sysctl net.ipv4.ip_unprivileged_port_start.',
  unavailable: 'an address to bind is not on this machine.',
  failed: 'the log says why.',
};

/** The detail for a port that is missing. */
export function portDetail({ port, key, reason, fallback }: PortFault): string {
  const detail = `Port ${port} of ${key} is not bound: ${PORT_REASONS[reason]}`;
  return fallback === null ? detail : `${detail} Port ${fallback} is bound instead.`;
}

function checkRelays(relays: HealthFacts['relays']): HealthCheck {
  const refused = relays.filter((relay) => relay.refusal !== null);
  const details = refused.slice(0, MAX_TOLD).map(refusedDetail);
  if (refused.length > MAX_TOLD) details.push(`The same applies to ${refused.length - MAX_TOLD} more.`);
  if (relays.some(({ state, refusal }) => state === 'open' && refusal === null))
    details.push('A relay rests because its next hop fails.');
  return details.length > 0
    ? degraded('relays', details.join(' '))
    : healthy('relays', disabledDetail(relays));
}

/** Without the peer's own words, which may hold an address or a URL. */
function refusedDetail({ name, refusal }: HealthFacts['relays'][number]): string {
  return `The next hop refuses us, relay ${name}: ${refusal}. Correct the relay, then: waybill relays test ${name}.`;
}

/** A relay that an operator disabled is healthy, but must not be forgotten. */
function disabledDetail(relays: HealthFacts['relays']): string {
  return relays.some((relay) => relay.disabled)
    ? 'No relay rests. A relay is disabled: its mail goes to another relay, or waits.'
    : 'No relay rests.';
}

function checkQueue(latenessMs: number): HealthCheck {
  return latenessMs > LATE_MS
    ? degraded('queue', 'A delivery has been due for more than 5 minutes.')
    : healthy('queue', 'No delivery is late.');
}

/** Most rules, and most relays, whose problems are spelled out. */
const MAX_TOLD = 3;

/** Mail that waits for another day is not lost, but an operator may have to raise the quota, or name a next relay. */
function checkQuotas(spent: readonly SpentRelay[]): HealthCheck {
  if (spent.length === 0) return healthy('quotas', 'No relay has used up today’s quota.');
  const short = spent.filter((one) => isShort(one, LATE_MS));
  // What degrades health comes first.
  const told = [...short, ...spent.filter((one) => !short.includes(one))];
  const details = told.slice(0, MAX_TOLD).map(spentText);
  if (told.length > MAX_TOLD) details.push(`The same applies to ${told.length - MAX_TOLD} more.`);
  return short.length > 0 ? degraded('quotas', details.join(' ')) : healthy('quotas', details.join(' '));
}

function checkRoutes(unrouted: boolean, missing: readonly MissingRelay[]): HealthCheck {
  const faults = missing.slice(0, MAX_TOLD).map(missingDetail);
  if (missing.length > MAX_TOLD) faults.push(`The same applies to ${missing.length - MAX_TOLD} more.`);
  if (missing.length > 0) faults.push(`Add the relay, or: ${MISSING_CURE}.`);
  if (unrouted) faults.push('Mail waits for a route: no relay in its rule or the default accepts it.');
  return faults.length > 0
    ? degraded('routes', faults.join(' '))
    : healthy('routes', 'All waiting mail has a route.');
}

/** How to remove a missing relay from rules. */
export const MISSING_CURE = 'publish rules without it: waybill routes publish FILE';

/** The detail for a rule that names a missing relay. */
export function missingDetail({ rule, relay }: MissingRelay): string {
  return `The rule ${rule} names the relay ${relay}, which does not exist: its group does without it.`;
}

/** Its mail continues on the other nodes, but somebody relies on it. */
function checkNodes(missing: readonly string[]): HealthCheck {
  const told = missing
    .slice(0, MAX_TOLD)
    .map((id) => `The node ${id} has not reported for more than 30 seconds.`);
  if (missing.length > MAX_TOLD) told.push(`The same applies to ${missing.length - MAX_TOLD} more.`);
  return degraded('node_missing', told.join(' '));
}

/** Mail that was unsent when the backup was taken may have been sent since: only an operator can know. */
const RESTORED: HealthCheck = {
  name: 'restored',
  status: 'degraded',
  detail:
    'Mail that came back with a backup is held. To send it: waybill queue resume --restored; or: waybill queue cancel --restored.',
};

function checkCertificate(leftMs: number): HealthCheck {
  if (leftMs <= 0) return degraded('certificate', 'The TLS certificate has expired.');
  return leftMs < EXPIRING_MS
    ? degraded('certificate', 'The TLS certificate expires within 14 days.')
    : healthy('certificate', 'The TLS certificate is valid for more than 14 days.');
}

function healthy(name: string, detail: string): HealthCheck {
  return { name, status: 'healthy', detail };
}

function degraded(name: string, detail: string): HealthCheck {
  return { name, status: 'degraded', detail };
}

function critical(name: string, detail: string): HealthCheck {
  return { name, status: 'critical', detail };
}
