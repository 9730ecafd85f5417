/** What a running server holds of its machine, and whether it is well. */
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { usageOf } from '../../bench/measure/process-tree.ts';
import { ask, healthOf } from '../crash/customer.ts';
import type { RunningServer } from '../peers/server.ts';

/** How long it may take until all is as it was: longer than any time-out that ends a client. */
const RECOVERY_MS = 120_000;
const MIB = 1024 * 1024;
/** Connections that come and go by themselves: those of the relay, and of whoever asks for health. */
export const SPARE_SOCKETS = 30;

/** Open files that a process may have. Node.js takes all that it may get, here as in the server. */
export function allowedFiles(): number {
  return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 0);
}

/** See the top of the file. */
export class Vitals {
  readonly #server: RunningServer;
  /** Sockets that it has open when nobody is there. */
  readonly idleSockets: number;
  readonly #idleBytes: number;

  /** Of a server at which nobody is. */
  constructor(server: RunningServer) {
    this.#server = server;
    this.idleSockets = this.sockets;
    this.#idleBytes = usageOf(server.runtime.pid).residentBytes;
  }

  /** Files that it has open, sockets among them. */
  get files(): number {
    return readdirSync(`/proc/${this.#server.runtime.pid}/fd`).length;
  }

  /** Sockets that it has open. Files of the spool are kept open, up to 64, for whoever reads them next. */
  get sockets(): number {
    const folder = `/proc/${this.#server.runtime.pid}/fd`;
    return readdirSync(folder).filter((name) => isSocket(`${folder}/${name}`)).length;
  }

  /** The most memory that it and its children had at once, in MiB, since {@link forgetPeak}. */
  get peakMiB(): number {
    return Math.round(usageOf(this.#server.runtime.pid).peakBytes / MIB);
  }

  /** What it had when nobody was there, in MiB. */
  get idleMiB(): number {
    return Math.round(this.#idleBytes / MIB);
  }

  /** Lets the peak begin anew (proc(5)). */
  forgetPeak(): void {
    writeFileSync(`/proc/${this.#server.runtime.pid}/clear_refs`, '5');
  }

  /** A figure of /metrics, by its name and labels. They are drawn up anew every second. */
  async figure(series: string): Promise<number> {
    const { body } = await ask(this.#server, '/metrics');
    const line = body.split('\n').find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1));
  }

  /** Waits until it has no more sockets open than when nobody was there, holds no message in memory, and is well. */
  async recovered(): Promise<void> {
    const patience = { timeout: RECOVERY_MS, interval: 200 };
    await expect.poll(() => this.sockets, patience).toBeLessThan(this.idleSockets + SPARE_SOCKETS);
    await expect.poll(() => this.figure('svc_bytes_in_flight'), patience).toBe(0);
    await expect.poll(() => this.figure('svc_smtp_connections'), patience).toBeLessThan(SPARE_SOCKETS);
    await expect.poll(async () => (await healthOf(this.#server)).status, patience).toBe('healthy');
  }
}

function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:');
  } catch {
    // Closed meanwhile.
    return false;
  }
}
