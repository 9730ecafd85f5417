import { z } from 'zod';
import type { Finding } from '../control/doctor/finding.ts';
import type { KeyState } from '../domain/domain-keys.ts';
import { SELECTOR } from '../domain/domain-keys.ts';
import type { DkimAlgorithm } from '../domain/sending-domain.ts';
import { changes, look, type OperationsOf, operation, READ, unrecorded } from './operation.ts';

/** Most domains that one check looks at. */
export const MAX_CHECKED = 50;

const selector = z
  .string()
  .regex(SELECTOR, 'must be one label of a domain name: 1 to 63 of a-z 0-9 -')
  .nullable();

const algorithm = z.enum(['rsa', 'ed25519', 'both']);

/** Names a domain; it may be written as people do. */
const domainRequest = z.strictObject({ name: z.string().max(1000) });

/** A domain that mail is sent from. Times are RFC 3339. */
export interface DomainView {
  /** In lower case, A-labels. */
  readonly name: string;
  readonly since: string;
  readonly keys: readonly DomainKeyView[];
}

/** A key without its secret. */
export interface DomainKeyView {
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  readonly state: KeyState;
  readonly createdAt: string;
  readonly activeSince: string | null;
  readonly retiredAt: string | null;
  /** Until when its record must stay in the DNS, once it is retired. */
  readonly recordUntil: string | null;
  /** It signs, or will, but cannot be read with the present `secret.key`. */
  readonly unreadable: boolean;
}

/** A domain with the records it needs. */
export interface DomainDetail extends DomainView {
  readonly records: readonly RecordView[];
}

/** A record to publish. */
export interface RecordView {
  /** `dkim`: exactly so. `spf`, `dmarc`: a suggestion, for a domain that has none yet. */
  readonly purpose: 'dkim' | 'spf' | 'dmarc';
  /** Where it stands, without a dot at the end. */
  readonly name: string;
  readonly type: 'TXT';
  /** As forms of DNS providers want it. */
  readonly value: string;
  /** The line of a zone file, its text in strings of at most 255 octets. */
  readonly zoneLine: string;
  /** What is to be known of it. */
  readonly note: string;
}

/** What was found of a domain. */
export interface CheckedDomain {
  readonly name: string;
  readonly findings: readonly Finding[];
  /** Selectors of keys that sign since this check, because their records were seen by it. */
  readonly switchedTo: readonly string[];
}

/** A domain by its name: what can be changed of it. */
const DOMAIN = look<DomainDetail>(
  'domain',
  ({ name }) => ({ name }),
  ({ records: _, ...rest }) => rest,
);

/** What operators can ask of domains that mail is sent from, and do to them. */
export const DOMAIN_OPERATIONS = {
  domains: operation({
    meaning: 'Every domain, by name.',
    access: READ,
    request: z.strictObject({}),
    result: z.custom<readonly DomainView[]>(),
  }),
  domain: operation({
    meaning: 'A domain with the records that it needs in the DNS.',
    access: READ,
    request: domainRequest,
    result: z.custom<DomainDetail>(),
  }),
  addDomain: operation({
    meaning: 'Registers a domain and makes its first keys, which sign at once.',
    access: changes({ words: 'Added a domain', subject: 'name', look: DOMAIN, touches: ['domains'] }),
    request: z.strictObject({
      ...domainRequest.shape,
      algorithm,
      /** Null: made of the day. With `both` it is the beginning, and a letter follows. */
      selector,
    }),
    result: z.custom<DomainDetail>(),
  }),
  removeDomain: operation({
    meaning: 'Forgets a domain and destroys its keys. Gives it as it was.',
    access: changes({ words: 'Removed a domain', subject: 'name', look: DOMAIN, touches: ['domains'] }),
    request: domainRequest,
    result: z.custom<DomainDetail>(),
  }),
  rotateDomain: operation({
    meaning: 'Makes new keys, which sign once their records can be seen.',
    access: changes({
      words: 'Rotated keys of a domain',
      subject: 'name',
      look: DOMAIN,
      touches: ['domains'],
    }),
    request: z.strictObject({
      ...domainRequest.shape,
      /** Null: the algorithms that the domain signs with now. */
      algorithm: algorithm.nullable(),
      selector,
      /** Do not wait until the records can be seen. */
      now: z.boolean(),
    }),
    result: z.custom<DomainDetail>(),
  }),
  checkDomains: operation({
    meaning: 'Looks at what the DNS says of domains; new keys whose records can be seen sign from then on.',
    // Only looks, but outside.
    access: unrecorded('operator'),
    request: z.strictObject({
      /** Null for all, at most {@link MAX_CHECKED}. */
      name: z.string().max(1000).nullable(),
    }),
    result: z.custom<readonly CheckedDomain[]>(),
  }),
};

/** Those who carry them out. */
export type DomainOperations = OperationsOf<typeof DOMAIN_OPERATIONS>;
