import { type Finding, fail, ok, warn } from './finding.ts';
import type { Check } from './premises.ts';

/** What a file's time may differ by: times of some file systems are whole seconds, or two. */
const FILE_TOLERANCE_MS = 3_000;
/** A message that is this far in the future was accepted under another time. */
const FUTURE_MS = 60_000;
const SET = 'sudo timedatectl set-ntp true';

/**
 * Whether the clock can be right. Only what is certain: nobody else is asked for the time. A wrong one puts wrong dates
 * into mail, tries too early or late, and refuses good certificates.
 */
export const clockCheck: Check = async ({ clock, machine, views, dataDir }, signal) => {
  const name = 'clock';
  const wall = clock.wall();
  const found: Finding[] = [];
  const shown = new Date(wall).toISOString();
  if (wall < machine.builtAt())
    found.push(fail(name, `It says ${shown}, which is before this program was installed.`, SET));
  const [fileTime, newest, synchronised] = await Promise.all([
    machine.fileTime(dataDir),
    newestMessage(views),
    machine.clockSynchronised(signal),
  ]);
  const apart = Math.round(fileTime - clock.wall());
  if (Math.abs(apart) > FILE_TOLERANCE_MS)
    found.push(
      warn(
        name,
        `Files in ${dataDir} are dated ${apart} ms from our time: the disk is another machine's, and one clock is wrong.`,
        `${SET} (on both machines)`,
      ),
    );
  if (newest !== null && newest > wall + FUTURE_MS)
    found.push(
      fail(name, `It says ${shown}, but the newest message is from ${new Date(newest).toISOString()}.`, SET),
    );
  if (synchronised === false)
    found.push(warn(name, `It says ${shown}, and the system says that nobody sets it.`, SET));
  const note = synchronised === null ? 'whether it is set by others cannot be told here' : 'synchronised';
  return found.length > 0 ? found : [ok(name, `${shown}, ${note}.`)];
};

async function newestMessage(views: Parameters<Check>[0]['views']): Promise<number | null> {
  const page = await views?.list({ owner: 'all', statuses: [], before: null, limit: 1 });
  return page?.messages[0]?.createdAt ?? null;
}
