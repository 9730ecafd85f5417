/** `waybill version`: which program this is, and whether the running server is the same. Nobody outside is asked. */
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { dataDirectory } from '../config/load.ts';
import { readRuntime } from '../control/doctor/machine.ts';
import { layoutOf } from '../control/layout.ts';
import { version } from '../lib/command.ts';
import { type CommonOptions, type Context, command, print } from './context.ts';
import { Exit } from './terminal.ts';

interface VersionOptions extends CommonOptions {
  readonly check?: true;
}

/** `waybill version [--check]`. */
export function versionCommand(context: Context): Command {
  return command('version', 'print the version; compare it with the server that runs', [
    'waybill version',
    'waybill version --check',
  ])
    .option('--check', 'say what runs here, and where; asks nobody whether there is a newer version')
    .action((options: VersionOptions) => {
      const own = version();
      if (!options.check) {
        print(context, options, { version: own }, () => own);
        return;
      }
      const checked = checkVersion(dataDirectory(options.data, context.terminal.environment));
      print(context, options, checked, () => checkedText(checked));
      const { server } = checked;
      if (server !== null && server.version !== own)
        throw new Exit(1, `The running server is of version ${server.version}: restart it to use ${own}.`);
    });
}

/** What is known here, without a connection to anybody. */
interface Checked {
  readonly version: string;
  readonly node: string;
  /** The folder of the program. */
  readonly program: string;
  readonly dataDir: string;
  /** The server of the data directory; null if none runs there that this user may know of. */
  readonly server: { readonly version: string; readonly pid: number } | null;
}

function checkVersion(dataDir: string): Checked {
  const runtime = readRuntime(layoutOf(dataDir).runtime);
  return {
    version: version(),
    node: process.versions.node,
    program: fileURLToPath(new URL('../..', import.meta.url)),
    dataDir,
    server: runtime !== null && isAlive(runtime.pid) ? { version: runtime.version, pid: runtime.pid } : null,
  };
}

function checkedText({ version, node, program, dataDir, server }: Checked): string {
  const runs = server === null ? 'none found' : `${server.version}, process ${server.pid}`;
  return [
    `Waybill  ${version}, in ${program}`,
    `Node.js  ${node}`,
    `Server   ${runs}, on ${dataDir}`,
    'Nobody was asked whether there is a newer version: Waybill calls no one.',
  ].join('\n');
}

/** A server that was killed leaves its file behind. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
