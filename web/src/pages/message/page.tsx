import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { ArrowDown } from 'lucide-react';
import { type ComponentProps, useCallback, useEffect, useMemo, useState } from 'react';
import type { Hint } from '../../../../src/dashboard/contract.ts';
import { plural } from '../../format.ts';
import { useHints } from '../../live.ts';
import { ButtonLink } from '../../parts/button.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Banner, Bars, EmptyState, Fetched } from '../../parts/states.tsx';
import { plainText, Said, Time } from '../../parts/values.tsx';
import { useCall, usePages } from '../../queries.ts';
import { RestActs, RestWords, useRestDialog } from '../relays/rest.tsx';
import { pageFor } from '../system/cures.ts';
import { MessageActions } from './actions.tsx';
import { MessageContents } from './contents.tsx';
import { ToldByOthers } from './evidence.tsx';
import { Facts, RecipientTable } from './facts.tsx';
import { Happenings } from './happenings.tsx';
import { MessageStatus } from './status.tsx';
import type { Story } from './story.ts';
import { StoryLinks } from './story-links.tsx';

/** One message: what became of it and why, and what it says. */
export function MessagePage() {
  const { id } = useParams({ from: '/messages/$id' });
  const { query, story: found, more } = useStory(id);
  const own = found?.record.id ?? id;
  const story = own === id ? found : undefined;
  const navigate = useNavigate();
  // An address with the UUID or the Message-ID becomes that with the id.
  useEffect(() => {
    if (own !== id) void navigate({ to: '/messages/$id', params: { id: own }, replace: true });
  }, [own, id, navigate]);
  const back = { to: '/messages', label: 'Messages' } as const;
  if (story === undefined)
    return (
      <Page title="Message" back={back}>
        {query.error ? (
          <Card>
            <Fetched query={query} />
          </Card>
        ) : (
          <StoryOutline />
        )}
      </Page>
    );
  const { subject } = story.record;
  return (
    <Page
      title={plainText(subject) || 'Message without a subject'}
      heading={<Said text={subject} none="(no subject)" lines="several" />}
      note={<MessageStatus story={story} />}
      back={back}
      actions={<MessageActions key={id} story={story} />}
    >
      <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="min-w-0 space-y-5">
          <Waiting story={story} />
          <RecipientTable story={story} />
          <Card title="What happened">
            <Happenings story={story} more={more} />
          </Card>
          <ToldByOthers id={id} />
          <Card title="Contents">
            {story.content.kept ? (
              <MessageContents key={id} id={id} />
            ) : isInvitation(story) ? (
              <EmptyState title="An invitation is shown to nobody">
                It has a link that lets its reader in. Users → New password link makes another one.
              </EmptyState>
            ) : (
              <EmptyState title="Its content is no longer kept">
                Contents are removed some days after a message is final; Settings → Retention says how many.
                The record stays longer.
              </EmptyState>
            )}
          </Card>
        </div>
        <aside aria-label="Facts" className="min-w-0 space-y-5">
          <Card title="Facts">
            <Facts story={story} />
          </Card>
          <Card title="Why this way">
            <WhyThisWay story={story} />
          </Card>
          <StoryLinks id={id} />
        </aside>
      </div>
    </Page>
  );
}

/** Whether it is a message of the server's own with a link for a password. */
function isInvitation({ record: { source, tags } }: Story): boolean {
  return source === 'report' && tags.includes('invitation');
}

/** A page of a message that is being fetched. */
function StoryOutline() {
  return (
    <div
      role="status"
      aria-label="Loading"
      className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_22rem]"
    >
      <div className="min-w-0 space-y-5">
        <Card title="Recipient">
          <Bars count={1} />
        </Card>
        <Card title="What happened">
          <Bars count={5} />
        </Card>
        <Card title="Contents">
          <Bars count={8} />
        </Card>
      </div>
      <aside className="min-w-0 space-y-5">
        <Card title="Facts">
          <Bars count={9} />
        </Card>
        <Card title="Why this way">
          <Bars count={2} />
        </Card>
      </aside>
    </div>
  );
}

/** More would be a list of their own. */
const MAX_SHOWN = 5;

/** What keeps it, where someone can do something about it. */
export function Waiting({ story }: { readonly story: Story }) {
  const all = story.ways.flatMap(({ waits }) => waits);
  const obstacles = [...new Map(all.map((one) => [JSON.stringify(one), one]))];
  const { open, dialog } = useRestDialog();
  return (
    <>
      {obstacles.length > 0 && <Obstacles of={obstacles} open={open} />}
      {dialog}
    </>
  );
}

type Obstacle = Story['ways'][number]['waits'][number];

function Obstacles({
  of,
  open,
}: {
  readonly of: readonly (readonly [key: string, Obstacle])[];
  readonly open: ComponentProps<typeof RestActs>['open'];
}) {
  return (
    <Banner level="warning" ticks title="It waits for something">
      <ul className="space-y-3">
        {of.slice(0, MAX_SHOWN).map(([key, obstacle]) => (
          <li key={key}>
            {obstacle.resting === null ? (
              <Kept by={obstacle} />
            ) : (
              <RestOf obstacle={obstacle} relay={obstacle.resting} open={open} />
            )}
          </li>
        ))}
        {of.length > MAX_SHOWN && <li>and {of.length - MAX_SHOWN} other things</li>}
      </ul>
    </Banner>
  );
}

/** What keeps it: a button leads to the page that can change that; else the command line can. */
function Kept({ by: { what, until, command } }: { readonly by: Obstacle }) {
  const page = command === null ? null : pageFor(command);
  return (
    <>
      <Said text={what} lines="several" />
      {until !== null && <Until at={until} />}
      {page !== null && (
        <div className="mt-1.5">
          <ButtonLink small {...page.target} label={page.label} />
        </div>
      )}
      {page === null && command !== null && (
        <div className="text-sm">
          On the server: <code className="font-mono break-words select-all">{command}</code>
        </div>
      )}
    </>
  );
}

function Until({ at }: { readonly at: string }) {
  return (
    <>
      {' until '}
      <Time at={at} exact ahead />
    </>
  );
}

/** Why the relay that it waits for rests, and what can be done about that. */
function RestOf({
  obstacle: { what, until },
  relay,
  open,
}: ComponentProps<typeof RestActs> & { readonly obstacle: Obstacle }) {
  const found = useCall('relay', { name: relay }, { topics: ['relays', 'queue'] });
  const rest = found.data?.rest ?? null;
  return (
    <div className="space-y-2">
      <p>
        <Said text={what} lines="several" />
        {/* Those words have the next try. */}
        {rest === null && until !== null && <Until at={until} />}
        {rest !== null && <RestWords rest={rest} waiting={found.data?.waiting ?? 0} />}
      </p>
      <RestActs relay={relay} open={open} />
    </div>
  );
}

/** Which rule chose the relays that each recipient's copy may leave by. */
export function WhyThisWay({ story }: { readonly story: Story }) {
  const ways = sameWays(story.ways);
  if (ways.length === 0) return <p className="text-soft">Its route is unknown.</p>;
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

/** Recipients whose copies take one way. */
interface SameWay {
  readonly rule: string | null;
  readonly group: readonly string[];
  readonly recipients: readonly string[];
}

/** Ways that are alike, each once; the one that most take first. */
export function sameWays(ways: Story['ways']): SameWay[] {
  const found = new Map<string, { rule: string | null; group: readonly string[]; recipients: string[] }>();
  for (const { rule, group, recipient } of ways) {
    const key = JSON.stringify([rule, group]);
    const way = found.get(key) ?? { rule, group, recipients: [] };
    way.recipients.push(recipient);
    found.set(key, way);
  }
  return [...found.values()].sort((one, other) => other.recipients.length - one.recipients.length);
}

/** All that is known of a message, kept up to date; with further attempts when they are asked for. */
export function useStory(id: string) {
  const client = useQueryClient();
  const [isFinal, setFinal] = useState(false);
  const query = useCall('messageStory', { id }, { topics: isFinal ? [] : ['messages', 'queue', 'relays'] });
  const status = query.data?.record.status;
  const known = status === 'delivered' || status === 'failed';
  if (known !== isFinal) setFinal(known);
  // What is final may be retried, or come back: hints that name it are always meant.
  useHints(
    useCallback(
      ({ ids }: Hint) => {
        if (!ids?.includes(id)) return;
        void client.invalidateQueries({ queryKey: ['messageStory', { id }] });
        void client.invalidateQueries({ queryKey: ['messageFeedback', { id }] });
      },
      [client, id],
    ),
  );
  const more = useMoreAttempts(id, query.data);
  const story = useMemo(
    () => query.data && { ...query.data, attempts: [...query.data.attempts, ...more.attempts] },
    [query.data, more.attempts],
  );
  return { query, story, more };
}

/** Attempts behind those that come with the story, fetched page by page once they are asked for. */
function useMoreAttempts(id: string, story: Story | undefined) {
  const own = String(story?.attempts.at(-1)?.number ?? 0);
  const { rows, query, more } = usePages('attempts', {
    request: (cursor: string | null) => ({ id, cursor: cursor ?? own }),
    rows: ({ attempts }) => attempts,
    next: ({ hasMore, nextCursor }) => (hasMore ? (nextCursor ?? null) : null),
    enabled: false,
  });
  return {
    attempts: rows,
    has: (story?.moreAttempts ?? false) && (query.data === undefined || more.has),
    loading: query.isFetching,
    load: more.load,
  };
}
