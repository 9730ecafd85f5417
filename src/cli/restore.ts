import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Restored } from '../backup/restore.ts';
import { dataDirectory, earlyConfig, type OutsideOptions } from '../config/load.ts';
import { isServerRunning } from '../control/client.ts';
import { isUsable } from '../control/layout.ts';
import { COMMAND, dataOption } from '../lib/command.ts';
import { type CommonOptions, type Context, command, print } from './context.ts';
import { backupStepText, stepTeller } from './step-teller.ts';
import { counted, Exit, readSecretFile } from './terminal.ts';

interface RestoreOptions extends CommonOptions {
  readonly passphraseFile?: string;
}

/** `waybill restore FILE`: a backup into an empty data directory, whose server does not run. */
export function restoreCommand(context: Context): Command {
  return command(
    'restore',
    'restore a backup into an empty data directory; mail that was still to be sent is held',
    [
      'waybill restore /srv/backups/waybill-monday.tar --data /srv/mail',
      'waybill restore waybill.tar --data /srv/mail --passphrase-file /run/secrets/backup   # with the secret key',
    ],
  )
    .argument('<file>', 'the backup')
    .option('--passphrase-file <file>', 'file with the passphrase for its secret key; - for standard input')
    .action(async (file: string, options: RestoreOptions) => {
      const dataDir = dataDirectory(options.data, context.terminal.environment);
      if (isUsable(dataDir) && (await isServerRunning(dataDir)))
        throw new Exit(
          1,
          `A server is running on ${dataDir}. A backup can only be restored into an empty directory.`,
        );
      refuseDatabase({ dataDir, configFile: options.config, environment: context.terminal.environment });
      const passphrase =
        options.passphraseFile === undefined
          ? null
          : await readSecretFile(options.passphraseFile, 'passphrase');
      const { tell, signal } = stepTeller(context, options, backupStepText);
      const { restoreBackup } = await import('../backup/restore.ts');
      const restored = await restoreBackup(
        { file: resolve(file), dataDir, passphrase },
        { clock: context.clock, signal, tell, bytesPerSecond: null },
      );
      const { manifest, held, secrets, secretsLeft } = restored;
      print(context, options, { ...manifest, dataDir, held, secrets, secretsLeft }, () =>
        restoredText(restored, dataDir),
      );
    });
}

/** What a backup holds goes into a data directory; a server with that configuration would not look there. */
function refuseDatabase(options: OutsideOptions): void {
  const { database } = earlyConfig(options);
  if (database.url === '') return;
  throw new Exit(
    1,
    'database.url is set, but Waybill backups contain no PostgreSQL data. Restore a pg_dump with pg_restore while no node is running; each node needs the secret.key that was kept with it. To restore a Waybill backup, remove database.url; waybill migrate then moves it to PostgreSQL.',
  );
}

/** What was outside of the backup, and has to be put back by hand. */
function stillMissing({ secrets }: Restored, dataDir: string): readonly string[] {
  const lines = secrets.includes('secret.key')
    ? []
    : [
        `  secret.key into ${dataDir}: only it decrypts the relay passwords, signing keys and encrypted mail. Without it, enter them again; such mail is lost.`,
      ];
  if (!secrets.includes('waybill.yaml'))
    lines.push(`  the configuration file, if there was one: waybill.yaml into ${dataDir}, or with --config.`);
  if (!secrets.includes('tls.key') && !secrets.includes('tls-uploaded.pem'))
    lines.push(
      `  an uploaded certificate: tls-uploaded.pem into ${dataDir}, or upload it again. Otherwise a self-signed one is made.`,
    );
  lines.push('  files that the configuration names elsewhere: tls.cert_file, password_file.');
  return ['Put back by hand before the start:', ...lines];
}

function restoredText(restored: Restored, dataDir: string): string {
  const { manifest, held, secretsLeft } = restored;
  const data = dataOption(dataDir);
  const lines = [
    `${dataDir} is as it was at ${manifest.createdAt}: ${counted(manifest.messages, 'message')}.`,
    held === 0
      ? 'No mail in it was still to be sent.'
      : `${counted(held, 'recipient')} had mail that was still to be sent, and may have been sent since: it is held. Once the server runs, decide:
  ${COMMAND} queue resume --restored${data}   sends it
  ${COMMAND} queue cancel --restored${data}   cancels it`,
  ];
  if (secretsLeft)
    lines.push(
      'The secret key is in the backup, but was not restored, because no --passphrase-file was given.',
    );
  lines.push(...stillMissing(restored, dataDir));
  lines.push(
    `API keys and users are as they were then: check whether some have been revoked since. To start: ${COMMAND} serve${data}`,
  );
  return lines.join('\n');
}
