/** What the SMTP sink can be told, and what it tells. */
import type { SecureContext } from 'node:tls';
import type { Certificate } from './certificate.ts';

/**
 * The moments at which a script may step in. `CONNECT` stands for the greeting, `CONTENT` for the first bytes
 * after 354 (its default is to say nothing), `DOT` for the end of the content, by dot or by the last chunk. `BDAT` is
 * the command itself, before its bytes: its default is to say nothing, and a reply leaves them to be read as commands.
 * `CHUNK` is the end of a chunk that is not the last.
 */
export type SinkVerb =
  | 'CONNECT'
  | 'EHLO'
  | 'HELO'
  | 'STARTTLS'
  | 'AUTH'
  | 'MAIL'
  | 'RCPT'
  | 'DATA'
  | 'BDAT'
  | 'CHUNK'
  | 'CONTENT'
  | 'DOT'
  | 'RSET'
  | 'NOOP'
  | 'QUIT';

const COMMANDS: ReadonlySet<string> = new Set<SinkVerb>([
  'EHLO',
  'HELO',
  'STARTTLS',
  'AUTH',
  'MAIL',
  'RCPT',
  'DATA',
  'BDAT',
  'RSET',
  'NOOP',
  'QUIT',
]);

/** Whether a command is one the sink knows. */
export function isCommandVerb(text: string): text is SinkVerb {
  return COMMANDS.has(text);
}

/** What the sink does at a verb. A string is a reply, without its last CRLF; it may have several lines. */
export type SinkAction =
  | string
  | {
      /** Waits for this first; a promise that never resolves makes the sink hang. */
      readonly after?: Promise<unknown>;
      /** What to say; nothing when left out. */
      readonly reply?: string;
      /** Says `reply` byte by byte, waiting for this before each. */
      readonly drip?: () => Promise<unknown>;
      /** Repeats `reply` as fast as the client reads, for ever. */
      readonly endless?: boolean;
      /** Ends the connection afterwards: `end` with FIN, `reset` with RST. */
      readonly close?: 'end' | 'reset';
    };

/** Hangs at a verb until the connection ends. */
export const HANG: SinkAction = { after: new Promise(() => {}) };

/** What a script function gets to see. */
export interface SinkEvent {
  readonly verb: SinkVerb;
  /** The command line behind the verb; for `DOT` the number of the message in the session, from 1. */
  readonly argument: string;
  readonly session: SessionView;
}

/** What a session knows; scripts may look. */
export interface SessionView {
  /** From 1, in the order of connecting. */
  readonly number: number;
  readonly tls: boolean;
  /** The authenticated user. */
  readonly user: string | null;
  /** MAIL's argument behind `FROM:`; null outside a transaction. */
  readonly from: string | null;
  /** Recipients answered with 2xx in this transaction. */
  readonly to: readonly string[];
  /** Messages whose end was seen. */
  readonly messages: number;
}

/** One action, or a function that chooses one; `undefined` means the faithful behaviour. */
export type SinkScript = {
  [verb in SinkVerb]?: SinkAction | ((event: SinkEvent) => SinkAction | undefined);
};

/** How a sink is set up. Everything has a default. */
export interface SmtpSinkOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** EHLO keywords besides STARTTLS and AUTH. */
  readonly extensions?: readonly string[];
  /** `starttls` offers STARTTLS; `implicit` begins with TLS. Both need a certificate. Default `none`. */
  readonly tls?: 'none' | 'starttls' | 'implicit';
  readonly certificate?: Certificate;
  /** Offers AUTH PLAIN and LOGIN for these names and passwords. */
  readonly users?: Readonly<Record<string, string>>;
  /** Takes access tokens (XOAUTH2, and OAUTHBEARER of RFC 7628), as Exchange Online and Gmail document it. */
  readonly bearer?: SinkBearer;
  /** What is kept of each message: bytes and all, the envelope, or only the count. Default `all`. */
  readonly keep?: 'all' | 'envelope' | 'count';
  readonly script?: SinkScript;
}

/** How access tokens are taken. */
export interface SinkBearer {
  /** Offered in EHLO; default XOAUTH2 alone, beside LOGIN. */
  readonly mechanisms?: readonly ('XOAUTH2' | 'OAUTHBEARER')[];
  readonly takes: (user: string, token: string) => boolean;
  /** What a 334 says of a token that is not taken, before the 535; absent: the 535 comes at once, as Exchange does. */
  readonly challenge?: string;
  /** The refusal itself, unless it is Exchange's. */
  readonly refusal?: string;
}

/** A message whose end was seen. */
export interface SinkMessage {
  /** Number of the session it came by, from 1. */
  readonly session: number;
  readonly tls: boolean;
  readonly user: string | null;
  /** MAIL's argument behind `FROM:`, parameters included. */
  readonly from: string;
  /** Addresses of the RCPTs that were answered with 2xx, without angle brackets. */
  readonly to: readonly string[];
  /** The content, dots unstuffed; empty when `keep` is not `all`. */
  readonly content: Buffer;
  /** False when the sink answered with a refusal. True also when it took the message and did not say so. */
  readonly taken: boolean;
}

/** Extensions offered unless told otherwise. */
export const SINK_EXTENSIONS = ['PIPELINING', 'SIZE 52428800', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES'];

/** What a session needs of its sink. */
export interface SinkOwner {
  readonly options: SmtpSinkOptions;
  readonly script: SinkScript;
  readonly secureContext: SecureContext | null;
  readonly serverNames: (string | false)[];
  /** Every command line, for `commands`. */
  heard(session: number, line: string): void;
  /** A message's end was seen. */
  record(message: SinkMessage): void;
  /** Something happened that a watcher may wait for. */
  noticed(): void;
}
