import type { Command } from 'commander';
import { settingsText } from './config-text.ts';
import { type CommonOptions, type Context, command, print } from './context.ts';
import { withOperations } from './session.ts';

/** `waybill config`: the settings in force and where each comes from. */
export function configCommand(context: Context): Command {
  return command('config', 'show the settings in force and where each comes from', [
    'waybill config',
    'waybill config --json',
  ]).action(async (options: CommonOptions) => {
    await withOperations(context, options, { tolerateFaults: true }, async (operations) => {
      const settings = await operations.configuration({});
      const rows = settings.map((setting) => {
        const { key, value, source } = setting;
        const waits = 'afterRestart' in setting;
        const note = waits ? `restart needed: ${JSON.stringify(setting.afterRestart)}` : '';
        return { key, value: JSON.stringify(value), source, note };
      });
      print(context, options, settings, () => settingsText(rows, context.terminal.columns()));
    });
  });
}
