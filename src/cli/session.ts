import { existsSync } from 'node:fs';
import { formatFault } from '../config/fault.ts';
import { dataDirectory } from '../config/load.ts';
import { createControlClient, isServerRunning } from '../control/client.ts';
import { requireDataDirectory } from '../control/layout.ts';
import type { Offline } from '../control/offline.ts';
import type { Operations } from '../operations/table.ts';
import { StoreError } from '../store/store.ts';
import type { Context, Places } from './context.ts';
import { Exit } from './terminal.ts';

/** How an installation is opened. */
interface SessionOptions {
  /** Go on although the configuration has faults: they are shown, and the status is 1 in the end. */
  readonly tolerateFaults?: true;
}

/**
 * Does `use` with the operations of the installation, whether its server runs (as the argument says) or not. Makes no data
 * directory: one that is not there is a name mistyped.
 */
export async function withOperations(
  context: Context,
  places: Places,
  options: SessionOptions,
  use: (operations: Operations, running: boolean) => Promise<void>,
): Promise<void> {
  const dataDir = dataDirectory(places.data, context.terminal.environment);
  const running = await runningOperations(context, places);
  if (running !== null) return await use(running, true);
  const offline = await openUnlessStarted(dataDir, context, places);
  if (offline === null) return await use(createControlClient(dataDir), true);
  try {
    await inOffline(offline, context, options, use);
  } finally {
    await offline.close();
  }
}

/** The operations of the installation's server; null while none runs. */
export async function runningOperations({ terminal }: Context, places: Places): Promise<Operations | null> {
  const dataDir = dataDirectory(places.data, terminal.environment);
  requireDataDirectory(dataDir);
  if (!(await isServerRunning(dataDir))) return null;
  refuseMissing(places.config);
  return createControlClient(dataDir);
}

/** A running server has read the file that it was started with; a name that means no file is a mistake all the same. */
function refuseMissing(configFile: string | undefined): void {
  if (configFile !== undefined && !existsSync(configFile))
    throw new Exit(1, `${configFile}: there is no such file. The server is running: --config is not needed.`);
}

/** Opens the installation; null when a server that was just starting has taken it meanwhile. */
async function openUnlessStarted(dataDir: string, context: Context, places: Places): Promise<Offline | null> {
  const { environment } = context.terminal;
  // Imported only now: commands for a running server need not wait for all that one is made of.
  const { openOffline } = await import('../control/offline.ts');
  try {
    return await openOffline({ ...context, dataDir, configFile: places.config, environment });
  } catch (error) {
    if (isInUse(error) && (await isServerRunning(dataDir))) return null;
    throw error;
  }
}

async function inOffline(
  { faults, operations }: Offline,
  { terminal }: Context,
  options: SessionOptions,
  use: (operations: Operations, running: boolean) => Promise<void>,
): Promise<void> {
  const before = faults();
  if (before.length > 0 && !options.tolerateFaults) throw new Exit(1, before.map(formatFault).join('\n'));
  await use(operations, false);
  // Some commands are the cure.
  const after = faults();
  if (after.length === 0) return;
  terminal.err(after.map(formatFault).join('\n'));
  throw new Exit(1);
}

/** Another process has the data directory. */
export function isInUse(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'store_in_use';
}
