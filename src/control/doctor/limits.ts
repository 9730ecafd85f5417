import type { Config } from '../../config/schema.ts';
import { type Finding, ok, warn } from './finding.ts';
import type { Check } from './premises.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** The program itself, its threads and the database's cache, and what work needs for a while. */
const BASE_BYTES = 300 * MIB;
/** For each byte of messages in flight: itself, what it is parsed from or to, its like on the way to the disk, and garbage. */
const COPIES = 4;
/** An idle connection, as docs/operations.md tells. */
const CONNECTION_BYTES = 7 * KIB;
/** Requests to the dashboard, and answers that nobody reads; its connections (`dashboard/server.ts`). */
const DASHBOARD_BYTES = 80 * MIB;
const DASHBOARD_FILES = 1024;
/** Files of the store and the spool, and what a process has anyway. */
const BASE_FILES = 200;

/** The most memory that it takes, whatever clients do: the sum of docs/operations.md, without TLS. */
function memoryBound({ api, webui, listener, limits }: Config): number {
  return (
    BASE_BYTES +
    COPIES * limits.maxBytesInFlight +
    portsOf(api) * (limits.maxUnsentBytes + api.maxConnections * CONNECTION_BYTES) +
    (webui.port === null ? 0 : DASHBOARD_BYTES) +
    listener.maxConnections * CONNECTION_BYTES
  );
}

/** The most files that it has open. */
function filesBound({ api, webui, listener, relays }: Config): number {
  const outgoing = relays.reduce((sum, { limits }) => sum + limits.maxConcurrency, 0);
  const dashboard = webui.port === null ? 0 : DASHBOARD_FILES;
  return listener.maxConnections + portsOf(api) * api.maxConnections + dashboard + outgoing + BASE_FILES;
}

function portsOf({ port, tlsEnabled, tlsPort }: Config['api']): number {
  return Number(port !== null) + Number(tlsEnabled && tlsPort !== null);
}

/** Whether the system gives as much as the settings allow. */
export const limitsCheck: Check = async ({ machine, loaded }) => {
  const { config } = loaded;
  const found: Finding[] = [];
  const files = filesBound(config);
  const maxFiles = machine.maxOpenFiles();
  if (maxFiles !== null && maxFiles < files)
    found.push(
      warn(
        'open files',
        `The system allows ${maxFiles}, and ${files} are needed when all connections are in use.`,
        `LimitNOFILE=${files} in the [Service] section of the unit, or before the start: ulimit -n ${files}`,
      ),
    );
  else found.push(ok('open files', `${maxFiles ?? 'An unknown number'} allowed, at most ${files} needed.`));
  const bytes = memoryBound(config);
  const available = machine.availableMemory();
  if (available !== null && available < bytes)
    found.push(
      warn(
        'memory',
        `${Math.floor(available / MIB)} MiB are available, and under load up to ${Math.ceil(bytes / MIB)} MiB are used.`,
        `limits: { max_bytes_in_flight: ${Math.max(MIB, Math.floor(available / 8))} }`,
      ),
    );
  else
    found.push(
      ok(
        'memory',
        `${available === null ? 'Unknown' : Math.floor(available / MIB)} MiB available, at most ${Math.ceil(bytes / MIB)} MiB used.`,
      ),
    );
  return found;
};
