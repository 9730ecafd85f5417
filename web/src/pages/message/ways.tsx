import { Link } from '@tanstack/react-router';
import { ArrowDown } from 'lucide-react';
import { plural } from '../../format.ts';
import { Said } from '../../parts/said.tsx';
import { sameWays } from './same-ways.ts';
import type { Story } from './timeline.ts';

/** Which rule chose the relays that each recipient's copy may leave by. */
export function WhyThisWay({ story }: { readonly story: Story }) {
  const ways = sameWays(story.ways);
  if (ways.length === 0) return <p className="text-soft">Nothing is known of its way.</p>;
  return (
    <div className="space-y-4">
      {ways.slice(0, 10).map(({ rule, group, recipients }) => (
        <div key={`${rule} ${group.join(' ')}`} className="space-y-1.5">
          <p>
            {rule === null ? (
              'No rule matched: the default relay.'
            ) : rule === 'manual' ? (
              'Sent this way by an operator.'
            ) : (
              <>
                Rule <Said text={rule} className="inline font-medium" />
              </>
            )}
          </p>
          {group.length === 0 ? (
            <p className="text-failed">No relay</p>
          ) : (
            <ol className="space-y-0.5">
              {group.map((relay, place) => (
                <li key={relay} className="flex items-center gap-2">
                  {place > 0 && <ArrowDown aria-label="then" size={13} className="text-soft" />}
                  <Link to="/relays/$name" params={{ name: relay }} className="link min-w-0 truncate">
                    {relay}
                  </Link>
                </li>
              ))}
            </ol>
          )}
          {ways.length > 1 && (
            <p className="text-sm text-soft">
              {plural(recipients.length, 'recipient')}:{' '}
              <Said text={recipients.slice(0, 3).join(', ')} lines="several" />
              {recipients.length > 3 && ' …'}
            </p>
          )}
        </div>
      ))}
      {ways.length > 10 && <p className="text-sm text-soft">and {ways.length - 10} other ways</p>}
      <p className="text-sm text-soft">
        {story.routeTable > 0 ? `By version ${story.routeTable} of the routes. ` : ''}
        <Link to="/routes" className="link">
          Routes
        </Link>
      </p>
    </div>
  );
}
