import { z } from 'zod';
import type { HealthReport } from '../observe/health-report.ts';
import {
  acts,
  CONFIDENTIAL,
  changes,
  MAIL_TOPICS,
  type OperationsOf,
  operation,
  READ,
  type Shown,
  unrecorded,
} from './operation.ts';

/** The levels of the log, the least first. */
const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** Characters that the passphrase of a backup must have. */
export const MIN_PASSPHRASE = 12;

const systemView = () =>
  z.strictObject({
    version: z.string(),
    nodeVersion: z.string(),
    platform: z.string(),
    hostname: z.string(),
    /** Which of the nodes answers: process, memory, ports and data directory are its own. */
    node: z.strictObject({
      id: z.string(),
      name: z.string(),
    }),
    pid: z.number(),
    startedAt: z.string(),
    uptimeSeconds: z.number(),
    dataDir: z.string(),
    memory: z.strictObject({
      residentBytes: z.number(),
      heapBytes: z.number(),
    }),
    storage: z.strictObject({
      databaseBytes: z.number(),
      /** Contents of messages that are not final, sent or failed and kept, captured. */
      queuedBytes: z.number(),
      keptBytes: z.number(),
      capturedBytes: z.number(),
      /** Of the spool's files, whatever lies in them; null where contents lie in the database. */
      spoolBytes: z.number().nullable(),
      freeBytes: z.number().nullable(),
      totalBytes: z.number().nullable(),
    }),
    ports: z
      .custom<HealthReport['smtp'] & { readonly api: HealthReport['api']; readonly webui: number | null }>()
      .meta({ title: 'smtp and api of GET /health, with webui: number | null' }),
    lastBackup: backupView().nullable(),
  });

/** The installation. */
export type SystemView = Shown<typeof systemView>;

const logTail = () =>
  z.strictObject({
    /** Whose lines they are: the node's name. */
    node: z.string(),
    lines: z.array(logLine()),
    /** The number of the newest line there is. */
    last: z.number(),
  });

/** Lines of the log. */
export type LogTail = Shown<typeof logTail>;

const logLine = () =>
  z.strictObject({
    number: z.number(),
    time: z.string(),
    level: z.enum(LOG_LEVELS),
    event: z.string(),
    fields: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).nullable()),
  });

/** A line of the log. */
export type LogLine = Shown<typeof logLine>;

const activityPage = () =>
  z.strictObject({
    entries: z.array(activityEntry()),
    next: z.number().nullable(),
  });

/** A page of what was done. */
export type ActivityPage = Shown<typeof activityPage>;

const activityEntry = () =>
  z.strictObject({
    number: z.number(),
    at: z.string(),
    /** A user's or key's name; empty for the command line and the service itself. */
    actor: z.string(),
    actorKind: z.enum(ACTOR_KINDS),
    sourceAddress: z.string().nullable(),
    /** An operation's name, or of signing in: `signIn`, `signInFailed`, `signOut`, …; of upkeep: `retention`, … */
    action: z.string(),
    /** What was done, as people read it, such as `Added a relay`. */
    words: z.string(),
    /** What it was done to, such as a relay's name. */
    subject: z.string(),
    /** How that was before and after, secrets left out; null where that says nothing. */
    before: z.unknown(),
    after: z.unknown(),
  });

/** Something that was done. */
export type ActivityEntry = Shown<typeof activityEntry>;

const ACTOR_KINDS = ['user', 'key', 'command', 'service'] as const;

/** Who acts. */
export type ActorKind = (typeof ACTOR_KINDS)[number];

const backupView = () =>
  z.strictObject({
    /** The file's name. */
    name: z.string(),
    path: z.string(),
    sizeBytes: z.number(),
    createdAt: z.string(),
    messages: z.number(),
    withSecretKey: z.boolean(),
    /** Read back, and found whole as far as is known. */
    verified: z.boolean(),
    /** Contents that were damaged where they were copied from already; absent for none, and where it is not known any more. */
    damaged: z.number().optional(),
  });

/** A backup. */
export type BackupView = Shown<typeof backupView>;

/** What became of what came back with a backup. */
const restoredDecision = () =>
  z.strictObject({
    act: z.enum(['resume', 'cancel']),
    recipients: z.number(),
  });

const backupStep = () =>
  z.strictObject({
    phase: z.enum(['database', 'contents', 'verify', 'unpack', 'mark']),
    doneBytes: z.number(),
    totalBytes: z.number(),
  });

/** How far a backup or a restore is. */
export type BackupStep = Shown<typeof backupStep>;

const settingView = () =>
  z.strictObject({
    key: z.string(),
    value: z.unknown(),
    source: z.string(),
    applies: z.enum(['live', 'restart']),
    /** What the value will be after a restart; only where that differs. */
    afterRestart: z.unknown().optional(),
  });

/** A setting in force, or a relay's field, such as `relays.out.host`. */
export type SettingView = Shown<typeof settingView>;

export const finding = () =>
  z.strictObject({
    /** What was looked at, such as `port 25` or `relay out`. */
    name: z.string(),
    /** `warn`: works, but look at it; `fail`: mail is lost, refused or in danger; `skipped`: could not be looked at. */
    status: z.enum(['ok', 'warn', 'fail', 'skipped']),
    /** A sentence on how it is. Parts of it may come from strangers. */
    found: z.string(),
    /** What to run or to write into the configuration; null where nothing is to be done. */
    cure: z.string().nullable(),
  });

/** What the doctor found in one place. */
export type Finding = Shown<typeof finding>;

/** What operators can ask of the installation, and do to it. */
export const SYSTEM_OPERATIONS = {
  health: operation({
    meaning: 'The body of `GET /health`.',
    access: READ,
    request: z.strictObject({}),
    result: () => z.custom<HealthReport>().meta({ title: 'GET /health' }),
  }),
  system: operation({
    meaning: 'Version, process, storage by class, last backup.',
    access: READ,
    request: z.strictObject({}),
    result: systemView,
  }),
  logTail: operation({
    meaning: "The log's last lines on the node that answers, newest last.",
    access: unrecorded('operator'),
    request: z.strictObject({
      level: z.enum(LOG_LEVELS),
      contains: z.string().max(200).describe('Text that a line contains (case-insensitive); empty for all.'),
      after: z.int().min(0).nullable().describe('Only lines after this number; null for the last ones.'),
      limit: z.int().min(1).max(1000),
    }),
    result: logTail,
  }),
  activity: operation({
    meaning: 'Who did what, newest first.',
    access: CONFIDENTIAL,
    request: z.strictObject({
      actor: z.string().max(200).nullable(),
      action: z.string().max(100).nullable().describe("An operation's name."),
      subject: z.string().max(200).nullable().describe('Text that the subject contains.'),
      limit: z.int().min(1).max(200),
      before: z.int().min(1).nullable().describe('The `next` of an earlier page.'),
    }),
    result: activityPage,
  }),
  backup: operation({
    meaning: 'Writes a backup while the service runs, and reads it back.',
    access: changes({ words: 'Made a backup', subject: 'file', hide: ['passphrase'], touches: ['health'] }),
    request: z.strictObject({
      file: z
        .string()
        .max(4096)
        .nullable()
        .describe(
          "An absolute path that does not exist; null: a name by the time, in the data directory's folder `backups`. Only the command line may give a path.",
        ),
      passphrase: z
        .string()
        .min(MIN_PASSPHRASE)
        .max(1024)
        .nullable()
        .describe('Encrypts the secret key in the backup; null leaves the secret key out.'),
    }),
    result: backupView,
    step: backupStep,
  }),
  backups: operation({
    meaning: "Backups in the data directory's own folder, newest first.",
    access: unrecorded('admin'),
    request: z.strictObject({}),
    result: () => z.array(backupView()),
  }),
  removeBackup: operation({
    meaning: 'Deletes a backup from that folder.',
    access: changes({ words: 'Removed a backup', subject: 'name', touches: ['health'] }),
    request: z.strictObject({ name: z.string().max(200) }),
    result: backupView,
  }),
  decideRestored: operation({
    meaning: 'Sends or cancels mail that came back with a backup and was still to be sent.',
    access: acts({ words: 'Decided what came back with a backup', subject: 'act', touches: MAIL_TOPICS }),
    request: z.strictObject({ act: z.enum(['resume', 'cancel']) }),
    result: restoredDecision,
  }),
  configuration: operation({
    meaning: "The settings in force, and every relay's fields after them; secrets masked.",
    access: READ,
    request: z.strictObject({}),
    result: () => z.array(settingView()),
  }),
  doctor: operation({
    meaning: 'What could keep mail from coming in or going out. Takes a few seconds.',
    access: READ,
    request: z.strictObject({}),
    result: () => z.array(finding()),
  }),
};

/** Those who carry them out. */
export type SystemOperations = OperationsOf<typeof SYSTEM_OPERATIONS>;
