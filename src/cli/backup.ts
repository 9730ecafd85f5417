import { resolve } from 'node:path';
import type { Command } from 'commander';
import { COMMAND, shellWord } from '../lib/command.ts';
import { MIN_PASSPHRASE } from '../operations/system.ts';
import { type CommonOptions, type Context, command, print } from './context.ts';
import { withOperations } from './session.ts';
import { backupStepText, bytesText, stepTeller } from './step-teller.ts';
import { counted, Exit, promptForSecret, readSecretFile } from './terminal.ts';

interface BackupOptions extends CommonOptions {
  readonly passphraseFile?: string;
  readonly withKey?: true;
}

/** `waybill backup FILE`: everything in one file, while the server runs or not. */
export function backupCommand(context: Context): Command {
  return command('backup', 'write everything into one file, while the server runs, and check it', [
    'waybill backup /srv/backups/waybill-monday.tar',
    'waybill backup /srv/backups/waybill.tar --passphrase-file /run/secrets/backup   # with the secret key',
    'waybill backup waybill.tar --with-key   # asks for the passphrase',
  ])
    .argument('<file>', 'the backup to write; must not exist yet')
    .option(
      '--passphrase-file <file>',
      'include the secret key, encrypted with the passphrase in this file; - for standard input',
    )
    .option('--with-key', 'the same, but ask for the passphrase')
    .addHelpText('after', WITHOUT_KEY)
    .action(async (file: string, options: BackupOptions) => {
      const passphrase = await passphraseOf(options, context);
      await withOperations(context, options, { tolerateFaults: true }, async (operations) => {
        const teller = stepTeller(context, options, backupStepText);
        const view = await operations.backup({ file: resolve(file), passphrase }, teller);
        print(context, options, view, () => {
          const key = view.withSecretKey ? 'with the secret key' : 'without the secret key';
          const missing = view.withSecretKey ? '' : `\n${notInIt(file)}`;
          const found = view.verified ? 'read back and complete' : 'read back';
          return `${view.path}: ${counted(view.messages, 'message')}, ${bytesText(view.sizeBytes)}, ${key}; ${found}.${missing}`;
        });
        if (view.damaged !== undefined)
          throw new Exit(
            1,
            `The contents of ${counted(view.damaged, 'message')} were already damaged or missing in the original; everything else is in the backup.`,
          );
      });
    });
}

const WITHOUT_KEY = `
Without a passphrase the backup does not have:
  secret.key         decrypts the relay passwords, signing keys and encrypted mail, which are in the backup but encrypted
  tls.key, tls.crt   the server's certificate; also tls-uploaded.pem, an uploaded one
  waybill.yaml       the configuration file
To include them, encrypted: --passphrase-file FILE, or --with-key. Otherwise keep a copy of them elsewhere. Never in a backup:
files outside the data directory that the configuration names (--config, tls.cert_file, password_file …).`;

/** What a person is told below a backup that was made without a passphrase. */
function notInIt(file: string): string {
  const again = shellWord(file.replace(/([.]tar)?$/, '-with-key$1'));
  return `Not included: secret.key, which decrypts the relay passwords, signing keys and encrypted mail, and tls.key, tls.crt, tls-uploaded.pem and waybill.yaml.
Keep a copy of them elsewhere, or include them, encrypted: ${COMMAND} backup ${again} --with-key`;
}

async function passphraseOf(
  { passphraseFile, withKey }: BackupOptions,
  { terminal }: Context,
): Promise<string | null> {
  if (passphraseFile !== undefined && withKey)
    throw new Exit(2, '--passphrase-file and --with-key both set the passphrase: give only one of them.');
  if (passphraseFile !== undefined) return checked(await readSecretFile(passphraseFile, 'passphrase'));
  if (!withKey) return null;
  const instead = 'There is no terminal to ask on. Give the passphrase with --passphrase-file.';
  const passphrase = checked(await promptForSecret(terminal, 'Passphrase: ', instead));
  if ((await promptForSecret(terminal, 'Repeat: ', instead)) === passphrase) return passphrase;
  throw new Exit(1, 'The two do not match. Nothing was done.');
}

function checked(passphrase: string): string {
  if (passphrase.length >= MIN_PASSPHRASE) return passphrase;
  throw new Exit(2, `The passphrase must have at least ${MIN_PASSPHRASE} characters.`);
}
