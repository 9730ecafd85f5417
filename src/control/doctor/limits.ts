import { type Finding, ok, warn } from './finding.ts';
import type { Check } from './premises.ts';

const MIB = 1024 * 1024;
/** The program itself, its threads and the database's cache. */
const BASE_BYTES = 200 * MIB;
/** Files of the store and the spool, and what a process has anyway. */
const BASE_FILES = 200;

/** Whether the system gives as much as the settings allow. */
export const limitsCheck: Check = async ({ machine, loaded }) => {
  const { config } = loaded;
  const found: Finding[] = [];
  const connections = config.relays.reduce((sum, { limits }) => sum + limits.maxConcurrency, 0);
  const files = config.listener.maxConnections + config.api.maxConnections + connections + BASE_FILES;
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
  const bytes = config.limits.maxBytesInFlight + config.limits.maxUnsentBytes + BASE_BYTES;
  const available = machine.availableMemory();
  if (available !== null && available < bytes)
    found.push(
      warn(
        'memory',
        `${Math.floor(available / MIB)} MiB are available, and under load up to ${Math.ceil(bytes / MIB)} MiB are used.`,
        `limits: { max_bytes_in_flight: ${Math.max(MIB, Math.floor(available / 4))} }`,
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
