import type { Command } from 'commander';
import { dataDirectory, loadConfig, NOTHING_STORED } from '../config/load.ts';
import { createControlClient, isServerRunning } from '../control/client.ts';
import { fail } from '../control/doctor/finding.ts';
import { requireDataDirectory } from '../control/layout.ts';
import type { Finding } from '../operations/system.ts';
import { type CommonOptions, type Context, command, print } from './context.ts';
import { findingsText } from './findings-text.ts';
import { DEFAULT_COLUMNS, Exit } from './terminal.ts';

/** How long to wait for the server. If it takes longer, it is not well. */
const GREETING_MS = 1_000;
/** The same, for the database to open: on a busy machine, another process may hold it for a moment. */
const OPENING_MS = 3_000;
const NOT_OPENED =
  'It did not open within three seconds: another process holds it, or the machine is too busy.';
/** The examination itself takes less. */
const ANSWER_MS = 4_000;

/** `waybill doctor`: what could keep mail from coming in or going out, and what cures it. */
export function doctorCommand(context: Context): Command {
  return command(
    'doctor',
    'look for what keeps mail from coming in or going out, and how to fix it; takes a few seconds',
    ['waybill doctor', 'waybill doctor --json'],
  )
    .addHelpText('after', '\nExit status: 1 if anything fails, 0 if there are at most warnings.')
    .action(async (options: CommonOptions) => {
      const findings = await examineHere(context, options);
      const columns = context.terminal.columns() ?? DEFAULT_COLUMNS;
      print(context, options, { findings }, () => findingsText(findings, columns));
      if (findings.some(({ status }) => status === 'fail')) throw new Exit(1);
    });
}

/** By the running server, which knows best what it may and sees; else here, as the owner of the data directory. */
async function examineHere(context: Context, options: CommonOptions): Promise<readonly Finding[]> {
  const dataDir = dataDirectory(options.data, context.terminal.environment);
  requireDataDirectory(dataDir);
  try {
    if (!(await isServerRunning(dataDir, GREETING_MS)))
      return await examineOffline(dataDir, context, options);
    return await createControlClient(dataDir, ANSWER_MS).doctor({});
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return [
      fail('server', text, 'see its log, then restart it: sudo systemctl restart waybill'),
      ...(await examineWithoutStore(dataDir, context, options, 'The server holds it, and does not answer.')),
    ];
  }
}

/** Also where the database cannot be opened: then that is a finding, and the rest is looked at all the same. */
async function examineOffline(
  dataDir: string,
  context: Context,
  options: CommonOptions,
): Promise<readonly Finding[]> {
  const { environment } = context.terminal;
  const { openOffline } = await import('../control/offline.ts');
  const opening = openOffline({ ...context, dataDir, configFile: options.config, environment });
  const late = context.clock.sleep(OPENING_MS).then(() => null);
  const opened = await Promise.race([opening, late]).catch((error: unknown) => String(error));
  if (opened === null || typeof opened === 'string')
    return await examineWithoutStore(dataDir, context, options, opened ?? NOT_OPENED);
  try {
    return await opened.operations.doctor({});
  } finally {
    await opened.close();
  }
}

async function examineWithoutStore(
  dataDir: string,
  { clock, random, terminal }: Context,
  options: CommonOptions,
  storeFault: string,
): Promise<readonly Finding[]> {
  const { environment } = terminal;
  const sources = { dataDir, configFile: options.config, environment, stored: NOTHING_STORED, random };
  const loaded = loadConfig(sources);
  const { examineInstallation } = await import('../control/doctor/examination.ts');
  return await examineInstallation({
    dataDir,
    loaded,
    views: null,
    storeFault,
    running: false,
    takeBackDenied: () => {},
    hookProvenAt: async () => null,
    spool: null,
    webhooks: null,
    issuing: null,
    keyring: null,
    clock,
    random,
  });
}
