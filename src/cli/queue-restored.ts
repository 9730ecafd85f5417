import { Option } from 'commander';
import type { RestoredAct } from '../store/relocating.ts';
import { type CommonOptions, type Context, print } from './context.ts';
import { withOperations } from './session.ts';
import { counted } from './terminal.ts';

/** `waybill queue resume|cancel --restored`: decides on what came back with a backup. */

/** The option that asks for it. */
export function restoredOption(act: RestoredAct): Option {
  const what = act === 'resume' ? 'send' : 'cancel';
  return new Option('--restored', `${what} what came back with a backup and was still to be sent then`);
}

/** Decides on all of it. */
export async function decideRestored(
  context: Context,
  options: CommonOptions,
  act: RestoredAct,
): Promise<void> {
  await withOperations(context, options, { tolerateFaults: true }, async (operations, running) => {
    const decision = await operations.decideRestored({ act });
    const who = counted(decision.recipients, 'recipient');
    print(context, options, decision, () =>
      act === 'cancel'
        ? `Mail to ${who} that came back with the backup is cancelled.`
        : `Mail to ${who} that came back with the backup is sent${running ? ' now' : ' when the server runs'}; each may be a second copy.`,
    );
  });
}
