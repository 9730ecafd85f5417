import { z } from 'zod';
import type { Finding } from '../control/doctor/finding.ts';
import type { HealthReport } from '../observe/health-report.ts';
import type { RestoredAct } from '../store/relocating.ts';
import {
  acts,
  CONFIDENTIAL,
  changes,
  MAIL_TOPICS,
  type OperationsOf,
  operation,
  READ,
  unrecorded,
} from './operation.ts';

/** The levels of the log, the least first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** Characters that the passphrase of a backup must have. */
export const MIN_PASSPHRASE = 12;

/** The installation. */
export interface SystemView {
  readonly version: string;
  readonly nodeVersion: string;
  readonly platform: string;
  readonly hostname: string;
  /** Which of the nodes answers: process, memory, ports and data directory are its own. */
  readonly node: { readonly id: string; readonly name: string };
  readonly pid: number;
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  readonly dataDir: string;
  readonly memory: { readonly residentBytes: number; readonly heapBytes: number };
  readonly storage: {
    readonly databaseBytes: number;
    /** Contents of messages that are not final, sent or failed and kept, captured. */
    readonly queuedBytes: number;
    readonly keptBytes: number;
    readonly capturedBytes: number;
    /** Of the spool's files, whatever lies in them; null where contents lie in the database. */
    readonly spoolBytes: number | null;
    readonly freeBytes: number | null;
    readonly totalBytes: number | null;
  };
  readonly ports: HealthReport['smtp'] & { readonly api: HealthReport['api']; readonly webui: number | null };
  readonly lastBackup: BackupView | null;
}

/** Lines of the log. */
export interface LogTail {
  /** Whose lines they are: the node's name. */
  readonly node: string;
  readonly lines: readonly LogLine[];
  /** The number of the newest line there is. */
  readonly last: number;
}

/** A line of the log. */
export interface LogLine {
  readonly number: number;
  readonly time: string;
  readonly level: (typeof LOG_LEVELS)[number];
  readonly event: string;
  readonly fields: Readonly<Record<string, string | number | boolean | null>>;
}

/** A page of what was done. */
export interface ActivityPage {
  readonly entries: readonly ActivityEntry[];
  readonly next: number | null;
}

/** Something that was done. */
export interface ActivityEntry {
  readonly number: number;
  readonly at: string;
  /** A user's or key's name; empty for the command line and the service itself. */
  readonly actor: string;
  readonly actorKind: ActorKind;
  readonly sourceAddress: string | null;
  /** An operation's name, or of signing in: `signIn`, `signInFailed`, `signOut`, …; of upkeep: `retention`, … */
  readonly action: string;
  /** What was done, as people read it, such as `Added a relay`. */
  readonly words: string;
  /** What it was done to, such as a relay's name. */
  readonly subject: string;
  /** How that was before and after, secrets left out; null where that says nothing. */
  readonly before: unknown;
  readonly after: unknown;
}

/** Who acts. */
export type ActorKind = 'user' | 'key' | 'command' | 'service';

/** A backup. */
export interface BackupView {
  /** The file's name. */
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly createdAt: string;
  readonly messages: number;
  readonly withSecretKey: boolean;
  /** Read back, and found whole as far as is known. */
  readonly verified: boolean;
  /** Contents that were damaged where they were copied from already; absent for none, and where it is not known any more. */
  readonly damaged?: number;
}

/** What became of what came back with a backup. */
export interface RestoredDecision {
  readonly act: RestoredAct;
  readonly recipients: number;
}

/** How far a backup or a restore is. */
export interface BackupStep {
  readonly phase: 'database' | 'contents' | 'verify' | 'unpack' | 'mark';
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** A setting in force, or a relay's field, such as `relays.out.host`. */
export interface SettingView {
  readonly key: string;
  readonly value: unknown;
  readonly source: string;
  readonly applies: 'live' | 'restart';
  /** What the value will be after a restart; only where that differs. */
  readonly afterRestart?: unknown;
}

/** What operators can ask of the installation, and do to it. */
export const SYSTEM_OPERATIONS = {
  health: operation({
    meaning: 'The body of `GET /health`.',
    access: READ,
    request: z.strictObject({}),
    result: z.custom<HealthReport>(),
  }),
  system: operation({
    meaning: 'Version, process, storage by class, last backup.',
    access: READ,
    request: z.strictObject({}),
    result: z.custom<SystemView>(),
  }),
  logTail: operation({
    meaning: "The log's last lines on the node that answers, newest last.",
    access: unrecorded('operator'),
    request: z.strictObject({
      level: z.enum(LOG_LEVELS),
      /** Text that a line contains, whatever its case; empty for all. */
      contains: z.string().max(200),
      /** Only lines after this number; null for the last ones. */
      after: z.int().min(0).nullable(),
      limit: z.int().min(1).max(1000),
    }),
    result: z.custom<LogTail>(),
  }),
  activity: operation({
    meaning: 'Who did what, newest first.',
    access: CONFIDENTIAL,
    request: z.strictObject({
      actor: z.string().max(200).nullable(),
      /** An operation's name. */
      action: z.string().max(100).nullable(),
      /** Text that the subject contains. */
      subject: z.string().max(200).nullable(),
      limit: z.int().min(1).max(200),
      /** The `next` of an earlier page. */
      before: z.int().min(1).nullable(),
    }),
    result: z.custom<ActivityPage>(),
  }),
  backup: operation({
    meaning: 'Writes a backup while the service goes on, and reads it back.',
    access: changes({ words: 'Made a backup', subject: 'file', hide: ['passphrase'], touches: ['health'] }),
    request: z.strictObject({
      /** An absolute path that does not exist; null: a name by the time, in the data directory's folder `backups`. Only the command line may give a path. */
      file: z.string().max(4096).nullable(),
      /** Encrypts the secret key that goes along; null leaves the secret key out. */
      passphrase: z.string().min(MIN_PASSPHRASE).max(1024).nullable(),
    }),
    result: z.custom<BackupView>(),
    step: z.custom<BackupStep>(),
  }),
  backups: operation({
    meaning: "Backups in the data directory's own folder, newest first.",
    access: unrecorded('admin'),
    request: z.strictObject({}),
    result: z.custom<readonly BackupView[]>(),
  }),
  removeBackup: operation({
    meaning: 'Removes one of those.',
    access: changes({ words: 'Removed a backup', subject: 'name', touches: ['health'] }),
    request: z.strictObject({ name: z.string().max(200) }),
    result: z.custom<BackupView>(),
  }),
  decideRestored: operation({
    meaning: 'Sends what came back with a backup and was still to be sent then, or cancels it.',
    access: acts({ words: 'Decided what came back with a backup', subject: 'act', touches: MAIL_TOPICS }),
    request: z.strictObject({ act: z.enum(['resume', 'cancel']) }),
    result: z.custom<RestoredDecision>(),
  }),
  configuration: operation({
    meaning: "The settings in force, and every relay's fields after them; secrets masked.",
    access: READ,
    request: z.strictObject({}),
    result: z.custom<readonly SettingView[]>(),
  }),
  doctor: operation({
    meaning: 'What could keep mail from coming in or going out. Takes a few seconds.',
    access: READ,
    request: z.strictObject({}),
    result: z.custom<readonly Finding[]>(),
  }),
};

/** Those who carry them out. */
export type SystemOperations = OperationsOf<typeof SYSTEM_OPERATIONS>;
