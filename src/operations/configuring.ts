import { z } from 'zod';
import { SECTION_NAMES } from '../domain/declared.ts';
import {
  CONFIDENTIAL,
  changes,
  type OperationsOf,
  operation,
  type Shown,
  told,
  unrecorded,
} from './operation.ts';

/** Configuration as code: what is there as a file, and what a file would change (docs/configuration-as-code.md). */

const configuration = z
  .record(z.string(), z.unknown())
  .describe('The file: its sections by name. Sections that it does not have stay as they are.');

/** Most secrets of a file, and the characters of one. */
const MAX_SECRETS = 2_000;
const MAX_SECRET = 64 * 1024;
/** Characters of a hash, and of the name of a section. */
const MAX_NAME = 100;

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
    /** Digests of the sections that the changes were judged by: a refusal then says which have changed. */
    basis: z.record(z.string(), z.string()),
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

const applied = () =>
  plan().extend({
    made: z.array(madeSecret()),
    /** Why all of it is stored but not in force: faults of the configuration file, made meanwhile. */
    faults: z.array(z.string()),
  });

/** What a file has changed. */
export type AppliedView = Shown<typeof applied>;

const applyStep = () =>
  z.strictObject({
    /** Domains that have their new keys, of so many: RSA keys take long. */
    done: z.number(),
    total: z.number(),
  });

const exported = () =>
  z.strictObject({
    configuration: z.record(z.string(), z.unknown()),
    /** The files that its `_file` fields name: they are yours to write. */
    files: z.array(z.string()),
    /** What else there is of its sections: `waybill.yaml` or the environment has it. */
    elsewhere: z.array(z.string()),
  });

/** What is there, as a file. */
export type ExportedView = Shown<typeof exported>;

/** Characters of one value that the activity keeps, and of all; what is more is told by names alone. */
const MAX_KEPT_VALUE = 300;
const MAX_KEPT = 12_000;
/** Characters of a name, and names of a kind, where that is so. */
const MAX_KEPT_NAME = 60;
const MAX_KEPT_NAMES = 40;

/** What was changed, item by item; secrets are masked. */
const CHANGED = told<AppliedView>(({ changes: all }) => {
  const side = (which: 'before' | 'after', without: 'add' | 'remove') =>
    Object.fromEntries(
      all
        .filter(({ action }) => action !== without)
        .map(({ section, name, fields }) => [
          `${section} ${name}`,
          Object.fromEntries(fields.map((field) => [field.field, shortValue(field[which])])),
        ]),
    );
  const both = [side('before', 'add'), side('after', 'remove')] as const;
  if (Object.keys({ ...both[0], ...both[1] }).length <= MAX_KEPT_NAMES && both.every(isShort)) return both;
  const namesOf = (action: 'add' | 'change' | 'remove') => {
    const names = all
      .filter((one) => one.action === action)
      .map(({ section, name }) => `${section} ${name}`.slice(0, MAX_KEPT_NAME));
    const more = names.length - MAX_KEPT_NAMES;
    return more > 0 ? [...names.slice(0, MAX_KEPT_NAMES), `… and ${more} more`] : names;
  };
  return [undefined, { added: namesOf('add'), changed: namesOf('change'), removed: namesOf('remove') }];
});

function shortValue(value: unknown): unknown {
  const text = JSON.stringify(value) ?? '';
  return text.length > MAX_KEPT_VALUE ? `${text.slice(0, MAX_KEPT_VALUE)}…` : value;
}

function isShort(value: unknown): boolean {
  return JSON.stringify(value).length <= MAX_KEPT;
}

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
    meaning:
      'Changes everything to match a file, in one transaction, if that is still what was planned. Tells of its steps.',
    access: changes({
      words: 'Applied a configuration file',
      subject: 'plan',
      told: CHANGED,
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
        .max(MAX_NAME)
        .describe('The hash of the plan: refused if anything else would change.'),
      planned: z
        .array(change())
        .nullable()
        .default(null)
        .describe('The changes of the plan: a refusal then says which differ. Null: it tells all.'),
      basis: z
        .record(z.string().max(MAX_NAME), z.string().max(MAX_NAME))
        .nullable()
        .default(null)
        .describe('The `basis` of the plan: a refusal then says which sections changed meanwhile.'),
    }),
    takesMessage: true,
    result: applied,
    step: applyStep,
  }),
};

/** Those who carry them out. */
export type ConfiguringOperations = OperationsOf<typeof CONFIGURING_OPERATIONS>;
