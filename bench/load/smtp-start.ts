import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startChild } from '../systems/child.ts';
import { until } from '../systems/wait.ts';
import { type LoadReport, parseReport } from './load-report.ts';

/** What our own load over SMTP sends, and how. */
export interface OwnSmtpLoad {
  readonly port: number;
  readonly messages: number;
  readonly sessions: number;
  readonly sizeBytes: number;
  readonly tls: boolean;
  /** Each session sends all its messages over one connection; else it opens one for every message. */
  readonly keepConnections: boolean;
}

/** A client that sends now and then beside the load, until it is told to end. */
export interface Witness {
  end(): Promise<LoadReport>;
}

const PROGRAM = fileURLToPath(new URL('./smtp-load.ts', import.meta.url));
/** Between the messages of a witness: some hundred in ten seconds, too few to be a load. */
const PAUSE_MS = 20;
const START_SECONDS = 30;
/** What the program says when it can be told to end. */
const STARTED = 'started\n';

/** Runs our own load in a process of its own. Throws when anything was refused. */
export async function runSmtpLoad(load: OwnSmtpLoad): Promise<LoadReport> {
  const { port, messages, sessions, sizeBytes, tls, keepConnections } = load;
  const amount = Object.entries({ port, messages, sessions, bytes: sizeBytes });
  const args = amount.flatMap(([name, value]) => [`--${name}`, String(value)]);
  const flags = [...(tls ? ['--tls'] : []), ...(keepConnections ? [] : ['--single'])];
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args, ...flags]);
  return parseReport(stdout.slice(STARTED.length));
}

/**
 * Starts a client that sends what the load sends, one message after the other with pauses, and measures how long each
 * takes to be accepted: `smtp-source` does not. Its output goes into `directory`.
 */
export async function startWitness(
  directory: string,
  load: Pick<OwnSmtpLoad, 'port' | 'sizeBytes' | 'keepConnections'>,
): Promise<Witness> {
  const amount = ['--port', load.port, '--bytes', load.sizeBytes, '--pause', PAUSE_MS].map(String);
  const command = [process.execPath, PROGRAM, ...amount, ...(load.keepConnections ? [] : ['--single'])];
  const child = await startChild(command, { log: path.join(directory, 'witness.log') });
  await until('the witness', START_SECONDS, () => (child.output().startsWith(STARTED) ? true : null));
  return {
    end: async () => {
      process.kill(child.pid, 'SIGTERM');
      await child.ended;
      return parseReport(child.output().slice(STARTED.length));
    },
  };
}
