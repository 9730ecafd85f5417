import { readdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { formatTimestamp } from '../lib/clock.ts';
import { LOG_LEVELS } from '../observe/log.ts';
import { OperationError } from '../operations/call.ts';
import type {
  ActivityEntry,
  ActivityPage,
  LogLine,
  LogTail,
  SystemOperations,
  SystemView,
} from '../operations/system.ts';
import { OPERATIONS, operationNamed, type RequestOf } from '../operations/table.ts';
import type { JournalEntry } from '../store/journal.ts';
import { lastBackup } from './backups.ts';
import type { LocalDeps, RunningServer } from './deps.ts';
import { layoutOf } from './layout.ts';

/** The operations on the installation as a whole. */
export function systemOperations(
  deps: LocalDeps,
): Pick<SystemOperations, 'health' | 'system' | 'logTail' | 'activity'> {
  return {
    health: async () => running(deps).health(),
    system: () => system(deps),
    logTail: async (request) => logTail(request, deps),
    activity: (request) => activity(request, deps),
  };
}

function running({ server }: LocalDeps): RunningServer {
  const found = server();
  if (found !== null) return found;
  throw new OperationError('unavailable', 'The server is not running. Start it: waybill serve');
}

async function system(deps: LocalDeps): Promise<SystemView> {
  const server = running(deps);
  const { views, clock, dataDir, cluster } = deps;
  const health = server.health();
  const [figures, spoolBytes, backup] = await Promise.all([
    views.figures(clock.wall()),
    cluster === null ? bytesIn(layoutOf(dataDir).spool) : null,
    lastBackup(dataDir),
  ]);
  const { rss, heapUsed } = process.memoryUsage();
  return {
    version: server.version,
    nodeVersion: process.version,
    hostname: hostname(),
    pid: process.pid,
    node: server.node,
    platform: `${process.platform} ${process.arch}`,
    startedAt: health.startedAt,
    uptimeSeconds: health.uptimeSeconds,
    dataDir,
    memory: { residentBytes: rss, heapBytes: heapUsed },
    storage: {
      databaseBytes: figures.databaseBytes,
      queuedBytes: figures.queuedBytes,
      keptBytes: figures.sentBytes,
      capturedBytes: figures.capturedBytes,
      spoolBytes,
      freeBytes: health.disk.freeBytes,
      totalBytes: health.disk.totalBytes,
    },
    ports: { ...health.smtp, api: health.api, webui: server.webuiPort },
    lastBackup: backup,
  };
}

/** Files whose sizes are read at once. */
const STAT_BATCH = 64;

/** Bytes of the files in a folder: the spool has one file for 64 MiB of contents. */
async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder);
  let bytes = 0;
  for (let start = 0; start < names.length; start += STAT_BATCH) {
    const sizes = names.slice(start, start + STAT_BATCH).map(async (name) => {
      // A file may be gone by now.
      const file = await stat(join(folder, name)).catch(() => null);
      return file?.size ?? 0;
    });
    bytes += (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }
  return bytes;
}

function logTail({ level, contains, after, limit }: RequestOf<'logTail'>, deps: LocalDeps): LogTail {
  const server = deps.server();
  const all = server?.logLines() ?? [];
  const least = LOG_LEVELS.indexOf(level);
  const part = contains.toLowerCase();
  const found: LogLine[] = [];
  for (const { number, at, level: own, event, fields } of all) {
    if (LOG_LEVELS.indexOf(own) < least || number <= (after ?? 0)) continue;
    const shown = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? null]));
    if (part !== '' && !`${event} ${JSON.stringify(shown)}`.toLowerCase().includes(part)) continue;
    found.push({ number, time: formatTimestamp(at), level: own, event, fields: shown });
  }
  // After a number the next lines, so that none is left out; otherwise the last ones.
  const lines = after === null ? found.slice(-limit) : found.slice(0, limit);
  const newest = all.at(-1)?.number ?? 0;
  const isCut = after !== null && found.length > limit;
  return { node: server?.node.name ?? '', lines, last: isCut ? (lines.at(-1)?.number ?? newest) : newest };
}

async function activity(request: RequestOf<'activity'>, { journal }: LocalDeps): Promise<ActivityPage> {
  const { entries, next } = await journal.entries(request);
  return { entries: entries.map(entryView), next };
}

function entryView({ at, before, after, ...entry }: JournalEntry): ActivityEntry {
  const words = actionWords(entry.action);
  return { ...entry, words, at: formatTimestamp(at), before: parsed(before), after: parsed(after) };
}

/** Recorded acts other than operations: signing in, upkeep, and downloads. */
const OTHER_ACTS: ReadonlyMap<string, string> = new Map([
  ['signIn', 'Signed in'],
  ['signInFailed', 'Failed to sign in'],
  ['secondFactorAsked', 'Gave the password, and was asked for a code'],
  ['signOut', 'Signed out'],
  ['addPasskey', 'Added a passkey'],
  ['removePasskey', 'Removed a passkey'],
  ['allowHost', 'Added a host name through the first set-up link'],
  ['retention', 'Removed data past its retention'],
  ['compaction', 'Compacted the spool'],
  ['export', 'Exported messages'],
]);

/** An act in words: an operation's own, those above, otherwise the name split into words. */
export function actionWords(action: string): string {
  const operation = operationNamed(action);
  const own = operation === null ? null : OPERATIONS[operation].access.audit;
  const known = own?.words ?? OTHER_ACTS.get(action);
  if (known !== undefined) return known;
  const apart = action
    .replace(/[_.-]+/g, ' ')
    .replace(/([a-z\d])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);
  return apart.charAt(0).toUpperCase() + apart.slice(1);
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
