import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { locate } from './need.ts';
import { writePostfixFiles } from './postfix-files.ts';
import { untilFound } from './watch.ts';

/** The programs it needs. Only root can start Postfix: its daemons take on other users' names. */
export const POSTFIX_PROGRAMS = process.getuid?.() === 0 ? ['postfix'] : ['postfix (to be started by root)'];

/** A Postfix that runs on files of its own. */
export class PostfixInstance {
  readonly port: number;
  /** For `postfix -c` and its like. */
  readonly configuration: string;
  /** Where its files are, its log among them. */
  readonly directory: string;
  readonly #child: ChildProcess;
  /** All its daemons are in the process group of the first. */
  readonly #group: number;

  private constructor(child: ChildProcess, directory: string, configuration: string, port: number) {
    this.port = port;
    this.configuration = configuration;
    this.#child = child;
    this.directory = directory;
    this.#group = -Number(readFileSync(join(directory, 'queue/pid/master.pid'), 'utf8'));
  }

  /** Starts one in a directory of its own, with these lines in `main.cf`; resolves when it accepts connections. */
  static async start(directory: string, settings: string): Promise<PostfixInstance> {
    const port = await freePort();
    const logged = `maillog_file_prefixes = ${directory}\nmaillog_file = ${directory}/log\n${settings}`;
    const configuration = await writePostfixFiles({ directory, port, settings: logged });
    const child = spawn(locate('postfix') ?? '', ['-c', configuration, 'start-fg'], { stdio: 'ignore' });
    await untilStarted(child, directory);
    return new PostfixInstance(child, directory, configuration, port);
  }

  /** What it has logged so far. */
  log(): string {
    return logOf(this.directory);
  }

  /** Sends a signal to all its daemons. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.#group, signal);
  }

  /** Ends it and removes its directory. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.signal('SIGKILL');
    await ended;
    rmSync(this.directory, { recursive: true });
  }
}

/** Resolves when Postfix logs that it listens. */
async function untilStarted(child: ChildProcess, directory: string): Promise<void> {
  const ended = new AbortController();
  child.once('exit', (code) => ended.abort(new Error(`Postfix ended with ${code}:\n${logOf(directory)}`)));
  await untilFound(directory, () => logOf(directory).includes('daemon started') || null, ended.signal);
}

function logOf(directory: string): string {
  const file = join(directory, 'log');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
