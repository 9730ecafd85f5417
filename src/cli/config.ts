import type { Command } from 'commander';
import { type CommonOptions, type Context, command, print } from './context.ts';
import { withOperations } from './session.ts';
import { oneLine, table } from './terminal.ts';

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

/** A setting as it is shown. */
interface SettingRow {
  readonly key: string;
  /** As JSON. */
  readonly value: string;
  readonly source: string;
  /** Empty where there is nothing to say. */
  readonly note: string;
}

const INDENT = '    ';
/** How much room is kept for the place that a setting comes from: most are shorter. */
const SOURCE_WIDTH = 14;

/**
 * The settings as a table. On a terminal, what does not fit stands below its key, each part on a line of its own: one
 * list that is long moves nothing else out of sight.
 */
export function settingsText(rows: readonly SettingRow[], columns: number | null): string {
  const headings = ['KEY', 'VALUE', 'SOURCE'];
  if (columns === null)
    return table(
      [...headings, ''],
      rows.map(({ key, value, source, note }) => [key, value, source, note]),
    );
  const keyWidth = Math.max(...rows.map(({ key }) => key.length), 0);
  const valueWidth = Math.max(8, columns - keyWidth - SOURCE_WIDTH - 4);
  const line = ([key = '', value = '', source = '']: readonly string[]) =>
    `${key.padEnd(keyWidth)}  ${value.padEnd(valueWidth)}  ${source}`.trimEnd();
  const lines = rows.flatMap(({ key, value, source, note }) => {
    const shown = [key, value, source].map(oneLine);
    const one = line(shown);
    const isWide = one.length > columns || (shown[1] ?? '').length > valueWidth;
    const body = isWide
      ? [...cutUp(key, columns), ...[value, source].flatMap((text) => below(text, columns))]
      : [one];
    return note === '' ? body : [...body, ...below(note, columns)];
  });
  return [line(headings), ...lines].join('\n');
}

/** JSON has few blanks to fold at. */
function below(text: string, columns: number): string[] {
  return cutUp(oneLine(text), Math.max(1, columns - INDENT.length)).map((piece) => INDENT + piece);
}

function cutUp(text: string, width: number): string[] {
  const characters = [...text];
  const pieces: string[] = [];
  for (let from = 0; from < characters.length; from += width)
    pieces.push(characters.slice(from, from + width).join(''));
  return pieces;
}
