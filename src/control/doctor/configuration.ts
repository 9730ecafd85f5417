import { join } from 'node:path';
import { type Fault, formatFault } from '../../config/fault.ts';
import { fail, ok, skipped, warn } from './finding.ts';
import type { Check } from './premises.ts';

/** What of a file's mode lets others than its owner read it. */
const OTHERS = 0o077;

/** Whether a server could start with the configuration, or go on with it. */
export const configurationCheck: Check = async ({ loaded, bound, machine }) => {
  const { faults } = loaded;
  const configFile = machine.fileMode(loaded.configFile) === null ? null : loaded.configFile;
  if (faults.length === 0)
    return [
      ok('configuration', `No faults. ${configFile === null ? 'There is no file.' : `File: ${configFile}`}`),
    ];
  const until = bound === null ? '' : '; the settings from before are in force, and a start would fail';
  return faults.map((fault) =>
    fail('configuration', `${formatFault(fault)}${until}`, cureOf(fault, configFile)),
  );
};

/** What is stored is mended by a command, the rest where it was said. */
function cureOf({ source, key }: Fault, configFile: string | null): string {
  if (source === 'stored routes') return 'publish other rules: waybill routes publish FILE';
  if (source === 'stored relay' && key.startsWith('relays.'))
    return `remove and add it: waybill relays remove ${key.split('.')[1]}`;
  if (source.startsWith('environment'))
    return 'change the variable that is named where the server is started, then look: waybill config';
  return `mend ${configFile ?? 'what is named'}, then look: waybill config`;
}

/** Whether the passwords of relays can be opened, and by nobody else. */
export const secretKeyCheck: Check = async ({ loaded, dataDir, machine }) => {
  const { config, vault } = loaded;
  const path = config.secrets.keyFile ?? join(dataDir, 'secret.key');
  const name = 'secret key';
  if (vault === null && machine.fileMode(path) === null)
    return [
      fail(
        name,
        `There is no ${path}, so that no stored password can be read.`,
        'put back the file of before',
      ),
    ];
  if (vault === null)
    return [fail(name, `${path} cannot be read, so that no stored password can be.`, `chmod 600 ${path}`)];
  if (config.unreadableRelays.length > 0) {
    const relays = config.unreadableRelays.join(', ');
    const again = `put back the ${path} of before, or remove and add the relay: waybill relays remove NAME`;
    return [fail(name, `${path} does not open the stored passwords of: ${relays}.`, again)];
  }
  const mode = machine.fileMode(path);
  if (mode !== null && (mode & OTHERS) !== 0)
    return [warn(name, `${path} can be read by others than its owner.`, `chmod 600 ${path}`)];
  return [ok(name, `${path} opens all stored passwords.`)];
};

/** Whether the database answers. */
export const databaseCheck: Check = async ({ views, storeFault, clock, dataDir, loaded }) => {
  const name = 'database';
  const isShared = loaded.config.database.url !== '';
  const cure = isShared
    ? 'see that PostgreSQL runs and lets this machine in: psql "$WAYBILL_DATABASE__URL" -c "SELECT 1"'
    : `look at the log, and at the disk below ${dataDir}`;
  const kind = isShared ? 'PostgreSQL, ' : '';
  if (storeFault !== null) return [fail(name, storeFault, cure)];
  if (views === null) return [skipped(name, 'It was not opened.')];
  const begun = clock.mono();
  try {
    const { databaseBytes } = await views.figures(clock.wall());
    return [
      ok(name, `${kind}${megabytes(databaseBytes)}, answers in ${Math.ceil(clock.mono() - begun)} ms.`),
    ];
  } catch (error) {
    return [fail(name, `It does not answer: ${String(error)}`, cure)];
  }
};

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
