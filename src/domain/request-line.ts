/**
 * One line of the log of requests: what became of a request to the ingestion API, or of an SMTP session. Never anything
 * of its body, nor a recipient.
 */
export interface RequestLine {
  /** When it was answered, or had ended, wall ms. */
  readonly at: number;
  /** Whose key it named, or the named source that it is; null: neither that is known. */
  readonly keyId: string | null;
  /** Where it came from; null: from several, or from before this was noted. */
  readonly sourceAddress: string | null;
  /** `SMTP` for a session. */
  readonly method: string;
  /** The path as it is shown, see `ingest/http/shown-path.ts`; without the query. Empty for a session. */
  readonly path: string;
  /**
   * As it was answered; null: the client left before. Of a session, the code of the reply that refused it, 250 if it
   * was refused nothing that mattered, or 221 if nothing was sent.
   */
  readonly status: number | null;
  /** Why it was refused, as our own API, or our log of the denied, says it; null if it was not. */
  readonly code: string | null;
  /** The first fields that were wrong, each with its code; null if none was. */
  readonly faults: string | null;
  readonly durationMs: number;
  readonly requestId: string;
  /** How many requests it stands for: itself, and those like it that were left out. */
  readonly weight: number;
  /** What is known of a session only; null: a request to the API. */
  readonly session: SmtpSessionFacts | null;
}

/** What an SMTP session was like. */
export interface SmtpSessionFacts {
  /** The name that it gave in EHLO or HELO, shortened; null: none. */
  readonly hello: string | null;
  /** Such as `TLSv1.3`; null: in clear. */
  readonly tls: string | null;
  /** MAIL commands. */
  readonly offered: number;
  /** Messages that were accepted. */
  readonly accepted: number;
  /** The first of them, by their ids. */
  readonly messages: readonly string[];
  /** All refused commands. */
  readonly refused: number;
  /** The first ways in which commands were refused. */
  readonly refusals: readonly SmtpRefusal[];
  readonly end: SessionEnd;
}

/** A command that a session refused. */
export interface SmtpRefusal {
  /** The command; null: before any, or none that we know. */
  readonly verb: string | null;
  readonly reply: number;
  readonly enhanced: string;
  readonly text: string;
  /** A code that can be looked up. */
  readonly code: string;
  readonly times: number;
}

/** How a session ended: by QUIT, by the client's leaving without it, by time, or by us. */
export type SessionEnd = 'quit' | 'lost' | 'time_out' | 'closed';

/** Whether it was refused, or came to nothing. */
export function isRefused({ status }: Pick<RequestLine, 'status'>): boolean {
  return status === null || status >= 400;
}
