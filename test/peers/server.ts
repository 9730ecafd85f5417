import { type ChildProcess, type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { run as runProgram } from '../../src/cli/run.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { untilFound } from './watch.ts';

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
/** Where `tools/bundle.ts` has put the program into few files, as `npm test` has it do; null: it runs from its sources. */
const BUNDLE = process.env['WAYBILL_PROGRAM'] === undefined ? null : dirname(process.env['WAYBILL_PROGRAM']);

/** The path of a module that `tools/bundle.ts` names: from few files it starts in half the time. */
export function moduleOf(source: string): string {
  return BUNDLE === null ? pathOf(source) : join(BUNDLE, basename(source).replace(/\.ts$/, '.js'));
}

/** The program. */
export const MAIN = moduleOf('src/main.ts');
const DIRECTLY = [process.execPath, MAIN];
/** The same program's command line, as a module. */
const COMMAND_LINE = moduleOf('src/cli/run.ts');
/** As users start it: slower to start, but with all that `./waybill` says of memory. */
export const AS_INSTALLED = [pathOf('waybill')];

/** `runtime.json` as contract §1 has it. */
export interface Runtime {
  readonly pid: number;
  readonly api: number | null;
  readonly apiTls: number | null;
  readonly webui: number | null;
  readonly smtp: readonly number[];
  readonly smtpTls: readonly number[];
}

/** What a command printed, and how it ended. */
export interface CommandEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command to its end, without an input, in this very process: to start one costs a hundred times of what most commands
 * do. What only a process can show, such as the modes of the files that it makes, is for {@link Installation.runUnder} and {@link Installation.spawn}.
 */
export async function runCommand(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<CommandEnd> {
  const out: Uint8Array[] = [];
  let err = '';
  const note = (text: string) => {
    err += text;
  };
  const terminal = {
    out: (text: string) => void out.push(Buffer.from(`${text}\n`)),
    err: (text: string) => note(`${text}\n`),
    write: async (bytes: Uint8Array) => void out.push(bytes),
    input: async function* () {},
    isTyped: () => false,
    environment,
    columns: () => null,
    redraw: note,
    askUnseen: async () => null,
  };
  const { run }: { readonly run: typeof runProgram } = await import(pathToFileURL(COMMAND_LINE).href);
  const code = await run(args, { terminal, clock: systemClock, random: systemRandom });
  return { code, stdout: Buffer.concat(out).toString(), stderr: err };
}

/** A data directory with a configuration, in which the real program runs as a process of its own. */
export class Installation {
  readonly dataDir: string;
  /** What the program is given as its environment; may be changed before it is started. */
  readonly environment: NodeJS.ProcessEnv;
  readonly #program: readonly string[];
  readonly #launched: RunningServer[] = [];

  /** `program`: what goes before its commands. */
  constructor(
    configuration: string,
    environment: NodeJS.ProcessEnv = {},
    program: readonly string[] = DIRECTLY,
  ) {
    this.#program = program;
    this.dataDir = mkdtempSync(join(tmpdir(), 'waybill-test-'));
    this.configure(configuration);
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('WAYBILL_'));
    this.environment = { ...Object.fromEntries(inherited), ...environment };
  }

  /** Writes `waybill.yaml` anew. */
  configure(configuration: string): void {
    writeFileSync(join(this.dataDir, 'waybill.yaml'), configuration);
  }

  /** Runs a command to its end, by {@link runCommand} where the program is the one that is tested. */
  run(...args: readonly string[]): Promise<CommandEnd> {
    if (this.#program !== DIRECTLY) return this.runUnder([], ...args);
    return runCommand([...args, '--data', this.dataDir], this.environment);
  }

  /** Runs a command as a process. `under` goes before it, such as a tracer that becomes the command itself. */
  runUnder(under: readonly string[], ...args: readonly string[]): Promise<CommandEnd> {
    const command = [...under, ...this.#program, ...args, '--data', this.dataDir];
    const [program = '', ...rest] = command;
    return new Promise((resolve) => {
      execFile(program, rest, { env: this.environment }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, stdout, stderr });
      });
    });
  }

  /** Starts a command whose output is looked at while it runs, and which may be given an input. */
  spawn(...args: readonly string[]): ChildProcessWithoutNullStreams {
    const [program = '', ...rest] = [...this.#program, ...args, '--data', this.dataDir];
    return spawn(program, rest, { env: this.environment, stdio: 'pipe' });
  }

  /** Starts the server. `under` goes before the command, such as a tracer that becomes the command itself. */
  launch(under: readonly string[] = []): RunningServer {
    const command = [...under, ...this.#program, 'serve', '--data', this.dataDir];
    const [program = '', ...args] = command;
    const child = spawn(program, args, { env: this.environment, stdio: ['ignore', 'pipe', 'pipe'] });
    const server = new RunningServer(child, this.dataDir);
    this.#launched.push(server);
    return server;
  }

  /** Starts the server and waits until all its listeners accept. */
  async start(under: readonly string[] = []): Promise<RunningServer> {
    const server = this.launch(under);
    await server.ready();
    return server;
  }

  /** Removes everything. A server that runs still is killed. */
  remove(): void {
    for (const server of this.#launched) server.signal('SIGKILL');
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

/** The real server, running. */
export class RunningServer {
  /** What it printed so far. */
  output = '';
  /** The address at which its ports are reached. */
  host = '127.0.0.1';
  readonly #process: ChildProcess;
  readonly #dataDir: string;
  readonly #exited: Promise<number | null>;
  #runtime: Runtime | null = null;
  #onOutput = () => {};

  constructor(child: ChildProcess, dataDir: string) {
    this.#process = child;
    this.#dataDir = dataDir;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
        this.#onOutput();
      });
    this.#exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  }

  /** The ports it is bound to. */
  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('the server is not ready');
    return this.#runtime;
  }

  /** Where the ingestion API answers. */
  get api(): string {
    return `http://${this.host}:${this.runtime.api}`;
  }

  /** Resolves once this process has written `runtime.json`; rejects if it ends before. */
  async ready(): Promise<void> {
    const ended = new AbortController();
    void this.#exited.then((code) =>
      ended.abort(new Error(`the server ended with ${code} before it was ready:\n${this.output}`)),
    );
    const look = () => readRuntime(this.#dataDir, this.#process.pid);
    this.#runtime = await untilFound(this.#dataDir, look, ended.signal);
  }

  /** Resolves once it has printed something that matches; rejects if it ends before. */
  async printed(pattern: RegExp): Promise<void> {
    const matched = new Promise<void>((resolve) => {
      this.#onOutput = () => {
        if (pattern.test(this.output)) resolve();
      };
      this.#onOutput();
    });
    const ended = this.#exited.then((code) => {
      throw new Error(`the server ended with ${code} before it printed ${pattern}:\n${this.output}`);
    });
    await Promise.race([matched, ended]);
  }

  /** Sends a signal. */
  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Sends a signal and waits for the end; the exit status, null when the signal killed it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.signal(signal);
    return this.#exited;
  }

  /** The exit status, once it ends by itself. */
  get exited(): Promise<number | null> {
    return this.#exited;
  }
}

function readRuntime(dataDir: string, pid: number | undefined): Runtime | null {
  try {
    const runtime = JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as Runtime;
    return runtime.pid === pid ? runtime : null;
  } catch {
    return null;
  }
}
