/** A file of its own, because what a migration needs (migrating.ts) is loaded only when one is asked for. */
import type { Command } from 'commander';
import { type Context, command } from './context.ts';
import type { MigrateOptions } from './migrating.ts';
import { Exit } from './terminal.ts';

/** `waybill migrate --to …`: everything from SQLite into a PostgreSQL, or back, while no server runs. */
export function migrateCommand(context: Context): Command {
  return command('migrate', 'move everything from SQLite into a PostgreSQL, or back; no server may run', [
    'waybill migrate --to postgres://waybill@db.example.org/waybill   # the password by $PGPASSWORD or ~/.pgpass',
    'waybill migrate --to sqlite   # of a node whose database.url is set: into its data directory',
    'waybill migrate --undo        # lets what was moved be worked with again, as it was left',
  ])
    .option('--to <where>', 'postgres://… (the other settings database.* hold for it too), or sqlite')
    .option('--undo', 'forget that this installation was moved, or was being moved')
    .addHelpText('after', RESUMED)
    .action(async (options: MigrateOptions) => {
      if ((options.to === undefined) === (options.undo === undefined))
        throw new Exit(2, 'Say where everything is to go, by --to; or --undo.');
      const { runMigration } = await import('./migrating.ts');
      await runMigration(context, options);
    });
}

const RESUMED = `
Nothing is removed where it comes from. A migration that was stopped, however it was, goes on when the same command is given
again. docs/migrating.md says what it does, and what comes before and after.`;
