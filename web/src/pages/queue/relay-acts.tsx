import { Ban, RotateCw, Split } from 'lucide-react';
import { Button } from '../../parts/button.tsx';
import { ofRelay } from './act.ts';
import type { PlannedAct } from './act-dialog.tsx';

/** What can be done to all that waits at a relay. */
export function RelayActs({
  relay,
  onAct,
}: {
  readonly relay: string;
  readonly onAct: (act: PlannedAct) => void;
}) {
  const plan = (act: PlannedAct['act'], title: string) => () =>
    onAct({ act, selection: ofRelay(relay), toRelay: null, title });
  return (
    <>
      <Button small icon={RotateCw} onClick={plan('retry', `Retry what waits at ${relay} now?`)}>
        Retry now
      </Button>
      <Button small icon={Split} onClick={plan('reroute', `Reroute what waits at ${relay}?`)}>
        Reroute
      </Button>
      <Button small icon={Ban} onClick={plan('cancel', `Cancel what waits at ${relay}?`)}>
        Cancel
      </Button>
    </>
  );
}
