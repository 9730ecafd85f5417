import { execFile } from 'node:child_process';
import type { Clock } from '../lib/clock.ts';

/** What the manager of this service is told of it (sd_notify(3)). */
export interface ServiceManager {
  /** Everything listens, or the configuration was read anew. The first time the watchdog's pings begin. */
  ready(status: string): void;
  /** The configuration is being read anew. */
  reloading(): void;
  /** It is about to end. Resolves when that has been told, or could not be. */
  stopping(): Promise<void>;
}

/** What telling the manager takes. */
export interface ServiceManagerOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Tells a person, once, that the manager cannot be told. */
  readonly say: (text: string) => void;
}

/** A message is given up after this long, so that those behind it have their turn. */
const SEND_TIMEOUT_MS = 5_000;
/** Pings in the time after which the watchdog bites: one may be late. */
const PINGS = 2;

/**
 * The manager that wants to be told; null where none does (no `NOTIFY_SOCKET`). Its socket takes datagrams, which Node.js cannot
 * send: `systemd-notify` does. That waits until a message has been read, so that the manager still finds out whose it was.
 * The sender is a child of ours, so the unit needs `NotifyAccess=all`.
 */
export function serviceManager(options: ServiceManagerOptions): ServiceManager | null {
  const socket = options.environment['NOTIFY_SOCKET'] ?? '';
  return socket === '' ? null : new Systemd(socket, options);
}

class Systemd implements ServiceManager {
  readonly #socket: string;
  readonly #options: ServiceManagerOptions;
  readonly #stop = new AbortController();
  /** Ends when all messages until now have been sent: they arrive in their order. */
  #sent: Promise<void> = Promise.resolve();
  #isReady = false;
  #complained = false;

  constructor(socket: string, options: ServiceManagerOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  ready(status: string): void {
    void this.#send('READY=1', `STATUS=${status}`);
    if (this.#isReady) return;
    this.#isReady = true;
    void this.#ping();
  }

  reloading(): void {
    void this.#send('RELOADING=1', 'STATUS=Reading the configuration');
  }

  async stopping(): Promise<void> {
    this.#stop.abort();
    await this.#send('STOPPING=1', 'STATUS=Finishing what is in progress');
  }

  /** From the event loop, so that one that is stuck is noticed. */
  async #ping(): Promise<void> {
    const everyMs = pingEveryMs(this.#options.environment);
    const { signal } = this.#stop;
    while (everyMs !== null) {
      await this.#options.clock.sleep(everyMs, signal);
      if (signal.aborted) return;
      await this.#send('WATCHDOG=1');
    }
  }

  #send(...message: string[]): Promise<void> {
    this.#sent = this.#sent.then(async () => {
      const fault = await notify(this.#socket, this.#options.environment, message);
      if (fault === null || this.#complained) return;
      this.#complained = true;
      this.#options.say(
        `The server cannot tell systemd that it is ready (NOTIFY_SOCKET): systemd-notify ${fault}. Install it, or put Type=exec and no WatchdogSec= into the unit.`,
      );
    });
    return this.#sent;
  }
}

/** Sends one message; gives what went wrong, in a few words, else null. */
function notify(
  socket: string,
  { PATH }: ServiceManagerOptions['environment'],
  message: readonly string[],
): Promise<string | null> {
  const options = { env: { PATH, NOTIFY_SOCKET: socket }, timeout: SEND_TIMEOUT_MS };
  return new Promise((resolve) => {
    execFile('systemd-notify', [...message], options, (error) => {
      if (error === null) resolve(null);
      else if (error.code === 'ENOENT') resolve('is not there');
      else resolve(error.killed ? 'got no answer' : `failed (${error.code})`);
    });
  });
}

/** How often the watchdog is to be pinged; null where there is none, or it watches another process (sd_watchdog_enabled(3)). */
function pingEveryMs(environment: ServiceManagerOptions['environment']): number | null {
  const { WATCHDOG_USEC = '', WATCHDOG_PID = String(process.pid) } = environment;
  const micros = /^\d{1,15}$/.test(WATCHDOG_USEC) ? Number(WATCHDOG_USEC) : 0;
  if (micros === 0 || WATCHDOG_PID !== String(process.pid)) return null;
  return Math.max(1, micros / 1000 / PINGS);
}
