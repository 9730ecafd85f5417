import { fail, ok, skipped, warn } from './finding.ts';
import type { Check } from './premises.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
/** How long flushes are tried. */
const FLUSH_BUDGET_MS = 600;
/** A flush that takes longer than this lets few messages through: they share flushes, but each waits for one. */
const SLOW_FLUSH_MS = 20;
/** One that is this fast reaches no disk: a drive's own memory is slower to ask. */
const TOO_FAST_FLUSH_MS = 0.01;

/** Whether there is room for mail, by the thresholds of health. */
export const diskCheck: Check = async ({ machine, dataDir, loaded }) => {
  const { diskCriticalBytes, diskLowBytes } = loaded.config.health;
  const { freeBytes, totalBytes } = await machine.space(dataDir);
  const found = `${sizeText(freeBytes)} of ${sizeText(totalBytes)} are free below ${dataDir}`;
  const cure = `free space there, keep less (retention.content_max_bytes: ${Math.floor(totalBytes / 10)}), or move it: waybill serve --data DIR`;
  const isCritical = freeBytes < diskCriticalBytes && loaded.config.database.url === '';
  if (isCritical)
    return [fail('disk', `${found}, less than health.disk_critical_bytes: no mail is taken.`, cure)];
  if (freeBytes < diskLowBytes) return [warn('disk', `${found}, less than health.disk_low_bytes.`, cure)];
  return [ok('disk', `${found}.`)];
};

/** Whether what was flushed is safe, and how long that takes. */
export const flushCheck: Check = async ({ machine, dataDir, loaded }) => {
  const name = 'disk flush';
  if (loaded.config.database.url !== '')
    return [skipped(name, 'Mail is kept in PostgreSQL, which refuses to serve us where it does not flush.')];
  const elsewhere = 'put the data directory on a disk: waybill serve --data DIR';
  if (await machine.inMemory(dataDir))
    return [fail(name, `${dataDir} lies in memory: all mail is gone when the machine stops.`, elsewhere)];
  const times = [...(await machine.flushTimes(dataDir, FLUSH_BUDGET_MS))].sort((a, b) => a - b);
  const median = times[times.length >> 1] ?? 0;
  const found = `${median.toFixed(2)} ms to flush, the median of ${times.length} times`;
  if (median > SLOW_FLUSH_MS)
    return [
      warn(
        name,
        `${found}: mail is taken slowly.`,
        `put the data directory on a faster disk, without a network or a hypervisor's cache between: waybill serve --data DIR`,
      ),
    ];
  if (median < TOO_FAST_FLUSH_MS)
    return [
      warn(
        name,
        `${found}: too fast for a disk. What is accepted may be lost when the power fails.`,
        elsewhere,
      ),
    ];
  return [ok(name, `${found}.`)];
};

function sizeText(bytes: number): string {
  return bytes >= GIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${Math.floor(bytes / MIB)} MiB`;
}
