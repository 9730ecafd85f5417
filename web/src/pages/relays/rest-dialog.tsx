import { Dialog } from '../../parts/dialog.tsx';
import { Fetched } from '../../parts/states.tsx';
import { useCall } from '../../queries.ts';
import { ActDialog, ofRelay } from '../queue/act-dialog.tsx';
import { RelayTest } from './relay-test.tsx';

interface Props {
  readonly relay: string;
  readonly act: 'test' | 'reroute';
  readonly onClose: () => void;
}

/** Tests a relay, or sends what waits for it elsewhere, from wherever it is shown. A file of its own: few open it. */
export default function RestDialog({ relay, act, onClose }: Props) {
  if (act === 'test') return <TestDialog relay={relay} onClose={onClose} />;
  const title = `Reroute what waits at ${relay}?`;
  return (
    <ActDialog
      planned={{ act: 'reroute', selection: ofRelay(relay), toRelay: null, title }}
      onClose={onClose}
    />
  );
}

function TestDialog({ relay, onClose }: Omit<Props, 'act'>) {
  const found = useCall('relay', { name: relay });
  return (
    <Dialog
      kind="drawer"
      onClose={onClose}
      title={`Test ${relay}`}
      description="Connects, and signs in if necessary. Nothing is sent."
    >
      <Fetched query={found}>
        {({ type }) => <RelayTest name={relay} type={type} unsaved={null} atOnce />}
      </Fetched>
    </Dialog>
  );
}
