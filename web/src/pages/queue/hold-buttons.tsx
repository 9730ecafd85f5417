import { Droplets, Pause, Play } from 'lucide-react';
import { Button } from '../../parts/button.tsx';
import type { Lane } from './columns.tsx';
import { useHold } from './use-hold.ts';

/** Pauses or drains a relay with all its lanes, or lets it go on. */
export function HoldButtons({
  target,
  states,
}: {
  readonly target: string;
  readonly states: readonly Lane['state'][];
}) {
  const hold = useHold();
  const isHeld = states.some((state) => state === 'paused' || state === 'draining');
  const put = (kind: 'pause' | 'drain' | null) => hold.mutate({ target, kind });
  return (
    <>
      {isHeld && (
        <Button small icon={Play} busy={hold.isPending} onClick={() => put(null)}>
          Resume
        </Button>
      )}
      {!states.every((state) => state === 'paused') || states.length === 0 ? (
        <Button small icon={Pause} busy={hold.isPending} onClick={() => put('pause')}>
          Pause
        </Button>
      ) : null}
      {!states.every((state) => state === 'draining') || states.length === 0 ? (
        <Button small icon={Droplets} busy={hold.isPending} onClick={() => put('drain')}>
          Drain
        </Button>
      ) : null}
    </>
  );
}
