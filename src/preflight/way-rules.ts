import type { Alignment } from '../domain/alignment.ts';
import type { Hop } from './contract.ts';
import type { Found, Rule } from './rule.ts';

/** What Postfix takes by default (message_size_limit); many servers have never been told otherwise. */
const WIDELY_TAKEN = 10_240_000;

/** Providers whose APIs take addresses in ASCII alone: see `unfitForAscii` and `rebuild` in transport/providers. */
const ASCII_ONLY: ReadonlySet<Hop['type']> = new Set([
  'ses',
  'mailgun',
  'graph',
  'postmark',
  'sendgrid',
  'resend',
]);

/** Those with which a next hop can promise TLS for the rest of the way: REQUIRETLS is an extension of SMTP. */
const SPEAK_SMTP: ReadonlySet<Hop['type']> = new Set(['smtp', 'mx']);

/** Rules on the way of a message: what its relays take, and how receivers can tell who sent it. */
export const WAY_RULES: readonly Rule[] = [
  {
    code: 'dmarc-not-aligned',
    severity: 'warning',
    looksAt: 'From, signature, reverse-path',
    finds: 'neither DKIM nor SPF that would align',
    find: (_, { hops }) =>
      unsignedOn(hops, 'not_aligned', 'Neither a signature nor the reverse-path aligns with From.'),
  },
  {
    code: 'dkim-not-aligned',
    severity: 'hint',
    looksAt: 'From, signature',
    finds: 'only SPF that would align',
    find: (_, { hops }) => unsignedOn(hops, 'aligned', 'Only SPF can align, and forwarding breaks that.'),
  },
  {
    code: 'relay-size',
    severity: 'error',
    looksAt: 'size',
    finds: 'more bytes than the relay accepts',
    *find({ sizeBytes }, { hops }) {
      for (const { relay, maxBytes } of hops)
        if (sizeBytes !== null && maxBytes !== null && sizeBytes > maxBytes)
          yield {
            where: '',
            detail: `The relay ${relay} accepts at most ${maxBytes} bytes; the message has ${sizeBytes}.`,
            fix: 'Send links instead of files, or route it through a relay that accepts more.',
          };
    },
  },
  {
    code: 'message-size',
    severity: 'hint',
    looksAt: 'size',
    finds: 'more bytes than many servers accept',
    *find({ sizeBytes }) {
      if (sizeBytes === null || sizeBytes <= WIDELY_TAKEN) return;
      const detail = `The message has ${sizeBytes} bytes as it is sent; many servers accept at most ${WIDELY_TAKEN}.`;
      yield { where: '', detail, fix: 'Send links instead of large files.' };
    },
  },
  {
    code: 'smtputf8-refused',
    severity: 'error',
    looksAt: 'addresses of the envelope',
    finds: 'one that needs SMTPUTF8, which the relay does not have',
    *find(_, { hops, utf8Address }) {
      if (utf8Address === null) return;
      for (const { relay, type } of hops)
        if (ASCII_ONLY.has(type))
          yield {
            where: '',
            detail: `${utf8Address} is not ASCII before the @; ${type}, which the relay ${relay} uses, does not accept such addresses.`,
            fix: 'Use an address in ASCII, or route it through a relay that speaks SMTP.',
          };
    },
  },
  {
    code: 'smtputf8-needed',
    severity: 'hint',
    looksAt: 'addresses of the envelope',
    finds: 'one that needs SMTPUTF8 all the way',
    *find(_, { hops, utf8Address }) {
      if (utf8Address === null || hops.some(({ type }) => ASCII_ONLY.has(type))) return;
      const detail = `${utf8Address} is not ASCII before the @: it arrives only where every server on the way offers SMTPUTF8.`;
      yield { where: '', detail, fix: 'Use an address in ASCII where there is one.' };
    },
  },
  {
    code: 'requiretls-refused',
    severity: 'error',
    looksAt: '`requireTls`',
    finds: 'a message that requires TLS all the way, which the relay cannot promise',
    *find(_, { hops, requiresTls }) {
      if (!requiresTls) return;
      for (const { relay, type } of hops)
        if (!SPEAK_SMTP.has(type))
          yield {
            where: '',
            detail: `The message requires TLS all the way; ${type}, which the relay ${relay} uses, cannot promise that.`,
            fix: 'Route it through a relay that speaks SMTP to a server with REQUIRETLS, or send it without requireTls.',
          };
    },
  },
];

/** The relays of this verdict on whose way nothing of ours signs. */
function* unsignedOn(
  hops: readonly Hop[],
  verdict: Alignment['verdict'],
  result: string,
): Generator<Found, void> {
  for (const { relay, alignment, signingCure } of hops)
    if (alignment.verdict === verdict && signingCure !== null)
      yield {
        where: 'header:From',
        detail: `Through the relay ${relay}: ${result}`,
        fix: `To have it signed: ${signingCure}.`,
      };
}
