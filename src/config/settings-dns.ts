import { parseEndpoint } from '../lib/network.ts';
import { choice, integer, listOf, orNull, text } from './kinds.ts';
import { live } from './setting.ts';

/** More would only make a failure slower. */
const MAX_SERVERS = 8;

/** The address of a server, with or without a port. */
const server = text(
  'an IP address, with a port if it is not 53: 192.0.2.1, 192.0.2.1:5353, 2001:db8::1 or [2001:db8::1]:5353',
  (raw) => parseEndpoint(raw, 53) !== null,
);

/** The settings of the resolver, which `mx` relays ask. */
export const DNS_SETTINGS = {
  'dns.servers': live(
    orNull(listOf(server, 1, MAX_SERVERS), "the system's servers"),
    null,
    "Recursive DNS servers that are asked where mail goes, in this order; one that lately did not answer comes last. null means the system's, from `/etc/resolv.conf`, which is read again when it changes.",
  ),
  'dns.trust_ad': live(
    choice('auto', 'yes', 'no'),
    'auto',
    'Whether to believe the DNS servers when they say that they validated an answer (DNSSEC). DANE needs it. `auto` does when all of them are on this host, for on the way from any other the word can be forged. `yes` is for a validating server behind a way that nobody else can write to.',
  ),
  'dns.timeout_ms': live(
    integer(100, 60_000, 'ms'),
    3000,
    'How long one server may take for one answer, over UDP and again over TCP where an answer is too large.',
  ),
  'dns.attempts': live(
    integer(1, 10),
    2,
    'How often the servers are asked in turn; one that said that it cannot answer is not asked again.',
  ),
  'dns.cache_entries': live(
    integer(0, 1_000_000),
    10_000,
    'Most answers remembered, with 512 bytes of DNS data for each on average. An answer is kept as long as it allows, from a second to a day; that there is none for up to an hour; a failure for 5 seconds.',
  ),
};
