import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/peers/free-port.ts';
import { startChild } from './child.ts';
import { untilListening } from './wait.ts';

/** A next hop that takes everything and keeps nothing, in a process of its own. */
export interface Sink {
  readonly port: number;
  /** Messages taken so far. */
  taken(): number;
  /** Resolves when it has taken as many messages as it was started for; rejects when it ended before. */
  readonly full: Promise<void>;
  stop(): Promise<void>;
}

const PROGRAMS = ['/usr/sbin/smtp-sink', '/usr/lib/postfix/smtp-sink', '/usr/lib/postfix/sbin/smtp-sink'];
/** The most that `smtp-sink` can count. */
const MAX_COUNT = 2 ** 31 - 1;
const BACKLOG = '1000';
/** Of a sink that failed, characters of its output that are told. */
const LAST_WORDS = 300;
const PROVIDER = fileURLToPath(new URL('./provider-server.ts', import.meta.url));
const OWN = fileURLToPath(new URL('./own-sink.ts', import.meta.url));

/** Path of Postfix's `smtp-sink`; null when our own takes its place. */
export function sinkProgram(): string | null {
  return PROGRAMS.find((program) => existsSync(program)) ?? null;
}

/** Starts a provider's API that ends after `count` messages. */
export async function startProviderSink(directory: string, count: number): Promise<Sink> {
  const port = await freePort();
  return startCounting(directory, port, count, [process.execPath, PROVIDER, String(port), String(count)]);
}

/** Starts a sink for `count` messages; without a count it goes on for ever. */
export async function startSink(directory: string, count = MAX_COUNT): Promise<Sink> {
  return startSinkAt(await freePort(), directory, count);
}

/** The same on a port that is known. */
export function startSinkAt(port: number, directory: string, count: number): Promise<Sink> {
  return startCounting(directory, port, count, commandLine(port, count));
}

async function startCounting(
  directory: string,
  port: number,
  count: number,
  command: readonly string[],
): Promise<Sink> {
  const log = path.join(directory, 'sink.log');
  // What a sink before it counted is not its own.
  rmSync(log, { force: true });
  const child = await startChild(command, { log });
  await untilListening(port);
  const taken = () => Number(/.*mesg= *(\d+)/s.exec(readFileSync(log, 'latin1').slice(-200))?.[1] ?? 0);
  const full = child.ended.then(() => {
    // It ends before it writes the last.
    if (taken() < count - 1)
      throw new Error(`the sink ended after ${taken()} messages:\n${child.output().slice(-LAST_WORDS)}`);
  });
  // Whoever stops it early, or has given up, does not wait for it.
  full.catch(() => {});
  return { port, taken, full, stop: () => child.kill() };
}

/** `-c` makes it write how many it has taken; as root it must be told whom to become. */
function commandLine(port: number, count: number): string[] {
  const program = sinkProgram();
  if (program === null) return [process.execPath, OWN, String(port), String(count)];
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  return [program, '-c', ...user, '-M', String(count), `127.0.0.1:${port}`, BACKLOG];
}
