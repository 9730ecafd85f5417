import { execFile } from 'node:child_process';
import type { Clock } from '../lib/clock.ts';

/** Notifies the service manager (sd_notify(3)). */
export interface ServiceManager {
  /** Everything listens, or the configuration was reloaded. The first call starts the watchdog's pings. */
  ready(status: string): void;
  /** The configuration is being reloaded. */
  reloading(): void;
  /** The service is about to end. Resolves when that was sent, or failed. */
  stopping(): Promise<void>;
}

/** What notifying needs. */
export interface ServiceManagerOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Tells a person, once, that the manager cannot be notified. */
  readonly say: (text: string) => void;
}

/** A message is abandoned after this long, so that later ones get their turn. */
const SEND_TIMEOUT_MS = 5_000;
/** Pings in the watchdog's time-out: one may be late. */
const PINGS = 2;

/**
 * The service manager to notify; null without `NOTIFY_SOCKET`. Its socket takes datagrams, which Node.js cannot send:
 * `systemd-notify` does. That waits until a message was read, so that the manager can still identify the sender. The
 * sender is our child process, so the unit needs `NotifyAccess=all`.
 */
export function serviceManager(options: ServiceManagerOptions): ServiceManager | null {
  const socket = options.environment['NOTIFY_SOCKET'] ?? '';
  return socket === '' ? null : new Systemd(socket, options);
}

class Systemd implements ServiceManager {
  readonly #socket: string;
  readonly #options: ServiceManagerOptions;
  readonly #stop = new AbortController();
  /** Resolves when all messages so far have been sent: they arrive in order. */
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

  /** Sent from the event loop, so that a stuck one is noticed. */
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

/** Sends one message; returns what went wrong, in a few words, otherwise null. */
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

/** The interval of watchdog pings; null without one, or if it watches another process (sd_watchdog_enabled(3)). */
function pingEveryMs(environment: ServiceManagerOptions['environment']): number | null {
  const { WATCHDOG_USEC = '', WATCHDOG_PID = String(process.pid) } = environment;
  const micros = /^\d{1,15}$/.test(WATCHDOG_USEC) ? Number(WATCHDOG_USEC) : 0;
  if (micros === 0 || WATCHDOG_PID !== String(process.pid)) return null;
  return Math.max(1, micros / 1000 / PINGS);
}
