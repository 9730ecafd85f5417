/**
 * A provider's API, as far as one differs from another: how a message becomes a request, and what an answer means. No
 * sockets and no time in here: `exchange.ts` has those, the same for all.
 */
import type { BodyFlags, Envelope } from '../../domain/message.ts';
import { localReply, type Reply } from '../../domain/outcome.ts';
import type { Sliced } from '../../lib/clock.ts';

/** What an answer means for the message, and for the relay. */
export type Meaning =
  /** The provider took responsibility. */
  | 'done'
  /** It took nothing; the same request may succeed later. */
  | 'later'
  /** It took nothing, and never will: the message's fault. */
  | 'never'
  /** It took nothing, and takes nothing from us now: quota, rate, a bad key, a suspended account. The relay's illness. */
  | 'relay_ill'
  /** It may have taken the message. */
  | 'unknown';

/** A line of a provider's answer table. The first that matches decides. */
export interface AnswerRow {
  /** An HTTP status, or all of a hundred. */
  readonly status: number | '2xx' | '3xx' | '4xx' | '5xx';
  /** The provider's own code for it, as {@link Provider.read} finds it; absent: any, or none. */
  readonly code?: string;
  readonly meaning: Meaning;
  /** Enhanced status code (RFC 3463) that says the same. */
  readonly enhanced: string;
  /** What it means, as a person would say it: for the documents, and beside the provider's own words. */
  readonly note: string;
}

/** What an answer says in the provider's own words. */
export interface AnswerFacts {
  /** Its code for an error; null when there is none. */
  readonly code: string | null;
  /** Its text for an error; null when there is none. */
  readonly text: string | null;
  /** Its id of the message it took; null when it gave none. */
  readonly messageId: string | null;
  /** False when a body was expected and could not be understood: a 2xx is `unknown` then. */
  readonly understood: boolean;
  /** Recipients for whom it did not take the message that it took for the others; absent: it took it for all. */
  readonly refused?: readonly string[];
}

/** An answer as it came. */
export interface HttpAnswer {
  readonly status: number;
  /** By name in lower case; of repeated ones the first. */
  readonly headers: Readonly<Record<string, string>>;
  /** At most 64 KiB of it, as UTF-8. */
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

/** A request, or why the provider cannot be given this message: then nothing of it was sent, and another relay may take it. */
export type Prepared =
  | { readonly ok: true; readonly request: ProviderRequest }
  | { readonly ok: false; readonly reply: Reply };

/** What preparing needs besides the message. */
export interface PrepareContext {
  /** Wall ms: what the request is signed for. */
  readonly now: number;
  /** What requests are authorised with where that has to be asked for ({@link Provider.tokens}); else empty. */
  readonly token: string;
}

/** What a provider says of our credentials. */
export interface CheckFinding {
  readonly good: boolean;
  /** For a person: what is wrong, or what is worth knowing. */
  readonly text: string;
}

/** See the top of this file. One per relay. */
export interface Provider {
  /** Larger messages are not offered; of the stored bytes. */
  readonly maxMessageBytes: number;
  /** Recipients in one request. */
  readonly maxRecipients: number;
  /** Under what name it takes an idempotency key; null: it knows none. For the documents. */
  readonly idempotency: string | null;
  /** What its answers mean. */
  readonly answers: readonly AnswerRow[];
  /** Makes the request. Pauses where there is much to do, so that the loop goes on (`lib/clock.ts`). */
  prepare(message: ProviderMessage, context: PrepareContext): Sliced<Prepared>;
  /** Reads an answer. Never throws, whatever came. */
  read(answer: HttpAnswer): AnswerFacts;
  /** A request that changes nothing and shows whether the credentials are good; null where there is none. */
  check(context: PrepareContext): ProviderRequest | null;
  /**
   * What an answer to `check` says by itself; null where it is none that is meant for that: then `answers` tell, and a 2xx
   * is not the provider's. Absent: a 2xx is good.
   */
  checked?(answer: HttpAnswer): CheckFinding | null;
  /** It can be given mail with the null reverse-path; absent: it cannot. */
  readonly expressesNullReversePath?: boolean;
  /** Where a token has to be asked for: the request, and how its answer is read. Absent: none is needed. */
  readonly tokens?: TokenSource;
}

/** How access tokens are got (OAuth 2.0, RFC 6749). */
export interface TokenSource {
  /** Where they are asked for. */
  readonly url: string;
  /** What names that place in the configuration, for texts: `authority`, `token_url`. */
  readonly setting: string;
  /** What no text may show; it grows when the server gives another refresh token. */
  readonly secrets: readonly string[];
  /** The request, for now (wall ms). */
  ask(now: number): ProviderRequest;
  /** What the answer gives; null when it has no token. Another refresh token is shown from then on (RFC 6749 §6). */
  read(answer: HttpAnswer): GivenToken | null;
}

/** An access token, as it was given. */
export interface GivenToken {
  readonly token: string;
  /** How long it is good, in ms. */
  readonly forMs: number;
  /** Another refresh token came with it. */
  readonly isRotated: boolean;
}

/** A member of an object of JSON; null when it has none of that name, or is no object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : null;
}

/** As {@link memberOf}, where it must be text of 1 to `maxLength` characters; null for anything else. */
export function textOf(value: unknown, name: string, maxLength: number): string | null {
  const text = memberOf(value, name);
  return typeof text === 'string' && text !== '' && text.length <= maxLength ? text : null;
}

const ASCII = /^\p{ASCII}*$/u;

/** Why a provider that knows only ASCII in headers and addresses cannot be given a message; null where it can. */
export function unfitForAscii({ envelope, flags }: ProviderMessage): Reply | null {
  if (!flags.utf8 && addressesOf(envelope).every((address) => ASCII.test(address))) return null;
  const text = 'The message has headers or addresses that are not ASCII, which the provider does not take';
  return localReply('smtputf8_unsupported', '5.6.7', text);
}

function addressesOf({ reversePath, recipients }: Envelope): string[] {
  return [reversePath, ...recipients.map(({ address }) => address)];
}
