import { Link } from '@tanstack/react-router';
import { Button } from '../../parts/button.tsx';
import { useCall } from '../../queries.ts';

/** Says where mail goes at present: into the local inbox, until someone sets up a relay. */
export function CaptureStep({ onDone }: { readonly onDone: () => void }) {
  const relays = useCall('relays', {}, { topics: ['relays'] });
  const standard = relays.data?.find(({ isDefault }) => isDefault);
  const isCaptured = standard === undefined || standard.type === 'inbox';
  return (
    <>
      {isCaptured ? (
        <div className="space-y-2">
          <p>
            <strong className="font-semibold">Nothing leaves this server yet.</strong> All mail is captured:
            it goes through everything that real mail goes through, and ends in the{' '}
            <Link to="/inbox" className="link">
              inbox
            </Link>{' '}
            here, where you can read it. So you can try things out, also with the addresses of real people.
          </p>
          <p className="text-soft">
            That ends when you set up a relay and make it the default. Mail of test keys stays captured even
            then.
          </p>
        </div>
      ) : (
        <p>
          Mail leaves this server by the relay{' '}
          <Link to="/relays/$name" params={{ name: standard.name }} className="link font-mono text-sm">
            {standard.name}
          </Link>
          . Mail of test keys is captured all the same: it goes through everything that real mail goes
          through, and ends in the{' '}
          <Link to="/inbox" className="link">
            inbox
          </Link>{' '}
          here. Try things out with one of those.
        </p>
      )}
      <Button look="primary" onClick={onDone}>
        Understood
      </Button>
    </>
  );
}
