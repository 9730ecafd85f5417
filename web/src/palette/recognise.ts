import { messageNamed } from '../pages/messages/query-text.ts';

/**
 * What a pasted text may be. It is decided by its form alone, so nothing is asked of the server, and one that could be several
 * things is all of them: `<a@b.example>` is a Message-ID in a header and an address in a log.
 */
export type Guess =
  /** Names one message: its id, the same as a UUID, or a Message-ID in angle brackets. */
  | { readonly kind: 'message'; readonly text: string }
  /** An address that may be a Message-ID: with the brackets that it lacks. */
  | { readonly kind: 'message_id'; readonly text: string }
  /** How an id of a message begins. */
  | { readonly kind: 'message_start'; readonly text: string }
  | { readonly kind: 'address'; readonly text: string }
  | { readonly kind: 'domain'; readonly text: string }
  | { readonly kind: 'ip'; readonly text: string }
  /** How an API key begins: never more of it. */
  | { readonly kind: 'key'; readonly text: string }
  /** What a next hop may have called a message, such as its queue id. */
  | { readonly kind: 'hop'; readonly text: string }
  | { readonly kind: 'webhook' | 'template' | 'suppression' | 'alert'; readonly text: string };

/** Longer texts are no id. */
const MAX_TEXT = 1000;

/** A key, or how one begins. What follows its first characters is secret, and goes nowhere. */
const KEY = /\bwb_(?:live|test)_[0-9A-Za-z]{0,6}/;
const MESSAGE_START = /^msg_[0-9a-hjkmnp-tv-z]{1,25}$/i;
const THING = /^(whe|tpl|sup|alr)_[0-9a-hjkmnp-tv-z]{26}$/;
const THINGS = { whe: 'webhook', tpl: 'template', sup: 'suppression', alr: 'alert' } as const;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** At the end of a reply, as most servers write it. */
const QUEUED_AS = /\bqueued (?:mail for delivery )?as:? ([\w.+/=-]{5,200})\)?[.;]?$/i;
/** As the server takes it, see `docs/search.md`: one word with a digit. */
const HOP = /^(?=\D*\d)[\w.+/=-]{5,200}$/;
/** In brackets as in a header or a log, or by itself. */
const ADDRESS = /^(?:.*<)?(?:mailto:)?([^\s<>"@]{1,64}@[^\s<>"@]{1,255})>?$/;
const DOMAIN =
  /^[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?(?:\.[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?)*\.(?:xn--[a-z0-9-]+|\p{L}{2,63})$/u;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** What a text may be, the likeliest first; empty for words. */
export function recognise(pasted: string): readonly Guess[] {
  if (pasted.length > MAX_TEXT) return [];
  const key = KEY.exec(pasted)?.[0];
  if (key !== undefined) return [{ kind: 'key', text: key }];
  const text = bare(pasted);
  const guesses = [
    ...messageGuesses(text),
    ...thingGuess(text),
    ...ipGuess(text),
    ...addressGuesses(text),
    ...domainGuess(text),
  ];
  return isSure(guesses, text) ? guesses : [...guesses, ...hopGuess(text)];
}

/** Whether a text has an API key in it, of which nothing but its beginning may be sent or kept. */
export function holdsKey(text: string): boolean {
  return KEY.test(text);
}

/** Without what surrounds it where it was copied: quotes, and what ends a clause. */
function bare(text: string): string {
  return text.trim().replace(/^["'`(]+|["'`),;]+$/g, '');
}

function messageGuesses(text: string): Guess[] {
  const name = messageNamed(text);
  if (name !== null) return [{ kind: 'message', text: name }];
  return MESSAGE_START.test(text) ? [{ kind: 'message_start', text }] : [];
}

function thingGuess(text: string): Guess[] {
  const prefix = THING.exec(text)?.[1];
  return prefix === undefined ? [] : [{ kind: THINGS[prefix as keyof typeof THINGS], text }];
}

/** Also with a port, and in brackets as in an address literal. */
function ipGuess(text: string): Guess[] {
  const plain = text.replace(/^\[(?:IPv6:)?|\](?::\d{1,5})?$/gi, '');
  if (IPV4.test(plain)) return [{ kind: 'ip', text: plain }];
  const [host = '', port] = plain.split(':');
  if (IPV4.test(host) && port !== undefined && /^\d{1,5}$/.test(port)) return [{ kind: 'ip', text: host }];
  return isIpv6(plain) ? [{ kind: 'ip', text: plain.toLowerCase() }] : [];
}

function isIpv6(text: string): boolean {
  return /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text) && URL.canParse(`http://[${text}]/`);
}

/** An address may be a Message-ID without its brackets, too. */
function addressGuesses(text: string): Guess[] {
  const address = ADDRESS.exec(text)?.[1];
  if (address === undefined) return [];
  const isBracketed = messageNamed(text) !== null;
  const found: Guess[] = [{ kind: 'address', text: address }];
  return isBracketed ? found : [...found, { kind: 'message_id', text: `<${address}>` }];
}

/** Also behind an at sign, and as the host of a URL. */
function domainGuess(text: string): Guess[] {
  const host = text.replace(/^(?:[a-z]+:\/\/|@)/i, '').replace(/(?::\d+)?(?:\/.*)?$/, '');
  const domain = host.replace(/\.$/, '').toLowerCase();
  return domain.length <= 253 && DOMAIN.test(domain) ? [{ kind: 'domain', text: domain }] : [];
}

function hopGuess(text: string): Guess[] {
  const id = QUEUED_AS.exec(text)?.[1] ?? text;
  return HOP.test(id) ? [{ kind: 'hop', text: id }] : [];
}

/** Whether no next hop would call a message so. A UUID it might. */
function isSure(guesses: readonly Guess[], text: string): boolean {
  return guesses.length > 0 && !UUID.test(text);
}
