import { Link } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount, plural } from '../../format.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { Card, type Rows as Facts, KeyValue } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { DueAt, Said, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { replyText } from '../message/story.ts';
import { RestActs, RestWords, useRestDialog } from '../relays/rest.tsx';

type Destination = ResultOf<'destination'>;
type Place = Destination['places'][number];

/** Not by hints, which come with every message: much may have to be looked at. */
const REFRESH_MS = 5_000;

/** What waits for a domain now, where, and why. */
export function WaitingFor({ domain }: { readonly domain: string }) {
  const found = useCall('destination', { domain }, { everyMs: REFRESH_MS });
  return (
    <Card
      flush
      title={`Waiting for ${domain}`}
      note={`What waits for it now, by whatever relay, and why.${providerWords(found.data)}`}
      actions={
        <Link
          to="/messages"
          search={{ q: `to:@${domain} status:queued status:retrying status:processing` }}
          className="link text-sm"
        >
          Messages that wait
        </Link>
      }
    >
      <Fetched query={found} lines={3}>
        {(view) => <Places view={view} />}
      </Fetched>
    </Card>
  );
}

function providerWords(view: Destination | undefined): string {
  return view?.provider ? ` Its mailbox provider is ${view.provider}.` : '';
}

function Places({ view }: { readonly view: Destination }) {
  const { open, dialog } = useRestDialog();
  const { places, domain, more, messages } = view;
  if (places.length === 0)
    return (
      <EmptyState icon={CircleCheck} title="Nothing waits for it">
        {more
          ? 'Among the newest mail to it nothing waits; there is too much to look at all of it.'
          : `Whatever was accepted for ${domain} has been delivered, or has failed.`}
      </EmptyState>
    );
  return (
    <>
      {dialog}
      <ul className="divide-y divide-line">
        {places.map((place) => (
          <li key={place.lane ?? ''} className="space-y-2 px-4 py-3">
            <PlaceHead place={place} />
            {place.rest !== null && place.relay !== null && (
              <div className="flex flex-wrap items-start justify-between gap-3 rounded-md border border-failed/30 bg-failed-soft px-3 py-2">
                <div className="min-w-0 flex-1 basis-60">
                  <RestWords rest={place.rest} waiting={place.waiting} />
                </div>
                <RestActs relay={place.relay} open={open} />
              </div>
            )}
            <PlaceFacts place={place} />
          </li>
        ))}
      </ul>
      {more && (
        <p className="border-t border-line px-4 py-2.5 text-sm text-soft">
          Counted among the newest {plural(messages, 'message')} that {messages === 1 ? 'waits' : 'wait'}.
          There may be more.
        </p>
      )}
    </>
  );
}

function PlaceHead({ place: { lane, relay, state, waiting, processing } }: { readonly place: Place }) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      {relay === null ? (
        <span className="font-medium">Without a route</span>
      ) : (
        <Link to="/queue" search={{ relay }} className="link min-w-0 truncate font-medium">
          {lane}
        </Link>
      )}
      {state !== null && <StatusBadge status={state} />}
      <span className="text-soft">
        {waiting + processing === 0
          ? 'nothing waits'
          : [
              waiting > 0 && `${formatCount(waiting)} waiting`,
              processing > 0 && `${formatCount(processing)} under way`,
            ]
              .filter(Boolean)
              .join(', ')}
      </span>
    </div>
  );
}

function PlaceFacts({ place }: { readonly place: Place }) {
  const { waits, since, nextAt, replies, rest, relay } = place;
  const kept = rest === null ? waits : waits.filter(({ resting }) => resting === null);
  const facts: Facts = {
    'Kept back': kept.length === 0 ? undefined : <Obstacles waits={kept} />,
    // Of a lane that rests, its panel says it.
    'Next try': nextAt === null || rest !== null ? undefined : <DueAt at={nextAt} />,
    'Oldest accepted': since === null ? undefined : <Time at={since} exact />,
    Pace: relay === null || rest !== null ? undefined : paceWords(place),
    'Last replies': replies.length === 0 ? undefined : <LastReplies replies={replies} />,
  };
  return <KeyValue rows={facts} />;
}

/** How fast the whole lane goes now, and what it may. */
function paceWords({ inFlight, concurrency, perMinute, maxPerSecond }: Place): string {
  const atOnce = concurrency === null ? '' : ` of ${formatCount(concurrency)}`;
  const most = maxPerSecond === null ? '' : `, at most ${formatCount(maxPerSecond)} a second`;
  return `${formatCount(inFlight)}${atOnce} attempts at once, ${formatCount(perMinute)} in the last minute${most}`;
}

function Obstacles({ waits }: Pick<Place, 'waits'>) {
  return (
    <ul>
      {waits.map(({ what, until }) => (
        <li key={what}>
          {what}
          {until !== null && (
            <>
              {' '}
              until <Time at={until} exact />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function LastReplies({ replies }: Pick<Place, 'replies'>) {
  return (
    <ul className="space-y-1">
      {replies.map(({ code, enhancedCode, reply, recipients, messageId }) => (
        <li key={messageId + reply} className="flex min-w-0 items-baseline gap-2">
          <span className="shrink-0 text-soft">{formatCount(recipients)} ×</span>
          <span className="min-w-0">
            <Said text={replyText(code, enhancedCode, reply)} lines="several" />{' '}
            <Link to="/messages/$id" params={{ id: messageId }} className="link text-sm">
              Message
            </Link>
          </span>
        </li>
      ))}
    </ul>
  );
}
