import { z } from 'zod';
import { FORM_KINDS, isRecord } from '../config/kinds.ts';
import { SETTING_GROUPS } from '../config/setting.ts';
import { changes, look, type OperationsOf, operation, READ, type Shown } from './operation.ts';

const key = z.string().max(100);
/** More than there are settings. */
const MAX_UNSET = 1000;

/** The settings that a refused source can be added to. */
export const ALLOW_LISTS = [
  'listener.allowed_cidrs',
  'api.allowed_cidrs',
  'hooks.allowed_cidrs',
  'webui.allowed_cidrs',
] as const;

const settingRow = () =>
  z.strictObject({
    key: z.string(),
    label: z.string(),
    /** The part of the settings that shows it. */
    group: z.enum(SETTING_GROUPS),
    /** Left as it is by most. */
    seldom: z.boolean(),
    meaning: z.string(),
    kind: z.enum([...FORM_KINDS, 'secret']),
    /** Of kind `choice`. */
    choices: z.array(z.string()),
    /** Of what kind the items of a list are; null for no list. */
    items: z.enum(FORM_KINDS).nullable(),
    /** What a number counts; null where it is no measure. */
    unit: z.string().nullable(),
    /** How a number is written with another unit; null where it is not. */
    examples: z.string().nullable(),
    /** May be without a value. */
    nullable: z.boolean(),
    /** What holds without a value, in a few words; null where it always has one. */
    none: z.string().nullable(),
    /** In force; masked where secret. */
    value: z.unknown(),
    defaultValue: z.unknown(),
    origin: z.enum(['environment', 'file', 'stored', 'default']),
    /** Which file or variable, for people. */
    source: z.string(),
    /** File or environment set it, or it can be set nowhere else: why; null where it can be changed here. */
    locked: z.string().nullable(),
    applies: z.enum(['live', 'restart']),
    /** What it will be after a restart; absent where that is the same. */
    afterRestart: z.unknown().optional(),
  });

/** A setting of the table, as it is shown. */
export type SettingRow = Shown<typeof settingRow>;

const deniedSource = () =>
  z.strictObject({
    sourceAddress: z.string(),
    /** The code of the refusal. */
    reason: z.string(),
    count: z.number(),
    firstAt: z.string(),
    lastAt: z.string(),
    /** What the code means and what to do about it; null for a code that this version does not know. */
    meaning: z.string().nullable(),
    cure: z.string().nullable(),
    /** The key that it came with, by its name, or the named source; null: none that is known. */
    key: z.string().nullable(),
    /** The limit that held, where one did, and the key is known. */
    limit: z
      .strictObject({
        perMinute: z.number(),
        /** Of `api.rate_limit_per_key`, as the key has none of its own. */
        usual: z.boolean(),
      })
      .nullable(),
    /** Where it could be allowed; null where that is no matter of addresses. */
    setting: z.enum(ALLOW_LISTS).nullable(),
  });

/** A source that was refused. */
export type DeniedSource = Shown<typeof deniedSource>;

/** The settings that are given, by key. */
const SETTINGS_GIVEN = look<readonly SettingRow[]>(
  'settings',
  () => ({}),
  (rows, { values, unset, setting }) => {
    const taken: readonly unknown[] = Array.isArray(unset) ? unset : [];
    const keys = isRecord(values) ? [...Object.keys(values), ...taken] : [setting];
    const given = rows.filter(({ key }) => keys.includes(key));
    return Object.fromEntries(given.map((row) => [row.key, { value: row.value, origin: row.origin }]));
  },
);

/** What operators can ask of settings and refused sources, and do to them. */
export const SETTINGS_OPERATIONS = {
  settings: operation({
    meaning: 'Every setting, with its value and source.',
    access: READ,
    request: z.strictObject({}),
    result: () => z.array(settingRow()),
  }),
  putSettings: operation({
    meaning:
      'Stores values and removes stored ones, all or none. Settings of the file or the environment are refused, and so are changes that would lock out the caller.',
    access: changes({
      words: 'Changed settings',
      subject: null,
      look: SETTINGS_GIVEN,
      touches: ['settings', 'health'],
    }),
    request: z.strictObject({
      values: z
        .record(key, z.unknown())
        .describe(
          'By key; values as in the configuration file: null is a value too, such as of a port that is switched off.',
        ),
      unset: z.array(key).max(MAX_UNSET).optional().describe('Keys whose stored values are removed.'),
    }),
    result: () => z.array(settingRow()),
  }),
  denials: operation({
    meaning: 'Sources refused recently on this node, newest first.',
    access: READ,
    request: z.strictObject({}),
    result: () => z.array(deniedSource()),
  }),
  allowSource: operation({
    meaning: 'Adds a range to a list of allowed sources.',
    access: changes({
      words: 'Allowed a source',
      subject: 'cidr',
      look: SETTINGS_GIVEN,
      touches: ['settings', 'denials'],
    }),
    request: z.strictObject({ setting: z.enum(ALLOW_LISTS), cidr: z.string().max(100) }),
    result: settingRow,
  }),
};

/** Those who carry them out. */
export type SettingsOperations = OperationsOf<typeof SETTINGS_OPERATIONS>;
