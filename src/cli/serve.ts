import type { Command } from 'commander';
import { EXIT_IO } from '../app/banner.ts';
import type { ServiceManager } from '../app/service-manager.ts';
import type { App, AppOptions } from '../app.ts';
import { formatFault } from '../config/fault.ts';
import { dataDirectory } from '../config/load.ts';
import { makeDataDirectory } from '../control/layout.ts';
import { version } from '../lib/command.ts';
import { StoreError } from '../store/store.ts';
import { type CommonOptions, type Context, command } from './context.ts';
import { Exit } from './terminal.ts';

/** `waybill serve`: the server, until it is told to stop. */
export function serveCommand(context: Context): Command {
  return command('serve', 'run the server', [
    'waybill serve',
    'WAYBILL_API__PORT=9025 waybill serve --data /srv/mail',
    'waybill serve --json  # log lines are JSON on a terminal too',
  ]).action(async (options: CommonOptions) => {
    const told = toldToStop();
    const stopping = new AbortController();
    void told.then(() => stopping.abort());
    const starting = start(options, context, stopping.signal);
    const managing = managerOf(context);
    const both = Promise.all([starting, managing]);
    // From the first moment on: unheard, the signal would end the process.
    process.on('SIGHUP', () => {
      both
        .then(([app, manager]) => reload(app, manager))
        .catch((error: unknown) => context.terminal.err(String(error)));
    });
    const [app, manager] = await both.catch((error: unknown) => {
      if (stopping.signal.aborted && isClosed(error)) return [];
      throw error;
    });
    if (app === undefined) return;
    manager?.ready(app.status());
    const status = await Promise.race([told, app.failed]);
    const toldManager = manager?.stopping();
    if (status !== 0) throw new Exit(status, 'The machine failed; the log says why.');
    await Promise.all([app.stop(), toldManager]);
  });
}

/** The service manager that wants to be told how this process is; null where there is none. */
async function managerOf({ terminal, clock }: Context): Promise<ServiceManager | null> {
  const { environment } = terminal;
  if (!environment['NOTIFY_SOCKET']) return null;
  const { serviceManager } = await import('../app/service-manager.ts');
  return serviceManager({ environment, clock, say: (text) => terminal.err(text) });
}

async function reload(app: App, manager: ServiceManager | null): Promise<void> {
  manager?.reloading();
  try {
    await app.reload();
  } finally {
    manager?.ready(app.status());
  }
}

/** Whether a start ended because it was told to. */
function isClosed(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'store_closed';
}

async function start(given: CommonOptions, context: Context, signal: AbortSignal): Promise<App> {
  const { environment } = context.terminal;
  const dataDir = dataDirectory(given.data, environment);
  makeDataDirectory(dataDir);
  const logFormat: AppOptions['logFormat'] = process.stdout.isTTY && !given.json ? 'text' : 'json';
  return await startServer({ dataDir, configFile: given.config, logFormat, environment, signal }, context);
}

/** Starts the server. Throws `Exit` where its configuration, the machine or the disk prevents that. */
export async function startServer(
  given: Omit<AppOptions, 'version' | 'clock' | 'random' | 'say'>,
  { terminal, clock, random }: Context,
): Promise<App> {
  const { dataDir } = given;
  // Loaded only now: the other commands do not need it, and start sooner without.
  const { startApp, ConfigurationError } = await import('../app.ts');
  const say = (text: string) => terminal.err(text);
  const options = { ...given, version: version(), clock, random, say };
  try {
    return await startApp(options);
  } catch (error) {
    if (error instanceof ConfigurationError) throw new Exit(1, error.faults.map(formatFault).join('\n'));
    if (error instanceof StoreError && error.code === 'store_failed')
      throw new Exit(EXIT_IO, `The machine failed: ${error.message}`);
    if (isNoRoom(error))
      throw new Exit(
        1,
        `There is not enough space to start: ${error.message}. Free some space where ${dataDir} is, or on the disk of the database, and start again: nothing that was accepted is lost.`,
      );
    throw error;
  }
}

/** Whether a disk is full, or as much of it as is ours: the store's word for it, or the system's. */
function isNoRoom(error: unknown): error is Error {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'store_full' || error.code === 'ENOSPC' || error.code === 'EDQUOT';
}

/** Resolves with the exit status 0 when one of these signals asks for the end. */
export function toldToStop(signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT']): Promise<0> {
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve(0));
  });
}
