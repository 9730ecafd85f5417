import { readFileSync, statSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import { type Endpoint, parseEndpoint } from '../../lib/network.ts';

/** How long a server that did not answer is asked only after the others. */
const AVOID_MS = 30_000;
/** More servers than anybody has; beyond it, the record starts afresh. */
const MAX_REMEMBERED = 100;

/** Remembers which servers did not answer, so that a dead one costs one time-out, not one for each question. */
export class ServerOrder {
  readonly #clock: Clock;
  readonly #avoidedUntil = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The given servers in their order, but recently silent ones last. */
  sort(servers: readonly Endpoint[]): Endpoint[] {
    const isAvoided = (server: Endpoint) => (this.#avoidedUntil.get(keyOf(server)) ?? 0) > this.#clock.mono();
    return [...servers.filter((server) => !isAvoided(server)), ...servers.filter(isAvoided)];
  }

  /** Records that a server answered, or did not. */
  note(server: Endpoint, answered: boolean): void {
    this.#avoidedUntil.delete(keyOf(server));
    if (answered) return;
    if (this.#avoidedUntil.size >= MAX_REMEMBERED) this.#avoidedUntil.clear();
    this.#avoidedUntil.set(keyOf(server), this.#clock.mono() + AVOID_MS);
  }
}

function keyOf({ address, port }: Endpoint): string {
  return `${address} ${port}`;
}

// The system's DNS servers (resolv.conf(5)).

const DNS_PORT = 53;
const RESOLV_CONF = '/etc/resolv.conf';
/** The limit of the system's own resolver. */
const MAX_SERVERS = 3;
const FALLBACK: readonly Endpoint[] = [{ address: '127.0.0.1', port: DNS_PORT }];
/** How often the file is checked. */
const LOOK_AFTER_MS = 1000;
const MAX_FILE_CHARACTERS = 65_536;

/** The servers in use: those of `dns.servers`, or the system's. Each is known to be well-formed. */
export type ServerList = (configured: readonly string[] | null) => readonly Endpoint[];

/**
 * Reads the system's servers, and again within a second of a change of the file. A file that is missing, or names none,
 * means a server on this host, as for the system. Link-local addresses with a zone are left out.
 */
export function createServerList(clock: Clock, file = RESOLV_CONF): ServerList {
  let servers = readServers(file);
  let version = versionOf(file);
  let lookAt = clock.mono() + LOOK_AFTER_MS;
  return (configured) => {
    if (configured !== null) return configured.flatMap((text) => parseEndpoint(text, DNS_PORT) ?? []);
    if (clock.mono() < lookAt) return servers;
    lookAt = clock.mono() + LOOK_AFTER_MS;
    const now = versionOf(file);
    if (now !== version) servers = readServers(file);
    version = now;
    return servers;
  };
}

/** The addresses in a resolv.conf; invalid ones, and all other options, are ignored. */
export function parseResolvConf(text: string): readonly Endpoint[] {
  const found = text.split('\n').flatMap((line) => {
    const [, address = ''] = /^nameserver[ \t]+([^ \t\r#;]+)/.exec(line) ?? [];
    return parseEndpoint(address, DNS_PORT) ?? [];
  });
  return found.length === 0 ? FALLBACK : found.slice(0, MAX_SERVERS);
}

function readServers(file: string): readonly Endpoint[] {
  try {
    return parseResolvConf(readFileSync(file, 'utf8').slice(0, MAX_FILE_CHARACTERS));
  } catch {
    return FALLBACK;
  }
}

/** Changes with the file; follows links, since tools replace the file behind one. */
function versionOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}
