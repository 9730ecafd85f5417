/**
 * The parts in which providers' APIs differ: how a message becomes a request, and what an answer means. No sockets and
 * no time here: `exchange.ts` has those, the same for all.
 */
import type { BodyFlags, Envelope } from '../../domain/message.ts';
import { localReply, type Reply } from '../../domain/outcome.ts';
import type { Sliced } from '../../lib/clock.ts';

/** The meaning of an answer for the message, and for the relay. */
export type Meaning =
  /** The provider accepted responsibility. */
  | 'done'
  /** Nothing was accepted; the same request may succeed later. */
  | 'later'
  /** Nothing was accepted, nor ever will be: the message's fault. */
  | 'never'
  /** Nothing is accepted from us now: quota, rate, a bad key, a suspended account. The relay's failure. */
  | 'relay_ill'
  /** The message may have been accepted. */
  | 'unknown';

/** A row of a provider's answer table. The first match decides. */
export interface AnswerRow {
  /** An HTTP status, or a whole class. */
  readonly status: number | '2xx' | '3xx' | '4xx' | '5xx';
  /** The provider's own code, as found by {@link Provider.read}; absent: any, or none. */
  readonly code?: string;
  readonly meaning: Meaning;
  /** The equivalent enhanced status code (RFC 3463). */
  readonly enhanced: string;
  /** Its meaning for people: in the documents, and beside the provider's own words. */
  readonly note: string;
}

/** What an answer says in the provider's own terms. */
export interface AnswerFacts {
  /** Its error code; null if there is none. */
  readonly code: string | null;
  /** Its error text; null if there is none. */
  readonly text: string | null;
  /** Its id for the accepted message; null if it gave none. */
  readonly messageId: string | null;
  /** False when an expected body could not be parsed: a 2xx is `unknown` then. */
  readonly understood: boolean;
  /** Recipients refused from a message that was accepted for the others; absent: none. */
  readonly refused?: readonly string[];
}

/** An answer as received. */
export interface HttpAnswer {
  readonly status: number;
  /** By name in lower case; the first of repeated ones. */
  readonly headers: Readonly<Record<string, string>>;
  /** At most 64 KiB, as UTF-8. */
  readonly body: string;
}

/** A request to a provider. */
export interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  /** Absolute, under the provider's endpoint. */
  readonly url: string;
  /** Without Content-Length and Host. Holds secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
}

/** A message, whole in memory, for the recipients of one attempt. */
export interface ProviderMessage {
  /** Our id. */
  readonly id: string;
  readonly envelope: Envelope;
  readonly flags: BodyFlags;
  /** The stored bytes: CRLF lines, not dot-stuffed. */
  readonly content: Buffer;
}

/** A request, or why the provider cannot be given this message: nothing was sent, and another relay may take it. */
export type Prepared =
  | { readonly ok: true; readonly request: ProviderRequest }
  | { readonly ok: false; readonly reply: Reply };

/** What `prepare` needs besides the message. */
export interface PrepareContext {
  /** Wall ms, for the request's signature. */
  readonly now: number;
  /** The access token, if the provider has {@link Provider.tokens}; otherwise empty. */
  readonly token: string;
}

/** A provider's verdict on our credentials. */
export interface CheckFinding {
  readonly good: boolean;
  /** For people: what is wrong, or worth knowing. */
  readonly text: string;
}

/** One provider's API. One instance per relay. */
export interface Provider {
  /** Larger messages are not offered; counts the stored bytes. */
  readonly maxMessageBytes: number;
  /** Most recipients in one request. */
  readonly maxRecipients: number;
  /** The name of its idempotency key; null: it has none. For the documents. */
  readonly idempotency: string | null;
  /** The meanings of its answers. */
  readonly answers: readonly AnswerRow[];
  /** Makes the request. Yields during long work, so that the loop goes on (`lib/clock.ts`). */
  prepare(message: ProviderMessage, context: PrepareContext): Sliced<Prepared>;
  /** Reads an answer. Never throws, whatever the answer. */
  read(answer: HttpAnswer): AnswerFacts;
  /** A request that changes nothing and shows whether the credentials are good; null where there is none. */
  check(context: PrepareContext): ProviderRequest | null;
  /**
   * The finding in an answer to `check`; null for an answer of another kind: then `answers` decide, and a 2xx is not
   * the provider's. Absent: a 2xx is good.
   */
  checked?(answer: HttpAnswer): CheckFinding | null;
  /** Whether it can send with the null reverse-path; absent: it cannot. */
  readonly expressesNullReversePath?: boolean;
  /** How to request an access token and read the answer. Absent: none is needed. */
  readonly tokens?: TokenSource;
}

/** How access tokens are obtained (OAuth 2.0, RFC 6749). */
export interface TokenSource {
  /** The token endpoint. */
  readonly url: string;
  /** The setting that names it, for texts: `authority`, `token_url`. */
  readonly setting: string;
  /** Secrets that no text may show; they grow when the server gives another refresh token. */
  readonly secrets: readonly string[];
  /** The request, for now (wall ms). */
  ask(now: number): ProviderRequest;
  /** The token in the answer; null if there is none. A new refresh token is used from then on (RFC 6749 §6). */
  read(answer: HttpAnswer): GivenToken | null;
}

/** An access token, as given. */
export interface GivenToken {
  readonly token: string;
  /** How long it is valid, in ms. */
  readonly forMs: number;
  /** Another refresh token came with it. */
  readonly isRotated: boolean;
}

const ASCII = /^\p{ASCII}*$/u;

/** Why a provider that accepts only ASCII in headers and addresses cannot be given a message; null if it can. */
export function unfitForAscii({ envelope, flags }: ProviderMessage): Reply | null {
  if (!flags.utf8 && addressesOf(envelope).every((address) => ASCII.test(address))) return null;
  const text = 'The message has headers or addresses that are not ASCII, which the provider does not accept';
  return localReply('smtputf8_unsupported', '5.6.7', text);
}

function addressesOf({ reversePath, recipients }: Envelope): string[] {
  return [reversePath, ...recipients.map(({ address }) => address)];
}
