import type { Form } from '../load/http-bodies.ts';
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
export interface Taker extends System {
  /** On 127.0.0.1; takes mail from there to anywhere. */
  readonly smtpPort: number;
}

/** A system that takes mail over HTTP, while it runs. */
export interface Poster extends System {
  /** On 127.0.0.1; over TLS where it was started so. */
  readonly httpPort: number;
  /** Where a message is posted in each form. */
  readonly paths: Readonly<Record<Form, string>>;
  /** A key that may send. */
  readonly key: string;
}

/** How either is started. It relays everything to `relayPort` of 127.0.0.1 over at most 20 connections. */
export interface TakerOptions extends SystemOptions {
  readonly relayPort: number;
  /** It need not try to deliver: nothing will be taken. */
  readonly holds?: boolean;
  /** It offers TLS. */
  readonly tls?: boolean;
}

/** One whose queue can be held. */
export interface Relay extends Taker {
  /** Keeps what comes from now on in its queue. */
  hold(): Promise<void>;
  /** Lets it go, all at once. */
  release(): Promise<void>;
  /** Tells it that the next hop is there again, where it must be told to notice at once. */
  flush(): Promise<void>;
}

/** Starts a system that takes mail over HTTP. */
export type StartPoster = (options: TakerOptions) => Promise<Poster>;

/** Starts a system that takes mail over SMTP. */
export type StartTaker = (options: TakerOptions) => Promise<Taker>;

/** Starts one whose queue can be held. */
export type StartRelay = (options: TakerOptions) => Promise<Relay>;
