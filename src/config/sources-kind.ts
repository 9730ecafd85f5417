import { parseDomain } from '../domain/domain-name.ts';
import type { NamedSource } from '../domain/source.ts';
import { isTag } from '../domain/tag.ts';
import { cidr, integer, type Kind, listOf, text } from './kinds.ts';

/** `listener.sources`: devices with a name of their own, but without a key. */

const name = text('a name of 1 to 64 of a-z 0-9 - _', (raw) => /^[a-z0-9_-]{1,64}$/.test(raw));
const domain = text('a domain', (raw) => parseDomain(raw) !== null);
const tag = text('1 to 128 printable characters', isTag);
const rate = integer(0, 10_000_000);
const domains = listOf(domain);
const tags = listOf(tag);
const MEMBERS = new Set(['cidr', 'name', 'sender_domains', 'rate_per_minute', 'tags']);

const row: Kind<NamedSource> = {
  rule: '{cidr, name, sender_domains, rate_per_minute, tags}, of which cidr and name must be given',
  unit: null,
  read: (raw) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined;
    const given = new Map<string, unknown>(Object.entries(raw));
    if ([...given.keys()].some((member) => !MEMBERS.has(member))) return undefined;
    const senderDomains = domains.read(given.get('sender_domains') ?? []);
    const source = {
      name: name.read(given.get('name')),
      cidr: cidr.read(given.get('cidr')),
      senderDomains: senderDomains?.map(canonical),
      ratePerMinute: rate.read(given.get('rate_per_minute') ?? 0),
      tags: tags.read(given.get('tags') ?? []),
    };
    return isWhole(source) ? source : undefined;
  },
  fromText: (line) => line,
};

/** The list of them; in the environment as JSON. */
export const sources: Kind<readonly NamedSource[]> = listOf(row);

/** As addresses have it: lower case, in A-labels. */
function canonical(given: string): string {
  return parseDomain(given) ?? given;
}

function isWhole(source: { [K in keyof NamedSource]: NamedSource[K] | undefined }): source is NamedSource {
  return Object.values(source).every((value) => value !== undefined);
}
