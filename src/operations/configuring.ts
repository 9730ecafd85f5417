import { z } from 'zod';
import { SECTION_NAMES } from '../domain/declared.ts';
import {
  CONFIDENTIAL,
  changes,
  look,
  type OperationsOf,
  operation,
  type Shown,
  unrecorded,
} from './operation.ts';

/** Configuration as code: what is there as a file, and what a file would change (docs/configuration-as-code.md). */

const configuration = z
  .record(z.string(), z.unknown())
  .describe('The file: its sections by name. Sections that it does not have stay as they are.');

/** Most secrets of a file, and the characters of one. */
const MAX_SECRETS = 2_000;
const MAX_SECRET = 64 * 1024;

const DECLARED = {
  configuration,
  secrets: z
    .record(z.string().max(1_000), z.string().max(MAX_SECRET))
    .refine((secrets) => Object.keys(secrets).length <= MAX_SECRETS, `must be at most ${MAX_SECRETS}`)
    .default({})
    .describe(
      'What the files hold that its `_file` fields name, by their names; what is left out stays as it is.',
    ),
  prune: z.boolean().default(false).describe('Also removes what its sections do not have.'),
};

const change = () =>
  z.strictObject({
    section: z.enum(SECTION_NAMES),
    name: z.string(),
    action: z.enum(['add', 'change', 'remove']),
    /** What differs; null also stands for what is not there. Secrets are masked. */
    fields: z.array(z.strictObject({ field: z.string(), before: z.unknown(), after: z.unknown() })),
  });

const plan = () =>
  z.strictObject({
    /** Of all that would change, as it is and as it would be. */
    hash: z.string(),
    changes: z.array(change()),
    /** What the sections of the file do not have, and stays because nothing is pruned. */
    left: z.array(z.strictObject({ section: z.enum(SECTION_NAMES), name: z.string() })),
  });

/** What a file would change. */
export type PlanView = Shown<typeof plan>;

const madeSecret = () =>
  z.strictObject({
    section: z.enum(['keys', 'webhooks']),
    name: z.string(),
    secret: z.string(),
    /** With what requests are signed; null: none are. */
    signing: z.strictObject({ accessKeyId: z.string(), secretAccessKey: z.string() }).nullable(),
  });

/** A secret that was made: shown this once. */
export type MadeSecret = Shown<typeof madeSecret>;

const applied = () => plan().extend({ made: z.array(madeSecret()) });

/** What a file has changed. */
export type AppliedView = Shown<typeof applied>;

const exported = () =>
  z.strictObject({
    configuration: z.record(z.string(), z.unknown()),
    /** The files that its `_file` fields name: they are yours to write. */
    files: z.array(z.string()),
  });

/** What is there, as a file. */
export type ExportedView = Shown<typeof exported>;

/** All of the file. */
const CONFIGURATION = look<ExportedView>(
  'exportConfiguration',
  () => ({}),
  (answer) => answer.configuration,
);

/** What can be asked of the configuration as a file, and done by it. */
export const CONFIGURING_OPERATIONS = {
  exportConfiguration: operation({
    meaning:
      'Relays, routes, domains, keys, webhooks, templates and rules of the suppression list as one file.',
    access: CONFIDENTIAL,
    request: z.strictObject({
      sections: z.array(z.enum(SECTION_NAMES)).nullable().default(null).describe('Only these; null: all.'),
    }),
    result: exported,
  }),
  planConfiguration: operation({
    meaning: 'What a file would change. Changes nothing.',
    access: unrecorded('admin'),
    request: z.strictObject(DECLARED),
    takesMessage: true,
    result: plan,
  }),
  applyConfiguration: operation({
    meaning: 'Makes what is there as a file has it, in one transaction, if that is still what was planned.',
    access: changes({
      words: 'Applied a configuration file',
      subject: 'plan',
      look: CONFIGURATION,
      hide: ['secrets'],
      touches: [
        'relays',
        'routes',
        'domains',
        'keys',
        'webhooks',
        'templates',
        'settings',
        'suppressions',
        'queue',
      ],
    }),
    request: z.strictObject({
      ...DECLARED,
      plan: z
        .string()
        .min(1)
        .max(100)
        .describe('The hash of the plan: refused if anything else would change.'),
      planned: z
        .array(change())
        .nullable()
        .default(null)
        .describe('The changes of the plan: a refusal then says which differ. Null: it tells all.'),
    }),
    takesMessage: true,
    result: applied,
  }),
};

/** Those who carry them out. */
export type ConfiguringOperations = OperationsOf<typeof CONFIGURING_OPERATIONS>;
