import type { Loaded } from '../../config/load.ts';
import type { Resolver } from '../../dns/resolver.ts';
import type { ProviderSettings, SmarthostSettings } from '../../domain/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ListenErrorCode } from '../../lib/listen.ts';
import type { Random } from '../../lib/random.ts';
import type { Finding } from '../../operations/system.ts';
import type { Spool } from '../../spool/spool.ts';
import type { Keyring } from '../../store/accounts.ts';
import type { Issuing } from '../../store/issuing.ts';
import type { Views } from '../../store/views.ts';
import type { Webhooks } from '../../store/webhooks.ts';
import type { ProbeStep } from '../../transport/transport.ts';

/** One check. An exception becomes a finding; results not returned when `signal` aborts are lost. */
export type Check = (premises: Premises, signal: AbortSignal) => Promise<readonly Finding[]>;

/** Everything that checks examine. */
export interface Premises {
  readonly dataDir: string;
  readonly loaded: Pick<Loaded, 'config' | 'faults' | 'effective' | 'configFile' | 'vault' | 'holds'>;
  /** The running server's; null while none runs. */
  readonly bound: RuntimePorts | null;
  /** Null if the database cannot be opened. */
  readonly views: Pick<Views, 'figures' | 'waiting' | 'list' | 'lanes' | 'quotaUsed'> | null;
  /** Why it cannot be opened. */
  readonly storeFault: string | null;
  readonly machine: Machine;
  readonly resolver: Resolver;
  /** Connects to a smarthost without sending anything. */
  readonly probe: (settings: SmarthostSettings, signal: AbortSignal) => AsyncIterable<ProbeStep>;
  /** Asks a provider whether it knows us, without sending anything. */
  readonly probeProvider: (settings: ProviderSettings, signal: AbortSignal) => AsyncIterable<ProbeStep>;
  /** When the hook of a relay was last proven (wall ms, to within hours); null for never, or if that is unknown. */
  readonly hookProvenAt: (relay: string) => Promise<number | null>;
  /** Null if it is not open. */
  readonly spool: Pick<Spool, 'encryption'> | null;
  /** Endpoints of webhooks; null: unknown. */
  readonly webhooks: Pick<Webhooks, 'webhookEndpoints'> | null;
  /** The certificate that is ordered by ACME; null: unknown. */
  readonly issuing: Pick<Issuing, 'issuing'> | null;
  /** The API keys; null: unknown. */
  readonly keyring: Pick<Keyring, 'list' | 'signingIds' | 'findSigning'> | null;
  /** Undoes the counted refusal of one of our addresses for this reason: it was a test. */
  readonly takeBackDenied: (sourceAddress: string, reason: string) => void;
  readonly clock: Clock;
  readonly random: Random;
}

/** The ports of `runtime.json` (contract §1). */
export interface RuntimePorts {
  readonly pid: number;
  readonly version: string;
  readonly api: number | null;
  readonly apiTls: number | null;
  readonly webui: number | null;
  readonly smtp: readonly number[];
  readonly smtpTls: readonly number[];
}

/** This machine's answers to the doctor. Null means unknown. */
export interface Machine {
  /** Binds a port on every host and releases it at once: `free`, or why it is not. */
  tryPort(hosts: readonly string[], port: number): Promise<'free' | ListenErrorCode>;
  /** The program that listens on a port, such as `master (process 812)`. */
  portOwner(port: number): Promise<string | null>;
  /** Ports below this one need a privilege. */
  firstFreePort(): number | null;
  /** Writes and flushes small pieces in a folder for about `budgetMs`; returns the duration of each flush, in ms. */
  flushTimes(folder: string, budgetMs: number): Promise<readonly number[]>;
  /** Room on the volume of a folder. */
  space(folder: string): Promise<VolumeSpace>;
  /** Whether the folder is in memory, and lost on power failure. */
  inMemory(folder: string): Promise<boolean>;
  /** The time of a file just written in the folder (wall ms). */
  fileTime(folder: string): Promise<number>;
  /** When the program was installed (wall ms): the current time cannot be earlier. */
  builtAt(): number;
  /** Whether the system says that its clock is synchronised. */
  clockSynchronised(signal: AbortSignal): Promise<boolean | null>;
  /** Most files and sockets that this process may have open. */
  maxOpenFiles(): number | null;
  /** Memory that is free for programs, in bytes. */
  availableMemory(): number | null;
  /** Addresses of this machine, without loopback and link-local ones. */
  addresses(): readonly string[];
  /** The router's address: connections through a container's port mapping come from it. */
  gateway(): string | null;
  /** Whether we run in a container. */
  inContainer(): boolean;
  /** Permission bits of a file. */
  fileMode(path: string): number | null;
  /** The text of a file; throws when it cannot be read. */
  readFile(path: string): string;
  /** Asks for a URL by GET; its status, or why there is none. A redirect is not followed. */
  knock(url: string, signal: AbortSignal): Promise<number | string>;
  /** Talks to a port; see {@link Dialogue}. */
  dialogue(peer: DialoguePeer, lines: readonly string[], signal: AbortSignal): Promise<Dialogue>;
}

/** Whom a dialogue is held with. */
export interface DialoguePeer {
  /** An address. */
  readonly host: string;
  readonly port: number;
  /** Our own address on the connection; absent: the system's choice. */
  readonly from?: string;
}

/** See {@link Machine.space}. */
export interface VolumeSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The result of an SMTP dialogue. */
export interface Dialogue {
  /** False when nobody answered there. */
  readonly connected: boolean;
  /** The greeting, and the reply to each line sent, until one was refused or the peer closed the connection. */
  readonly replies: readonly string[];
}
