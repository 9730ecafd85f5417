import { z } from 'zod';
import { type KeyState, SELECTOR } from '../domain/domain-keys.ts';
import { choice, flag, orOption, type TableForm, text } from './command.ts';
import { changes, look, type OperationsOf, operation, READ, type Shown, unrecorded } from './operation.ts';
import { finding } from './system.ts';

/** Most domains that one check looks at. */
export const MAX_CHECKED = 50;

const selector = z
  .string()
  .regex(SELECTOR, 'must be one label of a domain name: 1 to 63 of a-z 0-9 -')
  .nullable()
  .describe('Null: made from the date. With two algorithms it is the beginning, and a letter follows.');

const ALGORITHMS = ['rsa', 'ed25519', 'both'] as const;
const algorithm = z.enum(ALGORITHMS);

/** Names a domain; it may be written as people do. */
const domainRequest = z.strictObject({ name: z.string().max(1000) });

const domainView = () =>
  z.strictObject({
    /** In lower case, A-labels. */
    name: z.string(),
    since: z.string(),
    keys: z.array(domainKeyView()),
    /** Null: its mail uses the return paths of all. */
    returnPath: returnPathView().nullable(),
  });

const returnPathView = () =>
  z.strictObject({
    /** In lower case, A-labels. */
    domain: z.string(),
    /** `waiting`: no check has seen its records yet. `failing`: they were right before. Neither is used. */
    state: z.enum(['waiting', 'used', 'failing']),
  });

/** A domain that mail is sent from. Times are RFC 3339. */
export type DomainView = Shown<typeof domainView>;

const domainKeyView = () =>
  z.strictObject({
    selector: z.string(),
    algorithm: z.enum(['rsa-sha256', 'ed25519-sha256']),
    state: z.enum(['waiting', 'signing', 'retired']),
    createdAt: z.string(),
    activeSince: z.string().nullable(),
    retiredAt: z.string().nullable(),
    /** Until when its record must stay in the DNS, once it is retired. */
    recordUntil: z.string().nullable(),
    /** It signs, or will, but cannot be read with the present `secret.key`. */
    unreadable: z.boolean(),
  });

/** A key without its secret. */
export type DomainKeyView = Shown<typeof domainKeyView>;

const domainDetail = () =>
  domainView().extend({
    records: z.array(recordView()),
  });

/** A domain with the records it needs. */
export type DomainDetail = Shown<typeof domainDetail>;

const recordView = () =>
  z.strictObject({
    /**
     * `dkim`: exactly so. `spf`, `dmarc`: a suggestion, for a domain that has none yet. `return_path_mx`,
     * `return_path_spf`: for the domain of its return paths.
     */
    purpose: z.enum(['return_path_mx', 'return_path_spf', 'dkim', 'spf', 'dmarc']),
    /** Where it stands, without a dot at the end. */
    name: z.string(),
    type: z.enum(['TXT', 'MX']),
    /** As forms of DNS providers want it. */
    value: z.string(),
    /** The line of a zone file, its text in strings of at most 255 octets. */
    zoneLine: z.string(),
    /** What is to be known of it. */
    note: z.string(),
  });

/** A record to publish. */
export type RecordView = Shown<typeof recordView>;

const checkedDomain = () =>
  z.strictObject({
    name: z.string(),
    findings: z.array(finding()),
    /** Selectors of keys that sign since this check, because their records were seen by it. */
    switchedTo: z.array(z.string()),
  });

/** What was found of a domain. */
export type CheckedDomain = Shown<typeof checkedDomain>;

/** A domain by its name: what can be changed of it. */
const DOMAIN = look<DomainDetail>(
  'domain',
  ({ name }) => ({ name }),
  ({ records: _, ...rest }) => rest,
);

/** How a domain is named on the command line, and a selector. */
const WHICH = text('<domain>', 'the domain, such as example.com; in any script');
const SELECTOR_OPTION = text(
  '--selector <name>',
  "the keys' selector; with two algorithms its beginning, followed by r or e (default: made from the date)",
  { absent: null },
);

/** Domains under each other: what signs, what waits, what is retired. */
export const DOMAIN_TABLE: TableForm<DomainView> = {
  columns: {
    DOMAIN: ({ name }) => name,
    'SIGNS WITH': ({ keys }) => selectorsOf(keys, 'signing'),
    WAITS: ({ keys }) => selectorsOf(keys, 'waiting'),
    RETIRED: ({ keys }) => selectorsOf(keys, 'retired'),
    SINCE: ({ since }) => since,
  },
  empty: 'No domain is registered: mail is not signed. Register one: waybill domains add example.com',
  fits: true,
};

function selectorsOf(keys: readonly DomainKeyView[], state: KeyState): string {
  const found = keys.filter((key) => key.state === state);
  const selectors = found.map((key) => (key.unreadable ? `${key.selector} (unreadable)` : key.selector));
  return selectors.join(' ') || '-';
}

/** What operators can ask of domains that mail is sent from, and do to them. */
export const DOMAIN_OPERATIONS = {
  addDomain: operation({
    meaning: 'Registers a domain and makes its first keys, which sign at once.',
    access: changes({ words: 'Added a domain', subject: 'name', look: DOMAIN, touches: ['domains'] }),
    request: z.strictObject({
      ...domainRequest.shape,
      algorithm,
      selector,
    }),
    result: domainDetail,
    commands: [
      {
        words: 'domains add',
        summary: 'register a domain, make its keys, and print the DNS records to publish',
        examples: [
          'waybill domains add example.com',
          'waybill domains add example.com --algorithm rsa --selector news',
        ],
        takes: {
          name: WHICH,
          algorithm: choice('--algorithm <name>', 'what to sign with', ALGORITHMS, { absent: 'both' }),
          selector: SELECTOR_OPTION,
        },
      },
    ],
  }),
  domains: operation({
    meaning: 'Every domain, by name.',
    access: READ,
    request: z.strictObject({}),
    result: () => z.array(domainView()),
    commands: [
      {
        words: 'domains list',
        summary: 'show all domains and what signs for them',
        examples: ['waybill domains list'],
        takes: {},
        prints: DOMAIN_TABLE,
      },
    ],
  }),
  domain: operation({
    meaning: 'A domain with the DNS records that it needs.',
    access: READ,
    request: domainRequest,
    result: domainDetail,
    commands: [
      {
        words: 'domains show',
        summary: "show a domain's keys, and the DNS records that it needs",
        examples: [
          'waybill domains show example.com',
          "waybill domains show example.com --json | jq -r '.records[].zoneLine'",
        ],
        takes: { name: WHICH },
      },
    ],
  }),
  checkDomains: operation({
    meaning: 'Checks the DNS records of domains; new keys whose records are visible start to sign.',
    // Only looks, but outside.
    access: unrecorded('operator'),
    request: z.strictObject({
      name: z.string().max(1000).nullable().describe(`Null for all, at most ${MAX_CHECKED}.`),
    }),
    result: () => z.array(checkedDomain()),
    commands: [
      {
        words: 'domains check',
        summary:
          'check the DNS records of domains: DKIM, SPF, DMARC, MX, PTR, MTA-STS, TLS-RPT; new keys whose records are visible start to sign',
        examples: ['waybill domains check', 'waybill domains check example.com --json'],
        notes: 'Exit status: 1 if anything fails, 0 if there are at most warnings.',
        takes: { name: text('[domain]', 'the domain (default: all, at most 50)', { absent: null }) },
        json: (domains) => ({ domains }),
        isBad: (checked) => checked.some(({ findings }) => findings.some(({ status }) => status === 'fail')),
      },
    ],
  }),
  updateDomain: operation({
    meaning: 'Changes where bounces of a domain’s mail come back to.',
    access: changes({ words: 'Changed a domain', subject: 'name', look: DOMAIN, touches: ['domains'] }),
    request: z.strictObject({
      ...domainRequest.shape,
      returnPath: z
        .string()
        .max(1000)
        .nullable()
        .describe('A domain for its return paths, used once a check sees its records. Null: that of all.'),
    }),
    result: domainDetail,
    commands: [
      {
        words: 'domains update',
        summary: 'give the mail of a domain return paths of its own, and print the DNS records to publish',
        examples: [
          'waybill domains update example.com --return-path bounces.example.com',
          'waybill domains update example.com --no-return-path',
        ],
        wantsOption: true,
        takes: {
          name: WHICH,
          returnPath: orOption(
            text('--return-path <domain>', 'the domain that bounces come back to, without mailboxes', {
              absent: null,
            }),
            '--no-return-path',
            'use that of all domains, bounces.domain',
            null,
          ),
        },
      },
    ],
  }),
  rotateDomain: operation({
    meaning: 'Makes new keys, which sign once their records are visible.',
    access: changes({
      words: 'Rotated keys of a domain',
      subject: 'name',
      look: DOMAIN,
      touches: ['domains'],
    }),
    request: z.strictObject({
      ...domainRequest.shape,
      algorithm: algorithm.nullable().describe('Null: the algorithms that the domain signs with now.'),
      selector,
      now: z.boolean().describe('Do not wait until the records are visible.'),
    }),
    result: domainDetail,
    commands: [
      {
        words: 'domains rotate',
        summary: 'make new keys, which sign once their records are visible in the DNS',
        examples: ['waybill domains rotate example.com', 'waybill domains rotate example.com --now'],
        takes: {
          name: WHICH,
          algorithm: choice(
            '--algorithm <name>',
            'what to sign with (default: the same as now)',
            ALGORITHMS,
            {
              absent: null,
            },
          ),
          selector: SELECTOR_OPTION,
          now: flag('--now', 'sign with them at once: the old ones were lost or stolen'),
        },
      },
    ],
  }),
  removeDomain: operation({
    meaning: 'Removes a domain and destroys its keys. Returns it as it was.',
    access: changes({ words: 'Removed a domain', subject: 'name', look: DOMAIN, touches: ['domains'] }),
    request: domainRequest,
    result: domainDetail,
    commands: [
      {
        words: 'domains remove',
        summary: 'forget a domain and destroy its keys; its mail is no longer signed',
        examples: ['waybill domains remove example.com'],
        takes: { name: WHICH },
      },
    ],
  }),
};

/** Those who carry them out. */
export type DomainOperations = OperationsOf<typeof DOMAIN_OPERATIONS>;
