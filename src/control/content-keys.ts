import { formatFault } from '../config/fault.ts';
import { type LoadOptions, loadConfig, NOTHING_STORED } from '../config/load.ts';
import { type ContentKeys, contentKeys } from '../spool/sealing.ts';
import { SpoolError } from '../spool/spool.ts';

/**
 * The keys of encrypted contents, by the file, the environment and `secret.key` alone: contents are opened before what
 * is stored can be read. Null: there is no key, and nothing is to be encrypted. Throws `SpoolError` if something is.
 */
export function contentKeysFor(options: Omit<LoadOptions, 'stored'>): ContentKeys | null {
  const { vault, config, faults } = loadConfig({ ...options, stored: NOTHING_STORED });
  const { encryptContents } = config.secrets;
  if (vault !== null) return contentKeys(vault, encryptContents, options.random);
  if (!encryptContents) return null;
  const fault = faults.find(({ key }) => key === 'secrets.key_file');
  throw new SpoolError(
    'spool_other_key',
    `secrets.encrypt_contents is on, and the key that it needs cannot be read: ${fault === undefined ? '' : formatFault(fault)}`,
  );
}
