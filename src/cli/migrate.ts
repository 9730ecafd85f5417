/** A file of its own, because what a migration needs (migrating.ts) is loaded only when one is asked for. */
import type { Command } from 'commander';
import { type Context, command } from './context.ts';
import type { MigrateOptions } from './migrating.ts';
import { Exit } from './terminal.ts';

/** `waybill migrate --to …`: everything from SQLite into a PostgreSQL, or back, while no server runs. */
export function migrateCommand(context: Context): Command {
  return command('migrate', 'move everything from SQLite to PostgreSQL, or back; no server may be running', [
    'waybill migrate --to postgres://waybill@db.example.org/waybill   # the password in $PGPASSWORD or ~/.pgpass',
    'waybill migrate --to sqlite   # on a node whose database.url is set: into its data directory',
    'waybill migrate --undo        # lets you use the source again, as it was left',
  ])
    .option('--to <where>', 'postgres://… (the other database.* settings apply to it too), or sqlite')
    .option('--undo', 'forget that this installation was moved, or is being moved')
    .addHelpText('after', RESUMED)
    .action(async (options: MigrateOptions) => {
      if ((options.to === undefined) === (options.undo === undefined))
        throw new Exit(2, 'Give the target with --to, or --undo.');
      const { runMigration } = await import('./migrating.ts');
      await runMigration(context, options);
    });
}

const RESUMED = `
Nothing is removed from the source. A migration that was stopped, in whatever way, continues when you give the same command
again. docs/migrating.md says what it does, and what to do before and after.`;
