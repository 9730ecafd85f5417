/** An installation in a temporary folder, worked on by the command line in this very process. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../../src/cli/context.ts';
import { program, run } from '../../src/cli/run.ts';
import { COMMAND_LINE, type Door, operationsOf } from '../../src/control/door.ts';
import { type Offline, openOffline } from '../../src/control/offline.ts';
import { listenForControl } from '../../src/control/server.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { answeredInShape } from './in-shape.ts';

/** The most that the control socket of {@link Installation.startServer} takes, in bytes. */
export const MAX_REQUEST_BYTES = 100_000;

/** What a command did. */
export interface Finished {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** What differs from the ordinary when a command runs. */
export interface Surroundings {
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** What is piped in; absent: somebody sits at a keyboard and types nothing. */
  readonly input?: string | Uint8Array;
  /** What is entered when something is asked for; absent: there is nobody to ask. */
  readonly answer?: string;
  /** How wide the terminal is; absent: there is none. */
  readonly columns?: number;
}

/** Something that runs until it is closed. */
export interface Running {
  close(): Promise<void>;
}

/** See this file's comment. */
export class Installation {
  /** Holds the data directory, and whatever else a test puts there. */
  readonly folder = mkdtempSync(join(tmpdir(), 'waybill-installation-'));
  readonly dataDir: string;

  constructor(name = 'data') {
    this.dataDir = join(this.folder, name);
    mkdirSync(this.dataDir, { recursive: true, mode: 0o700 });
  }

  /** The command line as a tree of commands. */
  commands() {
    return program(this.#context({ out: '', err: '' }, {}), false);
  }

  /** Runs a command. */
  async waybill(args: readonly string[], surroundings: Surroundings = {}): Promise<Finished> {
    const written = { out: '', err: '' };
    const status = await run(args, this.#context(written, surroundings));
    return { status, ...written };
  }

  /** What a command works with; what it prints is added to `written`. */
  #context(written: { out: string; err: string }, surroundings: Surroundings): Context {
    const terminal = {
      out: (text: string) => {
        written.out += `${text}\n`;
      },
      err: (text: string) => {
        written.err += `${text}\n`;
      },
      write: async (bytes: Uint8Array) => {
        written.out += Buffer.from(bytes).toString('latin1');
      },
      input: async function* () {
        yield Buffer.from(surroundings.input ?? '');
      },
      isTyped: () => surroundings.input === undefined,
      environment: { WAYBILL_DATA: this.dataDir, ...surroundings.environment },
      columns: () => surroundings.columns ?? null,
      redraw: () => {
        throw new Error('nothing is drawn where no terminal is');
      },
      askUnseen: async (question: string) => {
        written.err += question;
        return surroundings.answer ?? null;
      },
    };
    return { terminal, clock: surroundings.clock ?? systemClock, random: systemRandom };
  }

  /** Runs a command with `--json` and gives what it printed, parsed. Throws unless it went well. */
  async json(args: readonly string[]) {
    const { status, out, err } = await this.waybill([...args, '--json']);
    if (status !== 0 || err !== '') throw new Error(`status ${status}: ${err}`);
    return JSON.parse(out);
  }

  /** Takes the data directory, as a server does that is starting. Its answers are held to their records. */
  async open(): Promise<Offline> {
    const { dataDir } = this;
    const opened = await openOffline({ dataDir, environment: {}, clock: systemClock, random: systemRandom });
    const door: Door = {
      call: (actor, name, request, progress) =>
        answeredInShape(name, progress, (watched) => opened.door.call(actor, name, request, watched)),
    };
    return { ...opened, door, operations: operationsOf(door, COMMAND_LINE) };
  }

  /** Answers on the control socket, as a server does, over an installation that was opened. */
  async listen({ door }: Offline): Promise<Running> {
    const { dataDir } = this;
    return await listenForControl({
      dataDir,
      door,
      maxRequestBytes: () => MAX_REQUEST_BYTES,
      log: silentLog,
    });
  }

  /** Does what a server does for the control socket, and listens to nothing else. */
  async startServer(): Promise<Running> {
    const opened = await this.open();
    const control = await this.listen(opened);
    return {
      close: async () => {
        await control.close();
        await opened.close();
      },
    };
  }

  /** Removes all of it. */
  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
