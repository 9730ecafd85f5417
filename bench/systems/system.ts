import type { Usage } from '../measure/process-tree.ts';

/** Something that is measured, while it runs. */
export interface System {
  /** What its processes have used so far. */
  usage(): Usage;
  /** Disk flushes so far; NaN unless it was started to be traced. */
  flushes(): number;
  /** Ends it and throws its files away. */
  stop(): Promise<void>;
}

/** How a system is started. */
export interface SystemOptions {
  /** An empty directory of its own on a real disk. */
  readonly directory: string;
  /** Count its disk flushes; its times are worth nothing then. */
  readonly trace: boolean;
}

/** A system that takes mail over SMTP, while it runs. */
export interface Relay extends System {
  /** On 127.0.0.1; takes mail from there to anywhere. */
  readonly smtpPort: number;
  /** Keeps what comes from now on in its queue. */
  hold(): Promise<void>;
  /** Lets it go, all at once. */
  release(): Promise<void>;
}

/** Starts such a system. It relays everything to `relayPort` of 127.0.0.1 over at most 20 connections. */
export type StartRelay = (options: SystemOptions & { readonly relayPort: number }) => Promise<Relay>;
